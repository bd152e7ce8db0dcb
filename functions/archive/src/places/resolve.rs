//! `GET /archive/places/resolve`

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use web::{Context, Json, Problem, Query, Route, Sample, Who, problem};

use super::place_text::PlaceText;
use super::spellings::spellings;
use super::{PLACES_BY_NAME, PlaceView, resolved};
use crate::access::PLACE_SETTINGS;
use crate::names::PlaceId;

#[derive(Debug, Deserialize, ToSchema)]
pub struct ResolveQuery {
    /// The text of a place as a register has it, such as `Bala, Wales`.
    #[schema(min_length = 1, max_length = 500)]
    text: String,
    /// Of places that fit equally well, one inside this place is preferred.
    within: Option<PlaceId>,
}

/// The place that a text means.
#[derive(Debug, Serialize, ToSchema)]
pub struct ResolvedPlace {
    pub place: PlaceView,
    /// The parts of the text that name neither the place nor one around it.
    pub unused: Vec<String>,
}

pub fn route() -> Route {
    Route::get("resolvePlace", "/archive/places/resolve", Who::Public, resolve)
        .summary("Get the one place that a text means")
        .patterns(&[&PLACE_SETTINGS, &PLACES_BY_NAME])
        .problems(&[problem::NOT_FOUND])
        .sample(Sample::new("/archive/places/resolve?text=Llanuwchllyn,%20Wales"))
}

async fn resolve(cx: Context, Query(query): Query<ResolveQuery>) -> Result<Json<ResolvedPlace>, Problem> {
    let text = PlaceText::parse(&query.text, &*spellings(cx.access()).await?);
    let resolved = resolved(cx.access(), &PLACES_BY_NAME, &text, query.within).await?;
    let (place, unused) = resolved.ok_or_else(Problem::not_found)?;
    Ok(Json(ResolvedPlace { place: place.into(), unused }))
}
