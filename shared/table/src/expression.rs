//! DynamoDB's expressions. Every name and value stands behind a placeholder.

use std::cmp::Ordering;
use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;

use crate::attribute;
use crate::item::{self, Item};
use crate::schema::{EXPIRES, Table};

/// A condition on the attributes of an existing item, for an action to succeed.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// The attribute is present and has this value.
    Equals(&'static str, AttributeValue),
    /// The attribute is absent or has another value.
    Differs(&'static str, AttributeValue),
    Present(&'static str),
    Absent(&'static str),
    /// The attribute is present, has this value's type and is greater. Numbers compare as numbers, texts by their
    /// bytes.
    Above(&'static str, AttributeValue),
    /// The attribute is present, has this value's type and is not greater.
    AtMost(&'static str, AttributeValue),
    /// [`Condition::Equals`] of an attribute whose name contains an id.
    NamedEquals(String, AttributeValue),
    /// [`Condition::Present`] of an attribute whose name contains an id.
    NamedPresent(String),
    /// The entry of a map is present, has this value's type and is greater.
    EntryAbove(&'static str, String, AttributeValue),
    /// The entry of a map is present, has this value's type and is not greater.
    EntryAtMost(&'static str, String, AttributeValue),
    /// The entry of a map is absent.
    EntryAbsent(&'static str, String),
    /// The map is present and has fewer entries.
    FewerEntries(&'static str, usize),
}

impl Condition {
    /// Whether the condition holds for an item that was read.
    pub fn holds(&self, item: &Item) -> bool {
        let equals = |name: &str, value| item.get(name).is_some_and(|found| item::same(found, value));
        let order = |name: &str, entry: &str, value| {
            attribute::entry(item, name, entry).and_then(|found| item::order(found, value))
        };
        match self {
            Self::Equals(name, value) => equals(name, value),
            Self::NamedEquals(name, value) => equals(name, value),
            Self::Differs(name, value) => !equals(name, value),
            Self::Present(name) => item.contains_key(*name),
            Self::NamedPresent(name) => item.contains_key(name),
            Self::Absent(name) => !item.contains_key(*name),
            Self::Above(name, value) => {
                item.get(*name).and_then(|found| item::order(found, value)).is_some_and(Ordering::is_gt)
            }
            Self::AtMost(name, value) => {
                item.get(*name).and_then(|found| item::order(found, value)).is_some_and(Ordering::is_le)
            }
            Self::EntryAbove(name, entry, value) => order(name, entry, value).is_some_and(Ordering::is_gt),
            Self::EntryAtMost(name, entry, value) => order(name, entry, value).is_some_and(Ordering::is_le),
            Self::EntryAbsent(name, entry) => attribute::entry(item, name, entry).is_none(),
            Self::FewerEntries(name, size) => {
                item.get(*name).and_then(|found| found.as_m().ok()).is_some_and(|map| map.len() < *size)
            }
        }
    }

    pub(crate) fn express(&self, placeholders: &mut Placeholders) -> String {
        let name = match self {
            Self::EntryAbove(map, entry, _) | Self::EntryAtMost(map, entry, _) | Self::EntryAbsent(map, entry) => {
                placeholders.entry(map, entry)
            }
            _ => placeholders.name(self.name()),
        };
        match self {
            Self::Equals(_, value) | Self::NamedEquals(_, value) => {
                format!("{name} = {}", placeholders.value(value.clone()))
            }
            Self::Differs(_, value) => {
                format!("(attribute_not_exists({name}) OR {name} <> {})", placeholders.value(value.clone()))
            }
            Self::Present(_) | Self::NamedPresent(_) => format!("attribute_exists({name})"),
            Self::Absent(_) | Self::EntryAbsent(..) => format!("attribute_not_exists({name})"),
            Self::Above(_, value) | Self::EntryAbove(.., value) => {
                format!("{name} > {}", placeholders.value(value.clone()))
            }
            Self::AtMost(_, value) | Self::EntryAtMost(.., value) => {
                format!("{name} <= {}", placeholders.value(value.clone()))
            }
            Self::FewerEntries(_, size) => {
                format!(
                    "size({name}) < {}",
                    placeholders.value(item::number(i128::try_from(*size).unwrap_or(i128::MAX)))
                )
            }
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::Equals(name, _)
            | Self::Differs(name, _)
            | Self::Present(name)
            | Self::Absent(name)
            | Self::Above(name, _)
            | Self::AtMost(name, _)
            | Self::EntryAbove(name, ..)
            | Self::EntryAtMost(name, ..)
            | Self::EntryAbsent(name, _)
            | Self::FewerEntries(name, _) => name,
            Self::NamedEquals(name, _) | Self::NamedPresent(name) => name,
        }
    }
}

/// Returns the condition that an unexpired item exists.
pub(crate) fn exists(table: &Table, seconds: i64, placeholders: &mut Placeholders) -> String {
    let (pk, expires) = (placeholders.name(table.pk), placeholders.name(EXPIRES));
    let now = placeholders.value(item::number(seconds));
    format!("attribute_exists({pk}) AND (attribute_not_exists({expires}) OR {expires} > {now})")
}

/// Returns the condition that no unexpired item exists.
pub(crate) fn is_absent(table: &Table, seconds: i64, placeholders: &mut Placeholders) -> String {
    let (pk, expires) = (placeholders.name(table.pk), placeholders.name(EXPIRES));
    format!("(attribute_not_exists({pk}) OR {expires} <= {})", placeholders.value(item::number(seconds)))
}

/// The names and values of one request's expressions.
#[derive(Debug, Default)]
pub(crate) struct Placeholders {
    names: HashMap<String, String>,
    values: Item,
}

impl Placeholders {
    pub fn name(&mut self, attribute: &str) -> String {
        let placeholder = format!("#n{}", self.names.len());
        self.names.insert(placeholder.clone(), attribute.to_owned());
        placeholder
    }

    /// Returns the path of an entry of a map.
    pub fn entry(&mut self, map: &str, entry: &str) -> String {
        format!("{}.{}", self.name(map), self.name(entry))
    }

    pub fn value(&mut self, value: AttributeValue) -> String {
        let placeholder = format!(":v{}", self.values.len());
        self.values.insert(placeholder.clone(), value);
        placeholder
    }

    /// Returns names and values as a request takes them. DynamoDB refuses an empty map.
    pub fn into_parts(self) -> (Option<HashMap<String, String>>, Option<Item>) {
        (Some(self.names).filter(|names| !names.is_empty()), Some(self.values).filter(|values| !values.is_empty()))
    }
}
