//! What OpenSearch is asked.

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use web::search::{MAX_COUNT, Marks};

use super::facets::{self, ChosenValues, Field};
use super::highlight;
use super::open::MAX_ACTIVITIES;
use super::order::Ordering;
use super::parsed_query::ParsedQuery;
use super::query::Deleted;
use super::words::{Closeness, Words};
use crate::view::View;

/// The body of `POST /{alias}/_search`.
#[derive(Debug, Serialize)]
pub struct SearchRequest<'a> {
    query: Value,
    size: usize,
    #[serde(skip_serializing_if = "Value::is_null")]
    sort: Value,
    /// As the last hit of the page before had them: digit for digit, since a distance that is off in its last place
    /// would repeat a hit.
    #[serde(skip_serializing_if = "Option::is_none")]
    search_after: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Value::is_null")]
    post_filter: Value,
    #[serde(skip_serializing_if = "Value::is_null")]
    aggs: Value,
    #[serde(skip_serializing_if = "Value::is_null")]
    highlight: Value,
    #[serde(skip_serializing_if = "Value::is_null")]
    collapse: Value,
    track_total_hits: u32,
    /// Documents hold whole shapes; hits are read from single fields instead.
    _source: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    stored_fields: &'static [&'static str],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    docvalue_fields: &'static [&'static str],
    timeout: &'static str,
}

/// Within the function's own time, also where several are asked in turn, so that a slow search is told as such.
const TIMEOUT: &str = "4s";

/// The count that is not 0 where names or search terms have the words as they are typed.
pub const NAMED: &str = "named";

const STORED: &[&str] = &["name", "location", "envelope", "boundaryOutline", "pathOutline"];
/// What a card shows besides.
const STORED_FOR_CARDS: &[&str] =
    &["name", "location", "envelope", "boundaryOutline", "pathOutline", "description", "address", "image"];
const VALUES_FOR_CARDS: &[&str] = &[
    "pk",
    "sk",
    "entity",
    "globalId",
    "collectionId",
    "type",
    "subType",
    "number",
    "boundaryStatus",
    "boundaryTolerance",
    "pathStatus",
    "pathTolerance",
    "isOpen",
    "openDates",
];
const VALUES: &[&str] = &[
    "pk",
    "sk",
    "entity",
    "globalId",
    "collectionId",
    "type",
    "subType",
    "number",
    "boundaryStatus",
    "boundaryTolerance",
    "pathStatus",
    "pathTolerance",
];

