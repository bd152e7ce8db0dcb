//! What OpenSearch is asked.

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use web::search::{COUNTED, Marks};

use super::form::Question;
use super::scope::Scope;

/// The body of `POST /{alias}/_search`.
#[derive(Debug, Serialize)]
pub struct Asked<'a> {
    query: Value,
    size: usize,
    sort: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    search_after: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Value::is_null")]
    post_filter: Value,
    #[serde(skip_serializing_if = "Value::is_null")]
    aggs: Value,
    #[serde(skip_serializing_if = "Value::is_null")]
    highlight: Value,
    track_total_hits: u32,
    _source: bool,
    docvalue_fields: [&'static str; 2],
    timeout: &'static str,
}

/// The most values of a facet.
const VALUES: u32 = 50;

/// Within the function's own time, so that a slow search is told as such.
const TIMEOUT: &str = "8s";

/// What a name is worth that has the phrase, all words, the last word as a beginning, or nearly these. Constant, so that
/// an item keeps its place among pages while others are written.
const PHRASE: u32 = 8;
const ALL_WORDS: u32 = 4;
const BEGINNING: u32 = 2;
const TYPOS: u32 = 1;

impl<'a> Asked<'a> {
    /// One page: the hits after these sort values, and one more that tells whether there is another page. Values are
    /// counted for the first page only, under every filter but their own.
    pub fn new(question: &Question, scope: &Scope, after: Option<&'a RawValue>, marks: &Marks) -> Self {
        let (entity, counts) = (question.entity, after.is_none());
        let mut filters = vec![json!({ "term": { "entity": entity.as_str() } })];
        filters.extend(scope.filter());
        let chosen = question.chosen.map(|value| json!({ "term": { entity.counted(): value } }));
        let post_filter = if counts { chosen.unwrap_or_default() } else { filters_with(&mut filters, chosen) };
        let words = question.words.as_ref().map(|words| Words { field: entity.named(), words });
        let counted = json!({ "terms": { "field": entity.counted(), "size": VALUES, "order": [{ "_count": "desc" }, { "_key": "asc" }] } });
        Self {
            query: json!({ "bool": {
                "must": words.iter().map(Words::clause).collect::<Vec<_>>(),
                "filter": filters,
                "must_not": [{ "term": { "deleted": true } }],
            } }),
            size: question.limit + 1,
            sort: json!([{ "_score": "desc" }, { "pk": "desc" }, { "sk": "desc" }]),
            search_after: after,
            post_filter,
            aggs: if counts {
                json!({ entity.counted(): { "filter": { "match_all": {} }, "aggs": { "values": counted } } })
            } else {
                Value::Null
            },
            highlight: words.map(|words| words.highlighted(marks)).unwrap_or_default(),
            track_total_hits: COUNTED,
            _source: false,
            docvalue_fields: ["pk", "sk"],
            timeout: TIMEOUT,
        }
    }
}

/// Past the first page nothing is counted, so what is chosen is a filter like others.
fn filters_with(filters: &mut Vec<Value>, chosen: Option<Value>) -> Value {
    filters.extend(chosen);
    Value::Null
}

/// The words of a query in the one field that has names.
struct Words<'w> {
    field: &'static str,
    words: &'w [String],
}

impl Words<'_> {
    fn clause(&self) -> Value {
        let (field, text) = (self.field, self.words.join(" "));
        json!({ "bool": { "minimum_should_match": 1, "should": [
            worth(PHRASE, json!({ "match_phrase": { field: text } })),
            worth(ALL_WORDS, json!({ "match": { field: { "query": text, "operator": "and" } } })),
            worth(BEGINNING, self.beginning()),
            worth(TYPOS, self.typos(&text, "and")),
        ] } })
    }

    /// The last word may be a beginning, the words before it may have typos.
    fn beginning(&self) -> Value {
        let Some((last, before)) = self.words.split_last() else { return json!({ "match_none": {} }) };
        let before = (!before.is_empty()).then(|| self.typos(&before.join(" "), "and"));
        let all: Vec<Value> = before.into_iter().chain([self.prefix(last)]).collect();
        json!({ "bool": { "must": all } })
    }

    fn prefix(&self, word: &str) -> Value {
        json!({ "match_bool_prefix": { self.field: { "query": word, "operator": "and" } } })
    }

    fn highlighted(&self, marks: &Marks) -> Value {
        let last = self.words.last().map(String::as_str).unwrap_or_default();
        let query = json!({ "bool": { "should": [self.typos(&self.words.join(" "), "or"), self.prefix(last)] } });
        marks.request(json!({ self.field: { "number_of_fragments": 0 } }), query)
    }

    /// Every term within the distance counts: the nearest 50, as is usual, would be others as soon as somebody writes.
    fn typos(&self, text: &str, operator: &str) -> Value {
        json!({ "match": { self.field: {
            "query": text,
            "operator": operator,
            "fuzziness": "AUTO:3,6",
            "prefix_length": 1,
            "fuzzy_rewrite": "constant_score",
        } } })
    }
}

fn worth(points: u32, filter: Value) -> Value {
    json!({ "constant_score": { "filter": filter, "boost": points } })
}
