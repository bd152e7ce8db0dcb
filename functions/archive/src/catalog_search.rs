//! `GET /archive/search/catalog`

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use table::{EntityKey, Key, Stored};
use utoipa::ToSchema;
use web::search::{Highlights, Piece, Total};
use web::{Context, Json, Limit, Problem, Query, Route, Sample, problem};

use crate::access::{CALLER, HIDDEN_RUNS, SEARCH, SEARCH_HITS};
use crate::categories::CategoryView;
use crate::collections::CollectionView;
use crate::item::{Category, Collection};
use crate::keys::CollectionKey;
use crate::schema::ARCHIVE;
use crate::search::RecordCounts;
use crate::viewer::{READERS, Viewer};
use crate::word_search::{Searched, WordQuery};

const PATH: &str = "/archive/search/catalog";

/// Longer than the time limits of the three searches of a request together, so that a slow search is reported as slow.
const TIMEOUT: Duration = Duration::from_secs(20);

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

/// A category or a collection, with the number of records in it that the caller can find.
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
        .patterns(&[&CALLER, &SEARCH, &SEARCH_HITS, &HIDDEN_RUNS])
        .timeout(TIMEOUT)
        .problems(&[problem::SEARCH_UNAVAILABLE])
        .sample(Sample::new("/archive/search/catalog?q=parish%20reg"))
}

async fn search(cx: Context, Query(query): Query<CatalogQuery>) -> Result<Json<FoundCatalog>, Problem> {
    let viewer = Viewer::load(&cx).await?;
    let CatalogQuery { q, entity, limit, cursor } = query;
    let entities = entity.map_or(SEARCHED.entities, CatalogEntity::entities);
    let found = Searched { entities, ..SEARCHED }.search(&cx, &WordQuery { q, limit, cursor }).await?;
    let keys: Vec<Key> = found.keys();
    let stored = cx.access().table(&SEARCH_HITS, &ARCHIVE).batch_get(&keys).await?;
    let counts = RecordCounts::load(cx.access(), &viewer, &keys).await?;
    let marked = |name: &str, description: &str| found.highlights([("name", name), ("description", description)]);
    let entry = |(stored, score): (Option<Stored>, f64)| -> Result<Option<FoundEntry>, Problem> {
        let Some(stored) = stored else { return Ok(None) };
        let (category, collection, highlights) = if CollectionKey::parse(&stored.key).is_some() {
            let collection: Collection = stored.read()?;
            let record_count = Some(counts.of_collection(collection.id));
            let view = CollectionView { record_count, ..collection.into() };
            let highlights = marked(&view.name, &view.description);
            (None, Some(view), highlights)
        } else {
            let category: Category = stored.read()?;
            let record_count = Some(counts.of_category(category.id));
            let view = CategoryView { record_count, ..category.into() };
            let highlights = marked(&view.name, &view.description);
            (Some(view), None, highlights)
        };
        Ok(Some(FoundEntry { category, collection, score, highlights }))
    };
    let entries = stored.into_iter().zip(found.scores()).map(entry).collect::<Result<Vec<_>, _>>()?;
    let total = found.total;
    let (items, next_cursor) = found.page(&cx, entries)?;
    Ok(Json(FoundCatalog { items, total, next_cursor }))
}
