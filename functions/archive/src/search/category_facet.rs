//! The categories of the collections that a search has counted. They come from the documents of the collections, since
//! there may be thousands.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Value, json};
use table::Access;
use web::Problem;
use web::search::{Count, One, SearchResponse};

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
    let response: SearchResponse<Fields> = access.search(&SEARCH, ALIAS, &request(collections)).await?;
    let categories = |fields: Fields| Some((fields.pk.get()?, fields.category_ids));
    Ok(response.hits().into_iter().filter_map(|hit| categories(hit.fields)).collect())
}

fn request(collections: &[Count]) -> Value {
    let ids: Vec<&str> = collections.iter().map(|collection| collection.value.as_str()).collect();
    json!({
        "query": { "bool": {
            "filter": [{ "term": { "entity": "collection" } }, { "terms": { "pk": ids } }],
            "must_not": [{ "term": { "deleted": true } }],
        } },
        "size": ids.len(),
        "_source": false,
        "docvalue_fields": ["pk", "categoryIds"],
        "timeout": TIMEOUT,
    })
}
