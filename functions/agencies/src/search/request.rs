//! The request to OpenSearch.

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use web::search::{MAX_COUNT, Marks};

use super::query::ParsedQuery;
use super::scope::Scope;

/// The body of `POST /{alias}/_search`.
#[derive(Debug, Serialize)]
pub struct SearchRequest<'a> {
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

/// Values of a facet.
const MAX_VALUES: u32 = 50;

/// Below the function's timeout, so that a slow search is reported as one.
const TIMEOUT: &str = "8s";

/// The score of a name that has the phrase, all words, the last word as a prefix, or the words with typos. Scores are
/// constant, so that an item keeps its place in the order while other items are written.
const PHRASE: u32 = 8;
const ALL_WORDS: u32 = 4;
const PREFIX: u32 = 2;
const TYPOS: u32 = 1;

impl<'a> SearchRequest<'a> {
    /// A page: the hits after these sort values, and one more that shows whether there is another page. The first page
    /// also has the facet, counted under every filter except its own.
    pub fn new(query: &ParsedQuery, scope: &Scope, after: Option<&'a RawValue>, marks: &Marks) -> Self {
        let (entity, counts) = (query.entity, after.is_none());
        let mut filters = vec![json!({ "term": { "entity": entity.as_str() } })];
        filters.extend(scope.filter());
        let chosen = query.chosen.map(|value| json!({ "term": { entity.facet_field(): value } }));
        let post_filter = if counts { chosen.unwrap_or_default() } else { filters_with(&mut filters, chosen) };
        let words = query.words.as_ref().map(|words| Words { field: entity.name_field(), words });
        let counted = json!({ "terms": { "field": entity.facet_field(), "size": MAX_VALUES, "order": [{ "_count": "desc" }, { "_key": "asc" }] } });
        Self {
            query: json!({ "bool": {
                "must": words.iter().map(Words::clause).collect::<Vec<_>>(),
                "filter": filters,
                "must_not": [{ "term": { "deleted": true } }],
            } }),
            size: query.limit + 1,
            sort: json!([{ "_score": "desc" }, { "pk": "desc" }, { "sk": "desc" }]),
            search_after: after,
            post_filter,
            aggs: if counts {
                json!({ entity.facet_field(): { "filter": { "match_all": {} }, "aggs": { "values": counted } } })
            } else {
                Value::Null
            },
            highlight: words.map(|words| words.highlighted(marks)).unwrap_or_default(),
            track_total_hits: MAX_COUNT,
            _source: false,
            docvalue_fields: ["pk", "sk"],
            timeout: TIMEOUT,
        }
    }
}

/// Later pages have no facet, so its filter joins the others.
fn filters_with(filters: &mut Vec<Value>, chosen: Option<Value>) -> Value {
    filters.extend(chosen);
    Value::Null
}

/// The words of a query in the field with names.
struct Words<'w> {
    field: &'static str,
    words: &'w [String],
}

impl Words<'_> {
    fn clause(&self) -> Value {
        let (field, text) = (self.field, self.words.join(" "));
        json!({ "bool": { "minimum_should_match": 1, "should": [
            scored(PHRASE, json!({ "match_phrase": { field: text } })),
            scored(ALL_WORDS, json!({ "match": { field: { "query": text, "operator": "and" } } })),
            scored(PREFIX, self.words_and_prefix()),
            scored(TYPOS, self.typos(&text, "and")),
        ] } })
    }

    /// The last word as a prefix, the words before it with typos.
    fn words_and_prefix(&self) -> Value {
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

    /// Expands to all terms within the distance: the default of the nearest 50 changes as other items are written.
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

fn scored(points: u32, filter: Value) -> Value {
    json!({ "constant_score": { "filter": filter, "boost": points } })
}
