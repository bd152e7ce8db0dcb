//! The search for items by the words of a text, for handlers that load the found items from the table.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use table::{AccessPattern, Key};

use super::{One, SearchResponse, Words};
use crate::{Context, Fault, PageQuery, Problem};

/// The time limit of the search itself, below the function's timeout, so that a slow search is reported as one.
const TIMEOUT: &str = "8s";

/// A page of the keys of items, and the cursor of the next page. An item may have been deleted since it was indexed.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundKeys {
    pub keys: Vec<Key>,
    pub next_cursor: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Fields {
    pk: One<String>,
    sk: One<String>,
}

impl Context {
    /// Searches for the words of the parameter `q` in a field of the documents of an alias, the most relevant document
    /// first. `filters` are fields with the values that a document must have.
    pub async fn search_words(
        &self,
        pattern: &'static AccessPattern,
        alias: &'static str,
        (field, q, filters): (&str, &str, &[(&str, &str)]),
        page: &PageQuery,
    ) -> Result<FoundKeys, Problem> {
        let words = Words::parse(q).map_err(|detail| Problem::faults(vec![Fault::parameter("q", detail)]))?;
        let query = words.clause(field);
        let filters: Vec<Value> = filters.iter().map(|(field, value)| json!({ "term": { *field: value } })).collect();
        let after: Option<Box<RawValue>> = self.cursor(page.cursor.as_deref())?;
        let limit = usize::try_from(page.limit.0).unwrap_or(usize::MAX);
        // Tombstones have `deleted`. The keys make the order of equal scores certain, which the cursor needs.
        let mut request = json!({
            "query": { "bool": { "must": query, "filter": filters, "must_not": { "term": { "deleted": true } } } },
            "sort": [{ "_score": "desc" }, { "pk": "desc" }, { "sk": "desc" }],
            "size": limit + 1,
            "_source": false,
            "docvalue_fields": ["pk", "sk"],
            "timeout": TIMEOUT,
        });
        if let (Some(after), Some(request)) = (after, request.as_object_mut()) {
            request.insert("search_after".to_owned(), json!(after));
        }
        let response: SearchResponse<Fields> = self.access().search(pattern, alias, &request).await?;
        let (hits, next) = response.page(limit);
        let key = |Fields { pk, sk }: Fields| Some(Key { pk: pk.get()?, sk: sk.get() });
        let keys: Option<Vec<Key>> = hits.into_iter().map(|hit| key(hit.fields)).collect();
        let keys = keys.ok_or_else(|| Problem::internal("a hit lacks its key"))?;
        Ok(FoundKeys { keys, next_cursor: self.cursor_to(next)? })
    }
}
