//! `GET /archive/places`

use serde::Deserialize;
use table::Position;
use utoipa::ToSchema;
use web::{Context, Fault, Limit, Page, Problem, Query, Route, Sample, Who};

use super::item::Place;
use super::{LIST, PLACES_BY_PREFIX, PlaceView, naming};
use crate::keys::PLACE_PREFIX;
use crate::names::PlacePrefix;
use crate::schema::{ARCHIVE, INDEX};

#[derive(Debug, Deserialize, ToSchema)]
pub struct PlacesQuery {
    /// The beginning of a full name, such as `Bala, Wal`, without regard to case and accents. At least two letters or
    /// digits.
    #[schema(min_length = 1, max_length = 300)]
    prefix: String,
    #[serde(default)]
    limit: Limit,
    #[schema(min_length = 1)]
    cursor: Option<String>,
}

pub fn route() -> Route {
    Route::get("listPlaces", LIST, Who::Public, list)
        .summary("List the places whose full names begin with a text, in alphabetical order")
        .patterns(&[&PLACES_BY_PREFIX])
        .sample(Sample::new("/archive/places?prefix=llan"))
}

async fn list(cx: Context, Query(query): Query<PlacesQuery>) -> Result<Page<PlaceView>, Problem> {
    let after: Option<Position> = cx.cursor(query.cursor.as_deref())?;
    let beginning = naming::fold_beginning(&query.prefix);
    let Some(partition) = partition(&beginning) else {
        return Err(Problem::faults(vec![Fault::parameter("prefix", "must begin with two letters or digits")]));
    };
    let places = cx.access().table(&PLACES_BY_PREFIX, &ARCHIVE).query(partition).index(INDEX);
    let page = places.begins_with(beginning).after(after).page(query.limit.0).await?;
    cx.page(page, |stored| Ok(stored.read::<Place>()?.into()))
}

/// Returns the partition of the index with the places whose folded full names have this beginning.
pub fn partition(beginning: &str) -> Option<String> {
    let is_long_enough = beginning.chars().count() >= 2 && !beginning.starts_with(',');
    let prefix = PlacePrefix::of(beginning).filter(|_| is_long_enough)?;
    Some(format!("{PLACE_PREFIX}{prefix}"))
}
