//! The number of records in each collection and category, as the catalog shows it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use table::{Access, EntityKey, Key};
use web::Problem;
use web::search::SearchResponse;

use super::category_facet::categories_of_collections_in;
use super::facets::{MAX_COLLECTIONS, category_counts};
use super::request::{TIMEOUT, Visibility};
use crate::access::{ALIAS, SEARCH};
use crate::hidden;
use crate::keys::{CategoryKey, CollectionKey};
use crate::names::{CategoryId, CollectionId};
use crate::viewer::Viewer;

/// The name of the counts in the response.
const COLLECTION: &str = "collection";

/// How many records a caller finds in each collection and category of some hits.
#[derive(Debug, Default)]
pub struct RecordCounts {
    collections: BTreeMap<String, u64>,
    categories: BTreeMap<String, u64>,
}

impl RecordCounts {
    /// Counts the records that search shows to the viewer in the collections and categories with these keys.
    pub async fn load(access: &Access, viewer: &Viewer, hits: &[Key]) -> Result<Self, Problem> {
        let categories = hits.iter().filter_map(CategoryKey::parse).map(|key| key.category.to_string());
        let categories_of = categories_of_collections_in(access, &categories.collect::<Vec<_>>()).await?;
        let collections = hits.iter().filter_map(CollectionKey::parse).map(|key| key.collection.to_string());
        let collections: BTreeSet<String> = collections.chain(categories_of.keys().cloned()).collect();
        if collections.is_empty() {
            return Ok(Self::default());
        }
        let hidden_runs = hidden::load(access).await?.runs;
        let visibility = Visibility { hidden_runs, open_on: viewer.must_be_open_on() };
        let mut response: SearchResponse<()> =
            access.search(&SEARCH, ALIAS, &request(&collections, &visibility)).await?;
        let counted = response.take_count(COLLECTION);
        let of_collections = counted.iter().map(|collection| (collection.value.as_str(), collection.count));
        let categories = category_counts(of_collections, &categories_of);
        let collections = counted.into_iter().map(|collection| (collection.value, collection.count)).collect();
        Ok(Self { collections, categories })
    }

    pub fn of_collection(&self, collection: CollectionId) -> u64 {
        self.collections.get(&collection.to_string()).copied().unwrap_or(0)
    }

    pub fn of_category(&self, category: CategoryId) -> u64 {
        self.categories.get(&category.to_string()).copied().unwrap_or(0)
    }
}

/// The body of a search that counts the records of these collections and has no hits.
fn request(collections: &BTreeSet<String>, visibility: &Visibility) -> Value {
    let values = json!({ "terms": { "field": "collectionId", "size": MAX_COLLECTIONS } });
    json!({
        "query": { "bool": {
            "filter": [{ "term": { "entity": "record" } }, { "terms": { "collectionId": collections } }],
            "must_not": visibility.hidden(),
        } },
        "size": 0,
        "aggs": { COLLECTION: { "filter": { "match_all": {} }, "aggs": { "values": values } } },
        "timeout": TIMEOUT,
    })
}
