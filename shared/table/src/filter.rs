//! Filters of stream records: an event source may pass on only records of items that may have documents.

use serde_json::{Value, json};

use crate::key::Key;
use crate::schema::{Search, Table};

/// A pattern that the keys of one entity match: the literal text before the first part of each template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyPattern {
    pk: Part,
    sk: Option<Part>,
}

/// A pattern of a partition key or a sort key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Whole(&'static str),
    Begins(&'static str),
}

impl Table {
    /// Returns patterns of the keys that may have documents. A record whose key matches none can be dropped.
    pub fn documents(&self) -> Vec<KeyPattern> {
        let entities = self.entities.iter().filter(|entity| entity.search == Search::Document);
        entities.map(|entity| KeyPattern { pk: Part::of(entity.pk), sk: entity.sk.map(Part::of) }).collect()
    }
}

impl KeyPattern {
    pub fn lets_through(&self, key: &Key) -> bool {
        let sort = match (&self.sk, &key.sk) {
            (Some(part), Some(text)) => part.lets_through(text),
            (None, _) => true,
            (Some(_), None) => false,
        };
        self.pk.lets_through(&key.pk) && sort
    }

    /// Returns the pattern as an event filter of Lambda (AWS, "Control which events Lambda sends to your function").
    pub fn filter(&self, table: &Table) -> Value {
        let mut keys = json!({ table.pk: { "S": [self.pk.filter()] } });
        if let (Some(name), Some(part), Some(keys)) = (table.sk, &self.sk, keys.as_object_mut()) {
            keys.insert(name.to_owned(), json!({ "S": [part.filter()] }));
        }
        json!({ "dynamodb": { "Keys": keys } })
    }
}

impl Part {
    fn of(template: &'static str) -> Self {
        match template.split_once('{') {
            Some((begin, _)) => Self::Begins(begin),
            None => Self::Whole(template),
        }
    }

    fn lets_through(self, text: &str) -> bool {
        match self {
            Self::Whole(whole) => text == whole,
            Self::Begins(begin) => text.starts_with(begin),
        }
    }

    fn filter(self) -> Value {
        match self {
            Self::Whole(whole) => json!(whole),
            Self::Begins(begin) => json!({ "prefix": begin }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Entity;

    static HERD: Table = Table {
        name: "herd",
        pk: "pk",
        sk: Some("sk"),
        stream: true,
        indexes: &[],
        entities: &[
            Entity { name: "herd", pk: "herd-{herd}", sk: Some("*"), search: Search::Document },
            Entity { name: "goat", pk: "goat-{goat}", sk: Some("herd-{herd}"), search: Search::Document },
            Entity { name: "bell", pk: "goat-{goat}", sk: Some("bell-{bell}"), search: Search::Never },
        ],
    };

    #[test]
    fn patterns_drop_keys_that_never_have_a_document() {
        let patterns = HERD.documents();
        let passes = |pk: &str, sk: &str| patterns.iter().any(|pattern| pattern.lets_through(&Key::new(pk, sk)));
        assert!(passes("herd-1", "*") && passes("goat-1", "herd-1"));
        assert!(!passes("goat-1", "bell-1") && !passes("herd-1", "goat-1") && !passes("other-1", "*"));
        let filters: Vec<Value> = patterns.iter().map(|pattern| pattern.filter(&HERD)).collect();
        let expected = [
            json!({ "dynamodb": { "Keys": { "pk": { "S": [{ "prefix": "herd-" }] }, "sk": { "S": ["*"] } } } }),
            json!({ "dynamodb": { "Keys": { "pk": { "S": [{ "prefix": "goat-" }] }, "sk": { "S": [{ "prefix": "herd-" }] } } } }),
        ];
        assert_eq!(filters, expected);
    }
}
