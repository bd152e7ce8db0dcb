//! A page of a search: its hits with their items, filled up where a hit is left out.

use std::collections::BTreeMap;
use std::future::Future;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use table::Key;
use web::search::{Count, Highlights, MAX_COUNT, Marks, One, SearchResponse, Total};
use web::{Context, Limit, Problem};

use super::SEARCH;
use crate::access::ALIAS;

/// Searches of one page until no hit is in a chat or community that the caller has just left.
const MAX_ATTEMPTS: usize = 5;

/// Rounds in which a page is filled up after hits that were left out. While search lags far behind the table, there may
/// be many. The page then ends early, with a cursor after them.
const MAX_ROUNDS: usize = 5;

/// The time limit of a search, below the function's timeout, so that a slow search is reported as one.
const SEARCH_TIMEOUT: &str = "8s";

/// A search for the items of one kind.
pub trait Searched: Send {
    type Item: Send;

    /// Returns the query, the order and what else differs from kind to kind.
    fn query(&self, marks: &Marks, is_first: bool) -> SearchQuery;

    /// Loads the items of hits, as they are now.
    fn load(
        &mut self,
        cx: &Context,
        hits: Vec<Hit>,
    ) -> impl Future<Output = Result<Loaded<Self::Item>, Problem>> + Send;
}

/// The parts of a request to OpenSearch that differ from kind to kind.
#[derive(Debug, Default)]
pub struct SearchQuery {
    /// Clauses that a hit must match, with their points.
    pub must: Vec<Value>,
    /// Clauses that give a hit more points.
    pub should: Vec<Value>,
    /// Clauses that a hit must match, without points.
    pub filters: Vec<Value>,
    pub excluded: Vec<Value>,
    /// The order, which ends with a unique field.
    pub sort: Value,
    pub highlight: Option<Value>,
    /// Filters of hits that are applied after the facets are counted.
    pub post_filters: Vec<Value>,
    pub facets: Map<String, Value>,
}

/// A hit before its item is loaded.
#[derive(Debug)]
pub struct Hit {
    pub key: Key,
    pub highlights: Highlights,
}

/// The items of hits.
#[derive(Debug)]
pub struct Loaded<T> {
    /// None for a hit whose item is gone.
    pub items: Vec<Option<T>>,
    /// Whether the caller has lost access to the chat or community of a hit. The next query is narrower.
    pub is_narrowed: bool,
}

/// A page of items with its counts.
#[derive(Debug)]
pub struct FoundPage<T> {
    pub items: Vec<T>,
    pub total: Total,
    /// On the first page, the counts of each facet.
    pub counts: BTreeMap<String, Vec<Count>>,
    pub next_cursor: Option<String>,
}

