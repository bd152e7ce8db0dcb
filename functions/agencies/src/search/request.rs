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

impl<'a> SearchRequest<'a> {
    /// A page: the hits after these sort values, and one more that shows whether there is another page. The first page
    /// also has the facet, counted under every filter except its own.
    pub fn new(query: &ParsedQuery, scope: &Scope, after: Option<&'a RawValue>, marks: &Marks) -> Self {
        let (entity, counts) = (query.entity, after.is_none());
        let mut filters = vec![json!({ "term": { "entity": entity.as_str() } })];
        filters.extend(scope.filter());
        let chosen = query.chosen.map(|value| json!({ "term": { entity.facet_field(): value } }));
        let post_filter = if counts { chosen.unwrap_or_default() } else { filters_with(&mut filters, chosen) };
        let (words, field) = (query.words.as_ref(), entity.name_field());
        let counted = json!({ "terms": { "field": entity.facet_field(), "size": MAX_VALUES, "order": [{ "_count": "desc" }, { "_key": "asc" }] } });
        Self {
            query: json!({ "bool": {
                "must": words.iter().map(|words| words.clause(field)).collect::<Vec<_>>(),
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
            highlight: words.map(|words| words.highlight(field, marks)).unwrap_or_default(),
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
