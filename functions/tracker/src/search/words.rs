//! The words of a query and what each place of them is worth: constant scores, so that pages hold still while others write.

use serde_json::{Value, json};

use crate::issues::LAST_NUMBER;

/// What places are worth.
const NUMBER: u32 = 16;
const PHRASE: u32 = 8;
const ALL_IN_NAME: u32 = 4;
const BEGINS_IN_NAME: u32 = 2;
const ALL_IN_TEXTS: u32 = 2;
const TYPO: u32 = 1;

/// Text with one to 20 words.
#[derive(Clone, Debug, PartialEq)]
pub struct Words(Vec<String>);

impl Words {
    pub fn parse(text: &str) -> Result<Self, String> {
        web::search::words(text).map(Self)
    }

    /// At least one of these holds. A number is one of an issue where there is a project.
    pub fn clause(&self, in_project: bool) -> Value {
        let (text, last) = (self.0.join(" "), self.0.last().map(String::as_str).unwrap_or_default());
        let number = match self.0.as_slice() {
            [word] if in_project => word.parse::<u64>().ok().filter(|number| *number <= LAST_NUMBER),
            _ => None,
        };
        let mut should = vec![
            worth(PHRASE, json!({ "match_phrase": { "name": text } })),
            worth(ALL_IN_NAME, all("name", &text)),
            worth(BEGINS_IN_NAME, json!({ "match_bool_prefix": { "name": { "query": last, "operator": "and" } } })),
            worth(ALL_IN_TEXTS, all("texts", &text)),
            worth(TYPO, typos("name", &text)),
            worth(TYPO, typos("texts", &text)),
        ];
        should.extend(number.map(|number| worth(NUMBER, json!({ "term": { "number": number } }))));
        json!({ "bool": { "should": should, "minimum_should_match": 1 } })
    }

    /// What is marked.
    pub fn highlighted(&self) -> Value {
        let text = self.0.join(" ");
        let last = self.0.last().map(String::as_str).unwrap_or_default();
        let any =
            |field: &str| json!({ "match": { field: { "query": text, "fuzziness": "AUTO:3,6", "prefix_length": 1 } } });
        let begins = json!({ "match_bool_prefix": { "name": { "query": last, "operator": "and" } } });
        json!({ "bool": { "should": [any("name"), any("texts"), begins] } })
    }
}

fn all(field: &str, text: &str) -> Value {
    json!({ "match": { field: { "query": text, "operator": "and" } } })
}

/// One typo from three letters, two from six; the first letter holds.
fn typos(field: &str, text: &str) -> Value {
    json!({ "match": { field: {
        "query": text,
        "operator": "and",
        "fuzziness": "AUTO:3,6",
        "prefix_length": 1,
        "fuzzy_rewrite": "constant_score",
    } } })
}

fn worth(points: u32, filter: Value) -> Value {
    json!({ "constant_score": { "filter": filter, "boost": points } })
}
