//! Items as DynamoDB stores them, and their conversion from and to a system's own types.

use aws_sdk_dynamodb::types::AttributeValue;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::Error;
use crate::schema::{EXPIRES, Table};
use crate::{Key, Rev, rev};

pub use crate::attribute::{Item, flag, number, order, same, same_item, text};

/// An item as it was read from its table, or from an index.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    pub key: Key,
    /// Absent if the attribute is missing or invalid, or not projected into the index.
    pub rev: Option<Rev>,
    /// All attributes that were read, including keys and revision.
    pub item: Item,
}

impl Stored {
    pub(crate) fn new(table: &Table, item: Item) -> Result<Self, Error> {
        let key = key(table, &item)
            .ok_or_else(|| Error::Misfit(format!("an item of table `{}` lacks its key attributes", table.name)))?;
        Ok(Self { key, rev: rev(&item), item })
    }

    /// Deserialises the item as a type of the system.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, Error> {
        from_item(self.item.clone())
    }
}

/// Serialises a value as an item. Top-level nulls are left out, since an absent attribute has one form and an index key
/// must not be null.
pub fn to_item<T: Serialize>(value: &T) -> Result<Item, Error> {
    let mut item: Item =
        serde_dynamo::aws_sdk_dynamodb_1::to_item(value).map_err(|error| Error::Misfit(error.to_string()))?;
    item.retain(|_, attribute| !attribute.is_null());
    Ok(item)
}

/// Deserialises an item as a type of the system.
pub fn from_item<T: DeserializeOwned>(item: Item) -> Result<T, Error> {
    serde_dynamo::aws_sdk_dynamodb_1::from_item(item).map_err(|error| Error::Misfit(error.to_string()))
}

/// Returns the bytes of an item in the response of a function, if it is shown as it is: its JSON, escaped as the text that
/// the JSON is there.
pub fn response_bytes(item: &Item) -> usize {
    2 + item.iter().map(|(name, value)| text_bytes(name) + 1 + value_bytes(value) + 1).sum::<usize>()
}

fn value_bytes(value: &AttributeValue) -> usize {
    match value {
        AttributeValue::S(text) => text_bytes(text),
        AttributeValue::N(number) => number.len(),
        AttributeValue::B(bytes) => bytes.as_ref().len(),
        AttributeValue::Ss(texts) => 2 + texts.iter().map(|text| text_bytes(text) + 1).sum::<usize>(),
        AttributeValue::Ns(numbers) => 2 + numbers.iter().map(|number| number.len() + 1).sum::<usize>(),
        AttributeValue::Bs(all) => 2 + all.iter().map(|bytes| bytes.as_ref().len() + 1).sum::<usize>(),
        AttributeValue::L(values) => 2 + values.iter().map(|value| value_bytes(value) + 1).sum::<usize>(),
        AttributeValue::M(members) => response_bytes(members),
        _ => "false".len(),
    }
}

/// Each character is escaped twice, and so are the quotes.
fn text_bytes(text: &str) -> usize {
    let escaped = |byte: u8| match byte {
        b'"' | b'\\' => r#"\\\""#.len(),
        b'\n' | b'\r' | b'\t' | b'\x08' | b'\x0c' => r"\\n".len(),
        ..b' ' => r"\\u0000".len(),
        _ => 1,
    };
    r#"\"\""#.len() + text.bytes().map(escaped).sum::<usize>()
}

/// Returns the key of an item, if it has its table's key attributes.
pub fn key(table: &Table, item: &Item) -> Option<Key> {
    let attribute = |name: &str| item.get(name)?.as_s().ok().cloned();
    let sk = match table.sk {
        Some(name) => Some(attribute(name)?),
        None => None,
    };
    Some(Key { pk: attribute(table.pk)?, sk })
}

/// Returns a key as attributes.
pub fn key_item(table: &Table, key: &Key) -> Item {
    let pk = (table.pk.to_owned(), text(&key.pk));
    let sk = table.sk.zip(key.sk.as_ref()).map(|(name, sk)| (name.to_owned(), text(sk)));
    [pk].into_iter().chain(sk).collect()
}

/// Returns the revision of an item, if it has a valid one.
pub fn rev(item: &Item) -> Option<Rev> {
    item.get(rev::ATTRIBUTE)?.as_n().ok().and_then(|number| Rev::parse(number))
}

/// Whether an item has expired. DynamoDB may take days to delete it.
pub fn expired(item: &Item, seconds: i64) -> bool {
    let expires = item.get(EXPIRES).and_then(|attribute| attribute.as_n().ok());
    expires.and_then(|number| number.parse::<i64>().ok()).is_some_and(|expires| expires <= seconds)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use serde::Deserialize;

    use super::*;

    #[test]
    fn null_is_left_out_and_read_back_as_none() {
        #[derive(Debug, Deserialize, PartialEq, Serialize)]
        struct Book {
            title: String,
            shelf: Option<u8>,
        }
        let book = Book { title: "Fern".to_owned(), shelf: None };
        let item = to_item(&book).unwrap();
        assert_eq!(item, HashMap::from([("title".to_owned(), text("Fern"))]));
        assert_eq!(from_item::<Book>(item).unwrap(), book);
        assert!(matches!(from_item::<Book>(HashMap::new()), Err(Error::Misfit(_))));
    }

    #[test]
    fn bytes_in_a_response_are_those_of_the_json_as_a_text() {
        let value = serde_json::json!({
            "text": "a \"quote\", a \\, a line\n\tand \u{1} Größe 😀", "number": 12.5, "yes": true, "list": ["a", 1, {}],
            "object": { "name": "\"" },
        });
        let escaped = serde_json::to_string(&value.to_string()).unwrap().len() - 2;
        let bytes = response_bytes(&to_item(&value).unwrap());
        // The last member has no comma after it, and `true` is shorter than `false`.
        assert!((escaped..=escaped + 5).contains(&bytes), "{bytes} for {escaped}");
    }

    #[test]
    fn item_expires_in_the_second_of_its_attribute() {
        let item = |expires| HashMap::from([(EXPIRES.to_owned(), expires)]);
        assert!(expired(&item(number(10)), 10));
        assert!(!expired(&item(number(11)), 10));
        assert!(!expired(&item(text("10")), 10));
        assert!(!expired(&HashMap::new(), 10));
    }
}
