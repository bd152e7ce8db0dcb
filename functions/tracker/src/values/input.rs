//! A value as a client sends it. A number is read from its literal text, never through a float.

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use utoipa::openapi::schema::{Schema, SchemaType, Type};
use utoipa::openapi::{ObjectBuilder, RefOr};
use utoipa::{PartialSchema, ToSchema};

/// A text or a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    Text(String),
    /// As it was spelt: `1.50`, `1E+125`.
    Number(String),
}

impl Input {
    /// The text, if it is one.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Number(_) => None,
        }
    }

    /// The digits of a number, which may come as text, too.
    pub fn digits(&self) -> &str {
        match self {
            Self::Text(text) | Self::Number(text) => text,
        }
    }
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
            Err(serde::de::Error::custom("expected text or a number"))
        }
    }
}

impl PartialSchema for Input {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(SchemaType::from_iter([Type::String, Type::Number]))
            .description(Some("A value in the form of its attribute's type; a number best as text"))
            .into()
    }
}

impl ToSchema for Input {}

/// The schema of a value that may be null.
#[derive(Clone, Copy, Debug)]
pub struct InputOrNull;

impl PartialSchema for InputOrNull {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(SchemaType::from_iter([Type::String, Type::Number, Type::Null]))
            .description(Some("A value in the form of its attribute's type, or null to clear it"))
            .into()
    }
}

impl ToSchema for InputOrNull {}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn numbers_keep_their_digits() {
        let text = r#"{"a":12345678901234567890.10,"b":"x","c":-1E-130,"d":null}"#;
        let read: BTreeMap<String, Option<Input>> = serde_json::from_str(text).unwrap();
        assert_eq!(read["a"], Some(Input::Number("12345678901234567890.10".to_owned())));
        assert_eq!((&read["b"], &read["d"]), (&Some(Input::from("x")), &None));
        assert_eq!(read["c"], Some(Input::Number("-1E-130".to_owned())));
        assert!(serde_json::from_str::<Input>("true").is_err());
    }
}