/// A page before its cursor is sealed.
struct Filled<T> {
    items: Vec<T>,
    total: Total,
    counts: BTreeMap<String, Vec<Count>>,
    next: Option<Box<RawValue>>,
    is_narrowed: bool,
    /// The hits that were left out.
    dropped: usize,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Fields {
    pk: One<String>,
    sk: One<String>,
}

/// Searches for a page. If the caller has lost access to a hit, it searches again without what the hit belongs to, so that
/// totals are right and no page is short.
pub async fn page<S: Searched>(
    cx: &Context,
    searched: &mut S,
    limit: Limit,
    cursor: Option<&str>,
) -> Result<FoundPage<S::Item>, Problem> {
    let after: Option<Box<RawValue>> = cx.cursor(cursor)?;
    let limit = usize::try_from(limit.0).unwrap_or(usize::MAX);
    let mut filled = fill(cx, searched, limit, after.as_deref()).await?;
    for _ in 1..MAX_ATTEMPTS {
        if !filled.is_narrowed {
            break;
        }
        filled = fill(cx, searched, limit, after.as_deref()).await?;
    }
    let Filled { items, total, counts, next, .. } = filled;
    Ok(FoundPage { items, total, counts, next_cursor: cx.cursor_to(next)? })
}

async fn fill<S: Searched>(
    cx: &Context,
    searched: &mut S,
    limit: usize,
    after: Option<&RawValue>,
) -> Result<Filled<S::Item>, Problem> {
    let mut filled = round(cx, searched, limit, after).await?;
    for _ in 1..MAX_ROUNDS {
        let missing = limit.saturating_sub(filled.items.len());
        let Some(after) = filled.next.take_if(|_| missing > 0) else { break };
        let more = round(cx, searched, missing, Some(&after)).await?;
        filled.items.extend(more.items);
        filled.next = more.next;
        filled.is_narrowed |= more.is_narrowed;
        filled.dropped += more.dropped;
    }
    // What the search still finds and the table no more, such as a user who was just banned, does not count.
    filled.total.value = filled.total.value.saturating_sub(filled.dropped as u64);
    Ok(filled)
}

async fn round<S: Searched>(
    cx: &Context,
    searched: &mut S,
    limit: usize,
    after: Option<&RawValue>,
) -> Result<Filled<S::Item>, Problem> {
    let marks = Marks::random();
    let body = searched.query(&marks, after.is_none()).body(limit, after);
    let mut response: SearchResponse<Fields> = cx.access().search(&SEARCH, ALIAS, &body).await?;
    let (total, counts) = (response.total(), response.take_counts());
    let (hits, next) = response.page(limit);
    let hit = |hit: web::search::Hit<Fields>| {
        let key = Key { pk: hit.fields.pk.get()?, sk: hit.fields.sk.get() };
        Some(Hit { key, highlights: marks.read(&hit.highlight) })
    };
    let hits: Option<Vec<Hit>> = hits.into_iter().map(hit).collect();
    let hits = hits.ok_or_else(|| Problem::internal("a hit lacks its key"))?;
    let found = hits.len();
    let Loaded { items, is_narrowed } = searched.load(cx, hits).await?;
    let items: Vec<S::Item> = items.into_iter().flatten().collect();
    let dropped = found.saturating_sub(items.len());
    Ok(Filled { items, total, counts, next, is_narrowed, dropped })
}

impl SearchQuery {
    /// Returns the body of `POST /{alias}/_search`. It asks for one hit more than the page has.
    fn body(self, limit: usize, after: Option<&RawValue>) -> Value {
        // Tombstones have `deleted`.
        let excluded: Vec<Value> = self.excluded.into_iter().chain([json!({ "term": { "deleted": true } })]).collect();
        let mut body = json!({
            "query": { "bool": {
                "must": self.must,
                "should": self.should,
                "minimum_should_match": 0,
                "filter": self.filters,
                "must_not": excluded,
            } },
            "sort": self.sort,
            "size": limit.saturating_add(1),
            "track_total_hits": MAX_COUNT,
            "_source": false,
            "docvalue_fields": ["pk", "sk"],
            "timeout": SEARCH_TIMEOUT,
        });
        if let Some(body) = body.as_object_mut() {
            body.extend(after.map(|after| ("search_after".to_owned(), json!(after))));
            body.extend(self.highlight.map(|highlight| ("highlight".to_owned(), highlight)));
            if !self.post_filters.is_empty() {
                body.insert("post_filter".to_owned(), json!({ "bool": { "filter": self.post_filters } }));
            }
            if !self.facets.is_empty() {
                body.insert("aggs".to_owned(), Value::Object(self.facets));
            }
        }
        body
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_asks_for_one_hit_more_than_the_page_has_and_excludes_tombstones() {
        let body = SearchQuery { sort: json!([{ "pk": "asc" }]), ..SearchQuery::default() }.body(25, None);
        assert_eq!((&body["size"], &body["sort"]), (&json!(26), &json!([{ "pk": "asc" }])));
        assert_eq!(body["query"]["bool"]["must_not"], json!([{ "term": { "deleted": true } }]));
        for absent in ["search_after", "post_filter", "aggs", "highlight"] {
            assert_eq!(body.get(absent), None, "{absent}");
        }
    }

    #[test]
    fn next_page_starts_after_the_sort_values_of_the_last_hit() {
        let after = RawValue::from_string(r#"[20.0,"USER#a"]"#.to_owned()).unwrap();
        let body = SearchQuery::default().body(1, Some(&after));
        assert_eq!(body["search_after"], json!([20.0, "USER#a"]));
    }
}
