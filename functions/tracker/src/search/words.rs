//! The words of a query, with constant scores, so that an item keeps its place in the order while other items are written.

use serde_json::{Value, json};
use web::search::typos;

use crate::issues::MAX_NUMBER;

/// The score of a document that has the number, the phrase, all words, the last word as a prefix, or the words with typos.
const NUMBER: u32 = 16;
const PHRASE: u32 = 8;
const ALL_IN_NAME: u32 = 4;
const PREFIX_IN_NAME: u32 = 2;
const ALL_IN_TEXTS: u32 = 2;
const TYPO: u32 = 1;

/// Text with one to 20 words.
#[derive(Clone, Debug, PartialEq)]
pub struct Words(Vec<String>);

impl Words {
    pub fn parse(text: &str) -> Result<Self, String> {
        web::search::words(text).map(Self)
    }

    /// The query for the words. Within a project a single number also matches the issue with this number.
    pub fn clause(&self, in_project: bool) -> Value {
        let (text, last) = (self.0.join(" "), self.last());
        let number = match self.0.as_slice() {
            [word] if in_project => word.parse::<u64>().ok().filter(|number| *number <= MAX_NUMBER),
            _ => None,
        };
        let mut should = vec![
            scored(PHRASE, json!({ "match_phrase": { "name": text } })),
            scored(ALL_IN_NAME, all("name", &text)),
            scored(PREFIX_IN_NAME, json!({ "match_bool_prefix": { "name": { "query": last, "operator": "and" } } })),
            scored(ALL_IN_TEXTS, all("texts", &text)),
            scored(TYPO, typos("name", &text, "and")),
            scored(TYPO, typos("texts", &text, "and")),
        ];
        should.extend(number.map(|number| scored(NUMBER, json!({ "term": { "number": number } }))));
        json!({ "bool": { "should": should, "minimum_should_match": 1 } })
    }

    /// The last word, which may be a prefix.
    fn last(&self) -> &str {
        self.0.last().map_or_else(
            || {
                table::never!("a query without words");
                ""
            },
            String::as_str,
        )
    }

    /// The query whose matches are highlighted.
    pub fn highlighted(&self) -> Value {
        let (text, last) = (self.0.join(" "), self.last());
        let any =
            |field: &str| json!({ "match": { field: { "query": text, "fuzziness": "AUTO:3,6", "prefix_length": 1 } } });
        let prefix = json!({ "match_bool_prefix": { "name": { "query": last, "operator": "and" } } });
        json!({ "bool": { "should": [any("name"), any("texts"), prefix] } })
    }
}

fn all(field: &str, text: &str) -> Value {
    json!({ "match": { field: { "query": text, "operator": "and" } } })
}

fn scored(points: u32, filter: Value) -> Value {
    json!({ "constant_score": { "filter": filter, "boost": points } })
}
