//! Attribute values: how they are built and compared.

use std::cmp::Ordering;
use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;

use crate::ordered;

/// Attributes by name.
pub type Item = HashMap<String, AttributeValue>;

/// Returns a text as an attribute value.
pub fn text(text: impl Into<String>) -> AttributeValue {
    AttributeValue::S(text.into())
}

/// Returns a whole number as an attribute value.
pub fn number(number: impl Into<i128>) -> AttributeValue {
    AttributeValue::N(number.into().to_string())
}

/// Returns a boolean as an attribute value.
pub fn flag(flag: bool) -> AttributeValue {
    AttributeValue::Bool(flag)
}

/// Returns an entry of an attribute that is a map.
pub fn entry<'a>(item: &'a Item, map: &str, entry: &str) -> Option<&'a AttributeValue> {
    item.get(map)?.as_m().ok()?.get(entry)
}

/// Whether two attribute values are equal. Numbers compare as numbers, sets without order.
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

/// Compares two numbers or two texts as DynamoDB does. Returns none for values of other types.
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
    use super::*;

    #[test]
    fn values_are_equal_whatever_their_spelling_and_order() {
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
