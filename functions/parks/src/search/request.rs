//! The requests to OpenSearch.

use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use web::search::{MAX_COUNT, Marks};

use super::facets::{self, ChosenValues, Facet, Field};
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
    /// The sort values of the last hit of the previous page, digit for digit: a rounded distance would repeat a hit.
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
    /// Documents contain whole shapes, so hits have single fields instead.
    _source: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    stored_fields: &'static [&'static str],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    docvalue_fields: &'static [&'static str],
    timeout: &'static str,
}

/// Shorter than the function's timeout, also for several searches in sequence, so that a slow search is reported as
/// slow.
const TIMEOUT: &str = "4s";

/// The name of the count of items whose names or search terms have the words as typed.
pub const NAMED: &str = "named";

const STORED: &[&str] = &["name", "location", "envelope", "boundaryOutline", "pathOutline"];
/// [`STORED`], and the further fields of a card.
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
    /// One page: the hits after these sort values, and one more that shows whether there is another page. Facets are
    /// counted for the first page only. `activities` are those that [`ParsedQuery::open_activities_request`] has found.
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
        // Facets count more items than the hits.
        let post_filter = if counts { json!({ "bool": { "filter": chosen } }) } else { Value::Null };
        if !counts {
            filters.extend(chosen);
        }
        let mut words = self.words.as_ref().map(|words| words.clause(self.view, closeness));
        let by_distance = self.ordering == Ordering::Distance;
        if by_distance {
            // Only the items that contain the point have a score.
            filters.extend(words.take());
        }
        let mut aggs = if counts { facets::request(&self.facets, &self.chosen, self.bbox) } else { Map::new() };
        aggs.extend(self.count_named(closeness).filter(|_| after.is_none()));
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
            ..SearchRequest::new(words, self.near.map(|near| near.inside(by_distance)), filters)
        }
    }

    /// The count of the items whose names or search terms have the words as typed.
    fn count_named(&self, closeness: Closeness) -> Option<(String, Value)> {
        let words = self.words.as_ref().filter(|_| closeness == Closeness::AsTyped)?;
        let mut filters = self.chosen.filters(None);
        filters.push(words.named());
        Some((NAMED.to_owned(), facets::count(filters, json!({ "terms": { "field": "entity" } }))))
    }

    /// The request for the activities with a product that is open on the days of the query. None if activities are not
    /// searched. A response with one more than the limit means that there are too many.
    pub fn open_activities_request(&self) -> Option<SearchRequest<'static>> {
        // A facet counts without the filter of its own field.
        let chosen = |field| if self.facets.contains(&Facet::Values(field)) { &[] } else { self.chosen.values(field) };
        let entities = chosen(Field::Entity);
        let has_activities = entities.is_empty() || entities.iter().any(|entity| entity == "activity");
        let open = self.open.as_ref().filter(|_| has_activities)?;
        let mut filters = visibility_filters(self.view, None, Deleted::False);
        filters.push(open.products());
        let mut shared = ChosenValues::default();
        for field in [Field::CollectionId, Field::Type] {
            shared.set(field, chosen(field).to_vec());
        }
        filters.extend(shared.filters(None));
        Some(SearchRequest {
            aggs: json!({ "activities": facets::count(
                Vec::new(),
                json!({ "terms": { "field": "activityKey", "size": MAX_ACTIVITIES + 1 } }),
            ) }),
            ..SearchRequest::new(None, None, filters)
        })
    }

    fn filters(&self, activities: &[String]) -> Vec<Value> {
        let is = |field: &str, value: Option<bool>| value.map(|value| json!({ "term": { field: value } }));
        let mut filters = visibility_filters(self.view, self.visible, self.deleted);
        filters.extend(is("isOpen", self.is_open));
        filters.extend(is("showOnMap", self.show_on_map));
        filters.extend(self.map_zoom.map(|zoom| {
            json!({ "bool": { "must_not": [
                { "range": { "minMapZoom": { "gt": zoom } } },
                { "range": { "maxMapZoom": { "lt": zoom } } },
            ] } })
        }));
        filters.extend(self.bbox.map(|bbox| bbox.intersects()));
        filters.extend(self.near.map(|near| near.clause()));
        filters.extend(self.area.as_ref().map(|area| area.clause(self.relation)));
        filters.extend(self.open.as_ref().map(|open| open.clause(activities)));
        filters
    }
}

