//! `GET /archive/search/catalog`

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use table::{EntityKey, Key};
use utoipa::ToSchema;
use web::search::{Highlights, Piece, Total};
use web::{Context, Json, Limit, Problem, Query, Route, Sample, problem};

use crate::access::{CALLER, SEARCH, SEARCH_HITS};
use crate::categories::CategoryView;
use crate::collections::CollectionView;
use crate::item::{Category, Collection, CollectionUse};
use crate::keys::{CollectionKey, CollectionUseKey};
use crate::schema::ARCHIVE;
use crate::viewer::{READERS, Viewer};
use crate::word_search::{Searched, TIMEOUT, WordQuery};

const PATH: &str = "/archive/search/catalog";

/// The query string of a search for categories and collections.
#[derive(Clone, Debug, Deserialize, ToSchema)]
pub struct CatalogQuery {
    /// Words. Each must be found, in a name also as the beginning of a word; typos are tolerated.
    #[schema(min_length = 1, max_length = 200)]
    q: String,
    /// Only categories, or only collections.
    entity: Option<CatalogEntity>,
    #[serde(default)]
    limit: Limit,
    #[schema(min_length = 1)]
    cursor: Option<String>,
}

/// The entities of the catalog.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum CatalogEntity {
    Category,
    Collection,
}

/// A page of categories and collections.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FoundCatalog {
    pub items: Vec<FoundEntry>,
    pub total: Total,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A category, or a collection, for staff with its number of records. Records are not counted by category.
#[derive(Debug, Serialize, ToSchema)]
pub struct FoundEntry {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<CategoryView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collection: Option<CollectionView>,
    pub score: f64,
    /// The fragments by field, each in pieces whose concatenation is the text.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(value_type = BTreeMap<String, Vec<Vec<Piece>>>)]
    pub highlights: Highlights,
}

const SEARCHED: Searched =
    Searched { entities: &["category", "collection"], names: &["name"], others: &["description"] };

impl CatalogEntity {
    const fn entities(self) -> &'static [&'static str] {
        match self {
            Self::Category => &["category"],
            Self::Collection => &["collection"],
        }
    }
}

pub fn route() -> Route {
    Route::get("searchCatalog", PATH, READERS, search)
        .summary("Search the categories and collections by their names and descriptions")
        .patterns(&[&CALLER, &SEARCH, &SEARCH_HITS])
        .timeout(TIMEOUT)
        .problems(&[problem::SEARCH_UNAVAILABLE])
        .sample(Sample::new("/archive/search/catalog?q=parish%20reg"))
}

async fn search(cx: Context, Query(query): Query<CatalogQuery>) -> Result<Json<FoundCatalog>, Problem> {
    let viewer = Viewer::load(&cx).await?;
    let CatalogQuery { q, entity, limit, cursor } = query;
    let entities = entity.map_or(SEARCHED.entities, CatalogEntity::entities);
    let found = Searched { entities, ..SEARCHED }.search(&cx, &WordQuery { q, limit, cursor }).await?;
    let counts_of = |key: &Key| {
        let CollectionKey { collection } = CollectionKey::parse(key)?;
        Some(CollectionUseKey { collection }.key())
    };
    let keys: Vec<Key> = found.keys();
    let counts: Vec<Option<Key>> = keys.iter().map(counts_of).collect();
    let all: Vec<Key> = keys.iter().cloned().chain(counts.iter().flatten().cloned()).collect();
    let mut stored = cx.access().table(&SEARCH_HITS, &ARCHIVE).batch_get(&all).await?;
    let mut uses = stored.split_off(keys.len()).into_iter();
    let marked = |name: &str, description: &str| found.highlights([("name", name), ("description", description)]);
    let mut entries = Vec::with_capacity(stored.len());
    for ((stored, counted), score) in stored.into_iter().zip(counts).zip(found.scores()) {
        let counts = if counted.is_some() { uses.next().flatten() } else { None };
        let Some(stored) = stored else {
            entries.push(None);
            continue;
        };
        entries.push(Some(if counted.is_some() {
            let records = counts.map(|counts| counts.read::<CollectionUse>()).transpose()?.unwrap_or_default().records;
            let record_count = Some(records).filter(|_| viewer.is_staff);
            let view = CollectionView { record_count, ..stored.read::<Collection>()?.into() };
            let highlights = marked(&view.name, &view.description);
            FoundEntry { category: None, collection: Some(view), score, highlights }
        } else {
            let view = CategoryView::from(stored.read::<Category>()?);
            let highlights = marked(&view.name, &view.description);
            FoundEntry { category: Some(view), collection: None, score, highlights }
        }));
    }
    let total = found.total;
    let (items, next_cursor) = found.page(&cx, entries)?;
    Ok(Json(FoundCatalog { items, total, next_cursor }))
}
