//! A value in requests: a text, a number, or an option by its id or label. A number is read from its literal text, never
//! through a float.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use utoipa::openapi::schema::{AdditionalProperties, Schema, SchemaType, Type};
use utoipa::openapi::{ObjectBuilder, RefOr};
use utoipa::{PartialSchema, ToSchema};

/// A text, a number, or an option of a choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    Text(String),
    /// As it was spelt: `1.50`, `1E+125`.
    Number(String),
    /// `{"id": "001"}`
    Id(String),
    /// `{"label": "High"}`
    Label(String),
}

/// An option: exactly one of the two.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedOption {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    label: Option<String>,
}

impl Input {
    /// The text, if it is one.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Number(_) | Self::Id(_) | Self::Label(_) => None,
        }
    }

    /// The digits of a number, which may also be sent as text. An option has none.
    pub fn digits(&self) -> &str {
        match self {
            Self::Text(text) | Self::Number(text) => text,
            Self::Id(_) | Self::Label(_) => "",
        }
    }
}

/// A map without repeated keys: of two values it is unknown which one was meant.
pub fn distinct<'de, D, K, V>(deserializer: D) -> Result<BTreeMap<K, V>, D::Error>
where
    D: Deserializer<'de>,
    K: Deserialize<'de> + Ord + Serialize,
    V: Deserialize<'de>,
{
    struct Distinct<K, V>(PhantomData<(K, V)>);

    impl<'de, K: Deserialize<'de> + Ord + Serialize, V: Deserialize<'de>> Visitor<'de> for Distinct<K, V> {
        type Value = BTreeMap<K, V>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
            let mut map = BTreeMap::new();
            while let Some((key, value)) = access.next_entry::<K, V>()? {
                if map.contains_key(&key) {
                    let name = serde_json::to_string(&key).map_err(A::Error::custom)?;
                    return Err(A::Error::custom(format!("it has the member {name} twice")));
                }
                map.insert(key, value);
            }
            Ok(map)
        }
    }

    deserializer.deserialize_map(Distinct(PhantomData))
}

impl From<&str> for Input {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl<'de> Deserialize<'de> for Input {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        let text = raw.get();
        if text.starts_with('"') {
            serde_json::from_str(text).map(Self::Text).map_err(serde::de::Error::custom)
        } else if text.starts_with(|first: char| first == '-' || first.is_ascii_digit()) {
            Ok(Self::Number(text.to_owned()))
        } else {
            match serde_json::from_str(text) {
                Ok(NamedOption { id: Some(id), label: None }) => Ok(Self::Id(id)),
                Ok(NamedOption { id: None, label: Some(label) }) => Ok(Self::Label(label)),
                _ => Err(serde::de::Error::custom("expected text, a number, or an option as {id} or {label}")),
            }
        }
    }
}

impl PartialSchema for Input {
    fn schema() -> RefOr<Schema> {
        schema(
            &[Type::String, Type::Number, Type::Object],
            "A value of its attribute's type; a number preferably as text, an option by its label or as an object",
        )
    }
}

/// The schema of a value of these JSON types. An object names an option.
fn schema(types: &[Type], description: &str) -> RefOr<Schema> {
    let text = || ObjectBuilder::new().schema_type(Type::String);
    ObjectBuilder::new()
        .schema_type(SchemaType::from_iter(types.iter().cloned()))
        .description(Some(description))
        .property("id", text().pattern(Some("^[0-9]{3}$")))
        .property("label", text())
        .additional_properties(Some(AdditionalProperties::<Schema>::FreeForm(false)))
        .min_properties(Some(1))
        .max_properties(Some(1))
        .into()
}

impl ToSchema for Input {}

/// The schema of a value that may be null.
#[derive(Clone, Copy, Debug)]
pub struct InputOrNull;

impl PartialSchema for InputOrNull {
    fn schema() -> RefOr<Schema> {
        schema(
            &[Type::String, Type::Number, Type::Object, Type::Null],
            "A value of its attribute's type, or null to remove it",
        )
    }
}

impl ToSchema for InputOrNull {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_keeps_its_digits() {
        let text = r#"{"a":12345678901234567890.10,"b":"x","c":-1E-130,"d":null}"#;
        let read: BTreeMap<String, Option<Input>> = serde_json::from_str(text).unwrap();
        assert_eq!(read["a"], Some(Input::Number("12345678901234567890.10".to_owned())));
        assert_eq!((&read["b"], &read["d"]), (&Some(Input::from("x")), &None));
        assert_eq!(read["c"], Some(Input::Number("-1E-130".to_owned())));
        for text in ["true", "[]", "{}", r#"{"id":"001","label":"High"}"#, r#"{"id":1}"#, r#"{"ID":"001"}"#] {
            assert!(serde_json::from_str::<Input>(text).is_err(), "{text}");
        }
        assert_eq!(serde_json::from_str::<Input>(r#"{"id":"001"}"#).unwrap(), Input::Id("001".to_owned()));
    }
}
