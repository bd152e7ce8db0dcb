//! Items as DynamoDB holds them, and their way from and to a system's own types.

use std::cmp::Ordering;
use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::Error;
use crate::schema::{EXPIRES, Table};
use crate::{Key, Rev, ordered, rev};

/// Attributes by name.
pub type Item = HashMap<String, AttributeValue>;

/// An item as it was read, from its table or from an index of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    pub key: Key,
    /// Absent where the attribute is missing or no valid revision, and in what an index without it returns.
    pub rev: Option<Rev>,
    /// All attributes that were read, keys and revision among them.
    pub item: Item,
}

impl Stored {
    pub(crate) fn new(table: &Table, item: Item) -> Result<Self, Error> {
        let key = key(table, &item)
            .ok_or_else(|| Error::Misfit(format!("an item of table `{}` without its key attributes", table.name)))?;
        Ok(Self { key, rev: rev(&item), item })
    }

    /// The item as a type of the system.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, Error> {
        from_item(self.item.clone())
    }
}

/// A value as an item. What serialises as null at the top level is left out: an absent attribute has one form, and an
/// index key must never be there without a value.
pub fn to_item<T: Serialize>(value: &T) -> Result<Item, Error> {
    let mut item: Item =
        serde_dynamo::aws_sdk_dynamodb_1::to_item(value).map_err(|error| Error::Misfit(error.to_string()))?;
    item.retain(|_, attribute| !attribute.is_null());
    Ok(item)
}

pub fn from_item<T: DeserializeOwned>(item: Item) -> Result<T, Error> {
    serde_dynamo::aws_sdk_dynamodb_1::from_item(item).map_err(|error| Error::Misfit(error.to_string()))
}

pub fn text(text: impl Into<String>) -> AttributeValue {
    AttributeValue::S(text.into())
}

pub fn number(number: impl Into<i128>) -> AttributeValue {
    AttributeValue::N(number.into().to_string())
}

pub fn flag(flag: bool) -> AttributeValue {
    AttributeValue::Bool(flag)
}

/// The key attributes of an item.
pub fn key(table: &Table, item: &Item) -> Option<Key> {
    let attribute = |name: &str| item.get(name)?.as_s().ok().cloned();
    let sk = match table.sk {
        Some(name) => Some(attribute(name)?),
        None => None,
    };
    Some(Key { pk: attribute(table.pk)?, sk })
}

/// The key as attributes.
pub fn key_item(table: &Table, key: &Key) -> Item {
    let pk = (table.pk.to_owned(), text(&key.pk));
    let sk = table.sk.zip(key.sk.as_ref()).map(|(name, sk)| (name.to_owned(), text(sk)));
    [pk].into_iter().chain(sk).collect()
}

/// The revision of an item, if it carries a valid one.
pub fn rev(item: &Item) -> Option<Rev> {
    item.get(rev::ATTRIBUTE)?.as_n().ok().and_then(|number| Rev::parse(number))
}

/// Whether an item's time is over, though DynamoDB may take days to remove it.
pub fn expired(item: &Item, seconds: i64) -> bool {
    let expires = item.get(EXPIRES).and_then(|attribute| attribute.as_n().ok());
    expires.and_then(|number| number.parse::<i64>().ok()).is_some_and(|expires| expires <= seconds)
}

/// Whether two attributes hold the same value: numbers compare as numbers, sets without order.
pub fn same(one: &AttributeValue, other: &AttributeValue) -> bool {
    use AttributeValue::{Bs, L, M, N, Ns, Ss};
    match (one, other) {
        (N(one), N(other)) => same_number(one, other),
        (L(one), L(other)) => one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other)),
        (M(one), M(other)) => same_item(one, other),
        (Ss(one), Ss(other)) => one.len() == other.len() && one.iter().all(|member| other.contains(member)),
        (Bs(one), Bs(other)) => one.len() == other.len() && one.iter().all(|member| other.contains(member)),
        (Ns(one), Ns(other)) => {
            one.len() == other.len() && one.iter().all(|one| other.iter().any(|other| same_number(one, other)))
        }
        _ => one == other,
    }
}

/// Which of two numbers or of two texts comes first, as DynamoDB's comparisons have it; none for values of other types.
pub fn order(one: &AttributeValue, other: &AttributeValue) -> Option<Ordering> {
    use AttributeValue::{N, S};
    match (one, other) {
        (N(one), N(other)) => Some(ordered::number(one)?.cmp(&ordered::number(other)?)),
        (S(one), S(other)) => Some(one.as_bytes().cmp(other.as_bytes())),
        _ => None,
    }
}

/// Whether two items have the same attributes with the same values.
pub fn same_item(one: &Item, other: &Item) -> bool {
    one.len() == other.len() && one.iter().all(|(name, value)| other.get(name).is_some_and(|other| same(value, other)))
}

fn same_number(one: &str, other: &str) -> bool {
    one == other || ordered::number(one).is_some_and(|one| Some(one) == ordered::number(other))
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[test]
    fn nulls_are_left_out_and_come_back_as_none() {
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
    fn an_item_expires_with_the_second() {
        let item = |expires| HashMap::from([(EXPIRES.to_owned(), expires)]);
        assert!(expired(&item(number(10)), 10));
        assert!(!expired(&item(number(11)), 10));
        assert!(!expired(&item(text("10")), 10));
        assert!(!expired(&HashMap::new(), 10));
    }

    #[test]
    fn spelling_and_order_make_no_difference() {
        let set = |members: &[&str]| AttributeValue::Ns(members.iter().map(|&member| member.to_owned()).collect());
        let list = |number: &str| AttributeValue::L(vec![AttributeValue::N(number.to_owned())]);
        assert!(same(&list("1.50"), &list("1.5")));
        assert!(same(&set(&["1", "2"]), &set(&["2.0", "1"])));
        assert!(!same(&list("1"), &list("2")));
        assert!(!same(&number(1), &text("1")));
        let map = |name: &str| AttributeValue::M(HashMap::from([(name.to_owned(), number(1))]));
        assert!(!same(&map("a"), &map("b")));
    }
}
