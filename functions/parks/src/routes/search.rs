//! `/parks/search` and `/parks/suggest`.

use std::time::Duration;

use web::{Route, Sample, problem};

use super::BOTH;
use crate::access::{BY_GLOBAL_ID, READ_SHAPE};
use crate::geojson::CONTENT_TYPE;
use crate::search::{
    self, Found, FoundFeatures, NARROW_SEARCH, SEARCH, SearchForm, ShapeForm, SuggestForm, Suggestions,
};
use crate::shapes::GEOMETRY_UNAVAILABLE;

const SEARCH_PATH: &str = "/parks/search";

/// A drawn shape of 64 KiB, and the other fields.
const WITH_SHAPE: usize = 96 * 1024;

/// Search that does not answer is told as such: its own patience ends before this, also where several are asked in turn.
const TIMEOUT: Duration = Duration::from_secs(25);

/// A sample of a search by a drawn shape.
const DRAWN: &str = r#"{"shape":{"type":"Polygon","coordinates":[[[-126,49],[-125,49],[-125,50],[-126,50],[-126,49]]]},"relation":"within"}"#;

pub fn routes() -> Vec<Route> {
    vec![
        Route::get("search", SEARCH_PATH, BOTH, search::search)
            .summary("Finds items by words, place, kind and days")
            .patterns(&[&SEARCH, &BY_GLOBAL_ID, &READ_SHAPE])
            .timeout(TIMEOUT)
            .query::<SearchForm>()
            .rules::<SearchForm>()
            .answers::<Found>(200)
            .answers_as::<FoundFeatures>(200, CONTENT_TYPE)
            .problems(&[problem::FORBIDDEN, NARROW_SEARCH, GEOMETRY_UNAVAILABLE, problem::SEARCH_UNAVAILABLE])
            .sample(Sample::new("/parks/search?q=bedwel%20lak&facets=type,entity")),
        Route::post("searchByShape", SEARCH_PATH, BOTH, search::search_by_shape)
            .summary("The same with a drawn shape")
            .patterns(&[&SEARCH, &BY_GLOBAL_ID, &READ_SHAPE])
            .timeout(TIMEOUT)
            .takes::<ShapeForm>()
            .rules::<ShapeForm>()
            .body_limit(WITH_SHAPE)
            .answers::<Found>(200)
            .answers_as::<FoundFeatures>(200, CONTENT_TYPE)
            .problems(&[
                problem::FORBIDDEN,
                NARROW_SEARCH,
                problem::UNPROCESSABLE,
                GEOMETRY_UNAVAILABLE,
                problem::SEARCH_UNAVAILABLE,
            ])
            .sample(Sample::new(SEARCH_PATH).body(DRAWN)),
        Route::get("suggest", "/parks/suggest", BOTH, search::suggest)
            .summary("Autocomplete: names for what has been typed so far, the best first")
            .patterns(&[&SEARCH])
            .timeout(TIMEOUT)
            .query::<SuggestForm>()
            .answers::<Suggestions>(200)
            .problems(&[problem::SEARCH_UNAVAILABLE])
            .sample(Sample::new("/parks/suggest?q=bed")),
    ]
}
