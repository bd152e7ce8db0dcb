//! The categories of collections whose records a search counts. They come from the documents of the collections, since
//! there may be thousands.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};
use table::Access;
use web::Problem;
use web::search::{Count, One, SearchResponse};

use super::facets::MAX_COLLECTIONS;
use super::request::TIMEOUT;
use crate::access::{ALIAS, SEARCH};

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Fields {
    pk: One<String>,
    category_ids: Vec<String>,
}

/// Returns the categories of each counted collection.
pub async fn categories_of(access: &Access, collections: &[Count]) -> Result<BTreeMap<String, Vec<String>>, Problem> {
    if collections.is_empty() {
        return Ok(BTreeMap::new());
    }
    let ids: Vec<&str> = collections.iter().map(|collection| collection.value.as_str()).collect();
    load(access, &json!({ "terms": { "pk": ids } })).await
}

/// Returns the categories of each collection that is in at least one of these categories.
pub async fn categories_of_collections_in(
    access: &Access,
    categories: &[String],
) -> Result<BTreeMap<String, Vec<String>>, Problem> {
    if categories.is_empty() {
        return Ok(BTreeMap::new());
    }
    load(access, &json!({ "terms": { "categoryIds": categories } })).await
}

async fn load(access: &Access, filter: &Value) -> Result<BTreeMap<String, Vec<String>>, Problem> {
    let response: SearchResponse<Fields> = access.search(&SEARCH, ALIAS, &request(filter)).await?;
    let categories = |fields: Fields| Some((fields.pk.get()?, fields.category_ids));
    Ok(response.hits().into_iter().filter_map(|hit| categories(hit.fields)).collect())
}

fn request(filter: &Value) -> Value {
    json!({
        "query": { "bool": {
            "filter": [{ "term": { "entity": "collection" } }, filter],
            "must_not": [{ "term": { "deleted": true } }],
        } },
        "size": MAX_COLLECTIONS,
        "_source": false,
        "docvalue_fields": ["pk", "categoryIds"],
        "timeout": TIMEOUT,
    })
}
