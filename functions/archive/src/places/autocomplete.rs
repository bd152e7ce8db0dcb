//! `GET /archive/places/autocomplete`

use serde::{Deserialize, Serialize};
use table::{Key, SearchError, Stored};
use utoipa::ToSchema;
use web::search::{One, SearchResponse};
use web::{Context, Json, Problem, Query, Route, Sample, Who};

use super::item::Place;
use super::list::partition;
use super::typed::Typed;
use super::{PLACES_BY_PREFIX, PlaceView};
use crate::access::{ALIAS, SEARCH, SEARCH_HITS};
use crate::schema::{ARCHIVE, INDEX};

/// The places that are compared by weight while search is down.
const MAX_FALLBACK: u32 = 100;

#[derive(Debug, Deserialize, ToSchema)]
pub struct AutocompleteQuery {
    /// The beginning of a name, or words of it and of the names around it. A comma separates levels: `paris, t`.
    #[schema(max_length = 200)]
    q: String,
    #[serde(default = "default_limit")]
    #[schema(minimum = 1, maximum = 20, default = 10)]
    limit: usize,
}

const fn default_limit() -> usize {
    10
}

/// Places that a text may become.
#[derive(Debug, Serialize, ToSchema)]
pub struct Completions {
    /// The likeliest first.
    pub items: Vec<PlaceView>,
    /// False while search is down. Then only full names that begin with the text are found.
    pub complete: bool,
}

/// The fields of a hit: the key of its item.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Fields {
    pk: One<String>,
    sk: One<String>,
}

pub fn route() -> Route {
    Route::get("autocompletePlaces", "/archive/places/autocomplete", Who::Public, autocomplete)
        .summary("Get the places that a text may become, by name, alternative name or words, the largest first")
        .patterns(&[&SEARCH, &SEARCH_HITS, &PLACES_BY_PREFIX])
        .sample(Sample::new("/archive/places/autocomplete?q=llan"))
}

async fn autocomplete(cx: Context, Query(query): Query<AutocompleteQuery>) -> Result<Json<Completions>, Problem> {
    let Some(typed) = Typed::parse(&query.q) else {
        return Ok(Json(Completions { items: Vec::new(), complete: true }));
    };
    let response: Result<SearchResponse<Fields>, SearchError> =
        cx.access().search(&SEARCH, ALIAS, &typed.request(query.limit)).await;
    let response = match response {
        Ok(response) => response,
        Err(SearchError::Unavailable(_)) => {
            return Ok(Json(Completions { items: by_prefix(&cx, &typed, query.limit).await?, complete: false }));
        }
        Err(error) => return Err(error.into()),
    };
    let key = |fields: Fields| Some(Key::new(fields.pk.get()?, fields.sk.get()?));
    let keys: Vec<Key> = response.hits().into_iter().filter_map(|hit| key(hit.fields)).collect();
    let stored = cx.access().table(&SEARCH_HITS, &ARCHIVE).batch_get(&keys).await?;
    let places = stored.into_iter().flatten().map(|stored| stored.read::<Place>());
    let mut places = places.collect::<Result<Vec<_>, _>>()?;
    // One that another has replaced a moment ago may still be found.
    places.retain(|place| place.replaced_by.is_none());
    Ok(Json(Completions { items: places.into_iter().map(PlaceView::from).collect(), complete: true }))
}

/// Returns the heaviest of the first places whose full names begin with the text.
async fn by_prefix(cx: &Context, typed: &Typed, limit: usize) -> Result<Vec<PlaceView>, Problem> {
    let Some(partition) = partition(&typed.full_name) else { return Ok(Vec::new()) };
    let places = cx.access().table(&PLACES_BY_PREFIX, &ARCHIVE).query(partition).index(INDEX);
    let page = places.begins_with(&typed.full_name).page(MAX_FALLBACK).await?;
    let mut places = page.items.iter().map(Stored::read::<Place>).collect::<Result<Vec<_>, _>>()?;
    // Stable, so that equal ones stay in alphabetical order.
    places.sort_by_key(|place| std::cmp::Reverse(place.weight));
    places.truncate(limit);
    Ok(places.into_iter().map(PlaceView::from).collect())
}
