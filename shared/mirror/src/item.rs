//! An item as read from the table, in the DynamoDB JSON of stream records.

use std::collections::HashMap;

use aws_sdk_dynamodb::primitives::Blob;
use aws_sdk_dynamodb::types::AttributeValue;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use table::schema::Table;
use table::{Key, Rev, rev};

use crate::fold::Presence;
use crate::image::{Image, NotAnItem, Unfit};
use crate::json::{Reader, write_member, write_text};

/// An item as JSON text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item(String);

impl Item {
    /// Creates an item from DynamoDB JSON.
    pub const fn new(json: String) -> Self {
        Self(json)
    }

    /// Creates an item from the attributes that the SDK returned. They are written in the order of their names.
    pub fn from_attributes(attributes: &HashMap<String, AttributeValue>) -> Self {
        let mut json = String::with_capacity(1024);
        write_map(&mut json, attributes);
        Self(json)
    }

    pub fn image(&self) -> Result<Image<'_>, NotAnItem> {
        Image::parse(&self.0)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn into_string(self) -> String {
        self.0
    }
}

impl Image<'_> {
    pub fn key(&self, table: &Table) -> Result<Key, Unfit> {
        let sk = table.sk.map(|sk| self.text(sk)).transpose()?;
        Ok(Key { pk: self.text(table.pk)?.into_owned(), sk: sk.map(Into::into) })
    }
}

/// Returns the presence of an existing item by the value of its `rev`, in DynamoDB JSON.
pub(crate) fn presence(rev: Option<&str>) -> Presence {
    rev.and_then(parse_rev).map_or(Presence::Unrevised, Presence::At)
}

/// Returns the value of `rev` in an item.
pub(crate) fn rev_value(item: &str) -> Option<&str> {
    Image::parse(item).ok()?.value(rev::ATTRIBUTE)
}

/// Parses an attribute value from DynamoDB JSON.
pub(crate) fn attribute_value(json: &str) -> Option<AttributeValue> {
    from_json(&serde_json::from_str(json).ok()?)
}

fn from_json(value: &Value) -> Option<AttributeValue> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let texts = |value: &Value| value.as_array()?.iter().map(text).collect::<Option<Vec<_>>>();
    let binary = |value: &Value| STANDARD.decode(value.as_str()?).ok().map(Blob::new);
    let mut descriptors = value.as_object()?.iter();
    let (descriptor, value) = descriptors.next()?;
    Some(match descriptor.as_str() {
        "S" => AttributeValue::S(text(value)?),
        "N" => AttributeValue::N(text(value)?),
        "B" => AttributeValue::B(binary(value)?),
        "BOOL" => AttributeValue::Bool(value.as_bool()?),
        "NULL" => AttributeValue::Null(true),
        "SS" => AttributeValue::Ss(texts(value)?),
        "NS" => AttributeValue::Ns(texts(value)?),
        "BS" => AttributeValue::Bs(value.as_array()?.iter().map(binary).collect::<Option<_>>()?),
        "L" => AttributeValue::L(value.as_array()?.iter().map(from_json).collect::<Option<_>>()?),
        "M" => {
            let members = value.as_object()?.iter().map(|(name, value)| Some((name.clone(), from_json(value)?)));
            AttributeValue::M(members.collect::<Option<_>>()?)
        }
        _ => return None,
    })
}

fn parse_rev(value: &str) -> Option<Rev> {
    let mut rev = None;
    let mut reader = Reader::new(value);
    reader
        .object(|reader, name| {
            match &*name {
                "N" => rev = Rev::parse(&reader.string()?),
                _ => drop(reader.value()?),
            }
            Ok(())
        })
        .ok()?;
    rev
}

fn write_map(json: &mut String, attributes: &HashMap<String, AttributeValue>) {
    let mut names: Vec<_> = attributes.iter().collect();
    names.sort_unstable_by_key(|(name, _)| *name);
    json.push('{');
    for (name, value) in names {
        write_member(json, name);
        write_value(json, value);
    }
    json.push('}');
}

fn write_value(json: &mut String, value: &AttributeValue) {
    json.push('{');
    match value {
        AttributeValue::S(text) => write_descriptor(json, "S", |json| write_text(json, text)),
        AttributeValue::N(number) => write_descriptor(json, "N", |json| write_text(json, number)),
        AttributeValue::B(bytes) => {
            write_descriptor(json, "B", |json| write_text(json, &STANDARD.encode(bytes.as_ref())));
        }
        AttributeValue::Bool(flag) => {
            write_descriptor(json, "BOOL", |json| json.push_str(if *flag { "true" } else { "false" }))
        }
        AttributeValue::Ss(texts) => {
            write_descriptor(json, "SS", |json| write_list(json, texts, |json, text| write_text(json, text)))
        }
        AttributeValue::Ns(numbers) => {
            write_descriptor(json, "NS", |json| write_list(json, numbers, |json, number| write_text(json, number)));
        }
        AttributeValue::Bs(all) => write_descriptor(json, "BS", |json| {
            write_list(json, all, |json, bytes| write_text(json, &STANDARD.encode(bytes.as_ref())));
        }),
        AttributeValue::L(values) => write_descriptor(json, "L", |json| write_list(json, values, write_value)),
        AttributeValue::M(attributes) => write_descriptor(json, "M", |json| write_map(json, attributes)),
        // NULL, and types that DynamoDB may add later. No accessor accepts them, so the item goes to quarantine.
        _ => write_descriptor(json, "NULL", |json| json.push_str("true")),
    }
    json.push('}');
}

fn write_descriptor(json: &mut String, name: &str, write: impl FnOnce(&mut String)) {
    write_member(json, name);
    write(json);
}

fn write_list<T>(json: &mut String, values: &[T], write: impl Fn(&mut String, &T)) {
    json.push('[');
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            json.push(',');
        }
        write(json, value);
    }
    json.push(']');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn item_from_attributes_equals_its_json_text() {
        let json = r#"{"a":{"S":"x\"y"},"b":{"N":"1.50"},"c":{"B":"AAE="},"d":{"BOOL":false},"e":{"NULL":true},"f":{"SS":["p","q"]},"g":{"NS":["1"]},"h":{"BS":["AA=="]},"i":{"L":[{"S":""},{"L":[]}]},"j":{"M":{"k":{"N":"2"},"l":{"M":{}}}}}"#;
        let Some(AttributeValue::M(attributes)) = attribute_value(&format!(r#"{{"M":{json}}}"#)) else {
            panic!("not a map");
        };
        assert_eq!(Item::from_attributes(&attributes).as_str(), json);
    }

    #[test]
    fn invalid_revision_is_unrevised() {
        for value in
            [r#"{"N":"-1"}"#, r#"{"N":"3"}"#, r#"{"N":"3.5"}"#, r#"{"S":"4"}"#, r#"{"N":"99999999999999999999"}"#, "{}"]
        {
            assert_eq!(presence(Some(value)), Presence::Unrevised, "{value}");
            assert!(value == "{}" || attribute_value(value).is_some(), "{value}");
        }
        assert_eq!(presence(None), Presence::Unrevised);
        assert_eq!(presence(Some(r#"{"N":"4"}"#)).number(), Some(4));
        assert_eq!(rev_value(r#"{"pk":{"S":"a"},"rev":{"N":"4"}}"#), Some(r#"{"N":"4"}"#));
    }
}
