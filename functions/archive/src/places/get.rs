//! `GET /archive/places/{placeId}`

use web::{Context, Path, Problem, Route, Sample, Tagged, Who, problem};

use super::{ONE, PLACE, PlacePath, PlaceView, SAMPLE, present};

pub fn route() -> Route {
    Route::get("getPlace", ONE, Who::Public, get)
        .summary("Get a place, or the place that has replaced it")
        .patterns(&[&PLACE])
        .problems(&[problem::NOT_FOUND])
        .sample(Sample::new(SAMPLE))
}

async fn get(cx: Context, Path(path): Path<PlacePath>) -> Result<Tagged<PlaceView>, Problem> {
    let (stored, place) = present(cx.access(), &PLACE, path.place_id).await?.ok_or_else(Problem::not_found)?;
    Ok(Tagged::new(&place.into(), stored.rev))
}