impl ParsedQuery {
    /// One page: the hits after these sort values, and one more that tells whether there is another page. Facets are
    /// counted for the first page only. `activities` are those that [`ParsedQuery::join`] found.
    pub fn request<'a>(
        &self,
        after: Option<&'a RawValue>,
        activities: &[String],
        marks: &Marks,
        closeness: Closeness,
    ) -> SearchRequest<'a> {
        let counts = after.is_none() && !self.facets.is_empty();
        let mut filters = self.filters(activities);
        let chosen = self.chosen.filters(None);
        // What is counted must see more than what is found.
        let post_filter = if counts { json!({ "bool": { "filter": chosen } }) } else { Value::Null };
        if !counts {
            filters.extend(chosen);
        }
        let mut words = self.words.as_ref().map(|words| words.clause(self.view, closeness));
        let by_distance = self.ordering == Ordering::Distance;
        if by_distance {
            // The score says what holds the point, and nothing else.
            filters.extend(words.take());
        }
        let mut aggs = if counts { facets::request(&self.facets, &self.chosen, self.bbox) } else { Map::new() };
        aggs.extend(self.named(closeness).filter(|_| after.is_none()));
        SearchRequest {
            size: self.limit + 1,
            sort: self.ordering.request(self.near.map(|near| near.point)),
            search_after: after,
            post_filter,
            aggs: if aggs.is_empty() { Value::Null } else { Value::Object(aggs) },
            highlight: self
                .words
                .as_ref()
                .map(|words| highlight::request(marks, words, self.view, closeness))
                .unwrap_or_default(),
            stored_fields: if self.card { STORED_FOR_CARDS } else { STORED },
            docvalue_fields: if self.card { VALUES_FOR_CARDS } else { VALUES },
            ..SearchRequest::of(words, self.near.map(|near| near.inside(by_distance)), filters)
        }
    }

    /// Counts what has the words as they are typed in its name or search terms.
    fn named(&self, closeness: Closeness) -> Option<(String, Value)> {
        let words = self.words.as_ref().filter(|_| closeness == Closeness::AsTyped)?;
        let mut filters = self.chosen.filters(None);
        filters.push(words.named());
        Some((NAMED.to_owned(), facets::counted(filters, json!({ "terms": { "field": "entity" } }))))
    }

    /// The activities with a product that is open on the days that are asked for, where activities are asked for: one
    /// more than may be taken tells that there are too many.
    pub fn join(&self) -> Option<SearchRequest<'static>> {
        let entities = self.chosen.values(Field::Entity);
        let activities = entities.is_empty() || entities.iter().any(|entity| entity == "activity");
        let open = self.open.as_ref().filter(|_| activities)?;
        let mut filters = seen(self.view, None, Deleted::False);
        filters.push(open.products());
        let mut shared = ChosenValues::default();
        for field in [Field::CollectionId, Field::Type] {
            shared.set(field, self.chosen.values(field).to_vec());
        }
        filters.extend(shared.filters(None));
        Some(SearchRequest {
            aggs: json!({ "activities": facets::counted(
                Vec::new(),
                json!({ "terms": { "field": "activityKey", "size": MAX_ACTIVITIES + 1 } }),
            ) }),
            ..SearchRequest::of(None, None, filters)
        })
    }

    fn filters(&self, activities: &[String]) -> Vec<Value> {
        let is = |field: &str, value: Option<bool>| value.map(|value| json!({ "term": { field: value } }));
        let mut filters = seen(self.view, self.visible, self.deleted);
        filters.extend(is("isOpen", self.is_open));
        filters.extend(is("showOnMap", self.show_on_map));
        filters.extend(self.map_zoom.map(|zoom| {
            json!({ "bool": { "must_not": [
                { "range": { "minMapZoom": { "gt": zoom } } },
                { "range": { "maxMapZoom": { "lt": zoom } } },
            ] } })
        }));
        filters.extend(self.bbox.map(|bbox| bbox.meets()));
        filters.extend(self.near.map(|near| near.clause()));
        filters.extend(self.area.as_ref().map(|area| area.clause(self.relation)));
        filters.extend(self.open.as_ref().map(|open| open.clause(activities)));
        filters
    }
}

impl SearchRequest<'_> {
    /// No hits yet: the words, and what may fit besides, under filters that do not score. The readers' alias hides
    /// tombstones; so does every query itself.
    fn of(words: Option<Value>, may_fit: Option<Value>, filters: Vec<Value>) -> Self {
        let clauses = |clause: Option<Value>| clause.into_iter().collect::<Vec<_>>();
        Self {
            query: json!({ "bool": {
                "must": clauses(words),
                "should": clauses(may_fit),
                "filter": filters,
                "must_not": [{ "term": { "deleted": true } }],
            } }),
            size: 0,
            sort: Value::Null,
            search_after: None,
            post_filter: Value::Null,
            aggs: Value::Null,
            highlight: Value::Null,
            collapse: Value::Null,
            track_total_hits: MAX_COUNT,
            _source: false,
            stored_fields: &[],
            docvalue_fields: &[],
            timeout: TIMEOUT,
        }
    }
}