impl SearchRequest<'_> {
    /// A request for no hits: the words and an optional clause, both of which score, and filters, which do not. It
    /// excludes tombstones, as the alias for readers does.
    fn new(words: Option<Value>, optional: Option<Value>, filters: Vec<Value>) -> Self {
        let clauses = |clause: Option<Value>| clause.into_iter().collect::<Vec<_>>();
        Self {
            query: json!({ "bool": {
                "must": clauses(words),
                "should": clauses(optional),
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

/// The request for the best names with these words, each name once.
pub fn suggestions(words: &Words, chosen: &ChosenValues, view: View, count: usize) -> SearchRequest<'static> {
    let mut filters = visibility_filters(view, None, Deleted::False);
    filters.extend(chosen.filters(None));
    SearchRequest {
        size: count,
        sort: Ordering::Relevance.request(None),
        collapse: json!({ "field": "nameOrder" }),
        stored_fields: STORED,
        docvalue_fields: VALUES,
        ..SearchRequest::new(Some(words.clause_for_names()), None, filters)
    }
}

/// The filters for the items that this view may find.
fn visibility_filters(view: View, visible: Option<bool>, deleted: Deleted) -> Vec<Value> {
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

    fn request(query: Value, view: View, after: Option<&RawValue>) -> Value {
        let query: SearchQuery = serde_json::from_value(query).unwrap();
        let query = ParsedQuery::new(query, None, view, Source::Query).unwrap();
        json!(query.request(after, &[], &Marks::random(), Closeness::AsTyped))
    }

    fn filters(request: &Value) -> String {
        request["query"]["bool"]["filter"].to_string()
    }

    #[test]
    fn tombstones_are_excluded_and_visitors_find_only_visible_items() {
        for view in [View::Visitor, View::Administrator] {
            let request = request(json!({}), view, None);
            assert_eq!(request["query"]["bool"]["must_not"], json!([{ "term": { "deleted": true } }]));
            assert!(filters(&request).contains(r#"{"isDeleted":false}"#));
            assert_eq!(filters(&request).contains(r#"{"isVisible":true}"#), view == View::Visitor);
        }
        let any = request(json!({"deleted": "any", "visible": false}), View::Administrator, None);
        assert_eq!(filters(&any), r#"[{"term":{"isVisible":false}}]"#);
    }

    #[test]
    fn hits_are_filtered_after_facets_are_counted() {
        let query = json!({"type": ["trail"], "facets": ["type"]});
        let first = request(query.clone(), View::Visitor, None);
        assert!(!filters(&first).contains("trail"));
        assert!(first["post_filter"].to_string().contains("trail"));
        let after = RawValue::from_string(r#"["a","b","c"]"#.to_owned()).unwrap();
        let next = request(query, View::Visitor, Some(&after));
        assert!(filters(&next).contains("trail"));
        assert_eq!((next.get("aggs"), next.get("post_filter")), (None, None));
        assert_eq!(next["search_after"], json!(["a", "b", "c"]));
    }

    #[test]
    fn page_requests_one_more_hit_than_its_limit() {
        assert_eq!(request(json!({}), View::Visitor, None)["size"], 26);
        assert_eq!(request(json!({"limit": 100}), View::Visitor, None)["size"], 101);
    }

    #[test]
    fn open_activities_are_requested_only_if_activities_are_searched() {
        let join = |query: Value| {
            let query: SearchQuery = serde_json::from_value(query).unwrap();
            ParsedQuery::new(query, None, View::Visitor, Source::Query)
                .unwrap()
                .open_activities_request()
                .map(|request| json!(request).to_string())
        };
        assert!(join(json!({})).is_none());
        assert!(join(json!({"open": "2025-12-24/2025-12-26", "entity": ["product"]})).is_none());
        let narrowed = join(json!({"open": "2025-12-24/2025-12-26", "collectionId": ["a"]})).unwrap();
        assert!(narrowed.contains(r#""collectionId":["a"]"#) && narrowed.contains(r#""isVisible":true"#));
    }
}
