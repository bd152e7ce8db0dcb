//! The words of a query, as clauses on a field of short texts such as names.

use serde_json::{Value, json};

use super::{Marks, typos, words};

/// The score of a text that has the phrase, all words, the last word as a prefix, or the words with typos. Scores are
/// constant, so that an item keeps its place in the order while other items are written.
const PHRASE: u32 = 8;
const ALL_WORDS: u32 = 4;
const PREFIX: u32 = 2;
const TYPOS: u32 = 1;

/// One to [`MAX_WORDS`](super::MAX_WORDS) words. The last one may be a prefix; typos are tolerated.
#[derive(Clone, Debug, PartialEq)]
pub struct Words(Vec<String>);

impl Words {
    /// Splits a text at spaces. The error is the detail of a fault.
    pub fn parse(text: &str) -> Result<Self, String> {
        words(text).map(Self)
    }

    /// Returns the clause that finds the words in a field and scores their documents.
    pub fn clause(&self, field: &str) -> Value {
        let text = self.0.join(" ");
        json!({ "bool": { "minimum_should_match": 1, "should": [
            scored(PHRASE, json!({ "match_phrase": { field: text } })),
            scored(ALL_WORDS, json!({ "match": { field: { "query": text, "operator": "and" } } })),
            scored(PREFIX, self.words_and_prefix(field)),
            scored(TYPOS, typos(field, &text, "and")),
        ] } })
    }

    /// Returns the `highlight` of a request that marks the words in the whole text of a field.
    pub fn highlight(&self, field: &str, marks: &Marks) -> Value {
        let last = self.0.last().map(String::as_str).unwrap_or_default();
        let query = json!({ "bool": { "should": [typos(field, &self.0.join(" "), "or"), prefix(field, last)] } });
        marks.request(json!({ field: { "number_of_fragments": 0 } }), query)
    }

    /// The last word as a prefix, the words before it with typos.
    fn words_and_prefix(&self, field: &str) -> Value {
        let Some((last, before)) = self.0.split_last() else { return json!({ "match_none": {} }) };
        let before = (!before.is_empty()).then(|| typos(field, &before.join(" "), "and"));
        let all: Vec<Value> = before.into_iter().chain([prefix(field, last)]).collect();
        json!({ "bool": { "must": all } })
    }
}

fn prefix(field: &str, word: &str) -> Value {
    json!({ "match_bool_prefix": { field: { "query": word, "operator": "and" } } })
}

fn scored(points: u32, filter: Value) -> Value {
    json!({ "constant_score": { "filter": filter, "boost": points } })
}
