//! `/parks/items/{globalId}`.

use web::{Route, Sample, problem};

use super::BOTH;
use crate::access::{BY_GLOBAL_ID, READ_SHAPE};
use crate::geojson::{CONTENT_TYPE, Feature};
use crate::items::read::{self, GlobalIdPath, ItemQuery};
use crate::shapes::GEOMETRY_UNAVAILABLE;
use crate::view::ItemView;

pub fn routes() -> Vec<Route> {
    vec![
        Route::get("getItem", "/parks/items/{globalId}", BOTH, read::get_by_global_id)
            .summary("Gets an item by its global id")
            .patterns(&[&BY_GLOBAL_ID, &READ_SHAPE])
            .path::<GlobalIdPath>()
            .query::<ItemQuery>()
            .if_none_match()
            .answers::<ItemView>(200)
            .answers_as::<Feature>(200, CONTENT_TYPE)
            .answers_empty(304)
            .problems(&[problem::NOT_FOUND, GEOMETRY_UNAVAILABLE])
            .sample(Sample::new("/parks/items/01890a5d-ac96-774b-bcce-b302099a8057").expects(404)),
    ]
}
