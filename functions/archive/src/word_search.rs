//! The search for categories, collections, posts and users by words. Points depend on the document alone, so that an
//! item keeps its place in the order while other items are written.

mod highlights;
mod words;

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use table::Key;
use utoipa::ToSchema;
use web::search::{Highlights, MAX_COUNT, One, SearchResponse, Total};
use web::{Context, Limit, Problem};

use crate::access::{ALIAS, SEARCH};
use crate::fitting::fitting;
use words::Words;

/// Above the time limit of the search itself, so that a slow search is reported as one.
pub const TIMEOUT: Duration = Duration::from_secs(15);

/// The time limit of the search itself.
const SEARCH_TIMEOUT: &str = "8s";

/// The query string of a search by words.
#[derive(Clone, Debug, Deserialize, ToSchema)]
pub struct WordQuery {
    /// Words. Each must be found, in a name also as the beginning of a word; typos are tolerated.
    #[schema(min_length = 1, max_length = 200)]
    pub q: String,
    #[serde(default)]
    pub limit: Limit,
    #[schema(min_length = 1)]
    pub cursor: Option<String>,
}

/// The entities that are searched, and the fields of their documents.
#[derive(Clone, Copy, Debug)]
pub struct Searched {
    pub entities: &'static [&'static str],
    /// The fields of names.
    pub names: &'static [&'static str],
    /// The other fields, which may be long. The beginning of a word is not found in them.
    pub others: &'static [&'static str],
}

/// A page of hits. An item may have been deleted since it was indexed.
#[derive(Debug)]
pub struct FoundKeys {
    searched: Searched,
    words: Words,
    hits: Vec<FoundKey>,
    pub total: Total,
    /// The sort values after which the next page starts.
    next: Option<Box<RawValue>>,
}

#[derive(Debug)]
struct FoundKey {
    key: Key,
    score: f64,
    sort: Box<RawValue>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Fields {
    pk: One<String>,
    sk: One<String>,
}

impl FoundKeys {
    /// Returns the keys of the hits, the best first.
    pub fn keys(&self) -> Vec<Key> {
        self.hits.iter().map(|hit| hit.key.clone()).collect()
    }

    /// Returns the points of the hits in the same order.
    pub fn scores(&self) -> impl Iterator<Item = f64> {
        self.hits.iter().map(|hit| hit.score)
    }

    /// Returns the fragments of an item with the words that were found, given its present texts with their fields. A
    /// field may have several texts.
    pub fn highlights<'a>(&self, texts: impl IntoIterator<Item = (&'static str, &'a str)>) -> Highlights {
        let mut found = Highlights::new();
        for (field, text) in texts {
            let is_name = self.searched.names.contains(&field);
            let is_found = |word: &str| self.words.finds(word, is_name);
            let fragments = match is_name {
                true => highlights::whole(text, is_found).into_iter().collect(),
                false => highlights::fragments(text, is_found),
            };
            if !fragments.is_empty() {
                found.entry(field.to_owned()).or_default().extend(fragments);
            }
        }
        found
    }

    /// Returns the items of the page, given those of the hits in the same order, and the cursor of the next page. The page
    /// ends early if its items would not fit into a response.
    pub fn page<T: Serialize>(self, cx: &Context, items: Vec<Option<T>>) -> Result<(Vec<T>, Option<String>), Problem> {
        let positions = self.hits.into_iter().map(|hit| hit.sort);
        let (items, next) = fitting(items.into_iter().zip(positions), self.next)?;
        Ok((items, cx.cursor_to(next)?))
    }
}

impl Searched {
    /// Returns a page of the items that have every word of the query, those with the most points first.
    pub async fn search(self, cx: &Context, query: &WordQuery) -> Result<FoundKeys, Problem> {
        let after: Option<Box<RawValue>> = cx.cursor(query.cursor.as_deref())?;
        let words = Words::parse(&query.q).map_err(|fault| Problem::faults(vec![fault]))?;
        let limit = usize::try_from(query.limit.0).unwrap_or(usize::MAX);
        let request = self.request(&words, limit, after.as_deref());
        let response: SearchResponse<Fields> = cx.access().search(&SEARCH, ALIAS, &request).await?;
        let total = response.total();
        let (hits, next) = response.page(limit);
        let hit = |hit: web::search::Hit<Fields>| {
            let key = Key { pk: hit.fields.pk.get()?, sk: hit.fields.sk.get() };
            Some(FoundKey { key, score: hit.score.unwrap_or_default(), sort: hit.sort? })
        };
        let hits: Option<Vec<_>> = hits.into_iter().map(hit).collect();
        let hits = hits.ok_or_else(|| Problem::internal("a hit lacks its key or sort values"))?;
        Ok(FoundKeys { searched: self, words, hits, total, next })
    }

    /// The body of `POST /{alias}/_search`. It asks for one hit more than the page has.
    fn request(self, words: &Words, limit: usize, after: Option<&RawValue>) -> Value {
        let mut request = json!({
            // Tombstones have `deleted`.
            "query": { "bool": {
                "must": words.clauses(self.names, self.others),
                "filter": { "terms": { "entity": self.entities } },
                "must_not": { "term": { "deleted": true } },
            } },
            // The keys make the order of equal points certain, which the cursor needs.
            "sort": [{ "_score": "desc" }, { "pk": "asc" }, { "sk": "asc" }],
            "size": limit + 1,
            "track_total_hits": MAX_COUNT,
            "_source": false,
            "docvalue_fields": ["pk", "sk"],
            "timeout": SEARCH_TIMEOUT,
        });
        if let (Some(after), Some(request)) = (after, request.as_object_mut()) {
            request.insert("search_after".to_owned(), json!(after));
        }
        request
    }
}