/// The best names for what has been typed so far, each name once.
pub fn suggestions(words: &Words, chosen: &ChosenValues, view: View, count: usize) -> SearchRequest<'static> {
    let mut filters = seen(view, None, Deleted::False);
    filters.extend(chosen.filters(None));
    SearchRequest {
        size: count,
        sort: Ordering::Relevance.request(None),
        collapse: json!({ "field": "nameOrder" }),
        stored_fields: STORED,
        docvalue_fields: VALUES,
        ..SearchRequest::of(Some(words.clause_for_names()), None, filters)
    }
}

/// What this view may find.
fn seen(view: View, visible: Option<bool>, deleted: Deleted) -> Vec<Value> {
    let (visible, deleted) = match view {
        View::Visitor => (Some(true), Some(false)),
        View::Administrator => {
            let deleted = match deleted {
                Deleted::False => Some(false),
                Deleted::True => Some(true),
                Deleted::Any => None,
            };
            (visible, deleted)
        }
    };
    let visible = visible.map(|visible| json!({ "term": { "isVisible": visible } }));
    let deleted = deleted.map(|deleted| json!({ "term": { "isDeleted": deleted } }));
    visible.into_iter().chain(deleted).collect()
}

#[cfg(test)]
mod tests {
    use super::super::parsed_query::Source;
    use super::super::query::SearchQuery;
    use super::*;

    fn asked(form: Value, view: View, after: Option<&RawValue>) -> Value {
        let form: SearchQuery = serde_json::from_value(form).unwrap();
        let query = ParsedQuery::new(form, None, view, Source::Query).unwrap();
        json!(query.request(after, &[], &Marks::random(), Closeness::AsTyped))
    }

    fn filters(request: &Value) -> String {
        request["query"]["bool"]["filter"].to_string()
    }

    #[test]
    fn nobody_finds_tombstones_and_visitors_nothing_hidden_or_deleted() {
        for view in [View::Visitor, View::Administrator] {
            let request = asked(json!({}), view, None);
            assert_eq!(request["query"]["bool"]["must_not"], json!([{ "term": { "deleted": true } }]));
            assert!(filters(&request).contains(r#"{"isDeleted":false}"#));
            assert_eq!(filters(&request).contains(r#"{"isVisible":true}"#), view == View::Visitor);
        }
        let any = asked(json!({"deleted": "any", "visible": false}), View::Administrator, None);
        assert_eq!(filters(&any), r#"[{"term":{"isVisible":false}}]"#);
    }

    #[test]
    fn what_is_counted_is_filtered_after_counting() {
        let form = json!({"type": ["trail"], "facets": ["type"]});
        let first = asked(form.clone(), View::Visitor, None);
        assert!(!filters(&first).contains("trail"));
        assert!(first["post_filter"].to_string().contains("trail"));
        let after = RawValue::from_string(r#"["a","b","c"]"#.to_owned()).unwrap();
        let next = asked(form, View::Visitor, Some(&after));
        assert!(filters(&next).contains("trail"));
        assert_eq!((next.get("aggs"), next.get("post_filter")), (None, None));
        assert_eq!(next["search_after"], json!(["a", "b", "c"]));
    }

    #[test]
    fn a_page_asks_for_one_more() {
        assert_eq!(asked(json!({}), View::Visitor, None)["size"], 26);
        assert_eq!(asked(json!({"limit": 100}), View::Visitor, None)["size"], 101);
    }

    #[test]
    fn activities_are_joined_only_where_they_are_asked_for() {
        let joined = |form: Value| {
            let form: SearchQuery = serde_json::from_value(form).unwrap();
            ParsedQuery::new(form, None, View::Visitor, Source::Query)
                .unwrap()
                .join()
                .map(|request| json!(request).to_string())
        };
        assert!(joined(json!({})).is_none());
        assert!(joined(json!({"open": "2025-12-24/2025-12-26", "entity": ["product"]})).is_none());
        let narrowed = joined(json!({"open": "2025-12-24/2025-12-26", "collectionId": ["a"]})).unwrap();
        assert!(narrowed.contains(r#""collectionId":["a"]"#) && narrowed.contains(r#""isVisible":true"#));
    }
}
