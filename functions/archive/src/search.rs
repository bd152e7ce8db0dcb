//! `GET /archive/search`: the search over the people in records.
//!
//! Every part of a query that scores has a constant score, so the score of a record depends on its own document alone
//! and a cursor of score and record id stays exact while other records are written.

mod category_facet;
mod clauses;
pub mod criteria;
mod events;
mod facets;
mod families;
mod hits;
mod matched;
mod page;
mod people;
mod places;
pub mod query;
mod record_counts;
mod request;
mod response;
mod size;

use std::time::Duration;

use futures::try_join;
use serde_json::value::RawValue;
use table::EntityKey;
use web::{Context, Json, Problem, Query, Route, Sample, problem};

use crate::access::{CALLER, COLLECTIONS_OF_CATEGORY, HIDDEN_RUNS, PLACE_SETTINGS, RECORD_HITS, SEARCH};
use crate::keys::{CollectionCategoryKey, collections_of};
use crate::names::CategoryId;
use crate::places::PLACES_BY_NAME;
use crate::schema::{ARCHIVE, INDEX};
use crate::viewer::{READERS, Viewer};
use category_facet::categories_of;
use page::{FoundPage, PageSearch};
use places::QueriedPlaces;
use query::RecordQuery;
use response::{FoundRecords, RecordFacets};

pub use record_counts::RecordCounts;
pub use request::{Page, Visibility, request};

/// Longer than the time limits of the searches of a request together, so that a slow search is reported as slow.
const TIMEOUT: Duration = Duration::from_secs(25);

pub fn route() -> Route {
    Route::get("searchRecords", "/archive/search", READERS, search)
        .summary("Search the records by the names of people and relatives, and by dates and places")
        .patterns(&[
            &CALLER,
            &PLACE_SETTINGS,
            &PLACES_BY_NAME,
            &COLLECTIONS_OF_CATEGORY,
            &HIDDEN_RUNS,
            &SEARCH,
            &RECORD_HITS,
        ])
        .timeout(TIMEOUT)
        .problems(&[problem::SEARCH_UNAVAILABLE])
        .sample(Sample::new("/archive/search?surname=Pugh&birth=abt%201838"))
}

async fn search(cx: Context, Query(query): Query<RecordQuery>) -> Result<Json<FoundRecords>, Problem> {
    let after: Option<Box<RawValue>> = cx.cursor(query.cursor.as_deref())?;
    let viewer = Viewer::load(&cx).await?;
    let category = collections_of_category(&cx, query.category_id);
    let (places, category) = try_join!(QueriedPlaces::load(cx.access(), &query), category)?;
    let mut criteria = query.criteria(&places.resolved()).map_err(Problem::faults)?;
    criteria.category_collections = category;
    let parent_path = places.parent_path(&query);
    let search = PageSearch {
        access: cx.access(),
        criteria: &criteria,
        viewer: &viewer,
        limit: usize::try_from(query.limit.0).unwrap_or(usize::MAX),
        after: after.as_deref(),
        parent_path: parent_path.as_deref(),
    };
    let FoundPage { items, total, counts, next, .. } = search.run().await?;
    let facets = if after.is_none() {
        let collections = counts.get("category").map(Vec::as_slice).unwrap_or_default();
        let categories = categories_of(cx.access(), collections).await?;
        Some(RecordFacets::new(counts, &categories))
    } else {
        None
    };
    let unresolved = places.unresolved(&query);
    Ok(Json(FoundRecords { items, total, facets, unresolved, next_cursor: cx.cursor_to(next)? }))
}

/// Returns the ids of the collections of a queried category.
async fn collections_of_category(cx: &Context, category: Option<CategoryId>) -> Result<Option<Vec<String>>, Problem> {
    let Some(category) = category else { return Ok(None) };
    let table = cx.access().table(&COLLECTIONS_OF_CATEGORY, &ARCHIVE);
    let rows = table.query(collections_of(category)).index(INDEX).all().await?;
    let collection = |key| Some(CollectionCategoryKey::parse(key)?.collection.to_string());
    let collections = rows.iter().map(|row| collection(&row.key)).collect::<Option<Vec<String>>>();
    collections.map(Some).ok_or_else(|| Problem::internal("a row of no collection"))
}
