//! The routes of parks, a file for each kind of thing that they are about.

mod activities;
mod collections;
mod dates;
mod each_kind;
mod facilities;
mod geometries;
mod geozones;
mod imports;
mod items;
mod jobs;
mod products;
mod relationships;
mod search;

use web::{Route, Who};

use crate::view::ADMINISTRATOR;

/// All routes of the system, in the order in which the docs and the API description have them.
pub fn all() -> Vec<Route> {
    [
        collections::routes(),
        geozones::routes(),
        facilities::routes(),
        activities::routes(),
        products::routes(),
        dates::routes(),
        items::routes(),
        relationships::routes(),
        geometries::routes(),
        search::routes(),
        imports::routes(),
        jobs::routes(),
    ]
    .concat()
}

/// Anyone; administrators get their own view.
const BOTH: Who = Who::Views { fuller: ADMINISTRATOR };
const ADMINISTRATORS: Who = Who::Role(ADMINISTRATOR);

/// The largest body that carries a shape: 4 MiB.
const WITH_SHAPES: usize = 4 * 1024 * 1024;

/// GeoJSON as a body.
const GEOJSON_BODIES: &[&str] = &["application/geo+json", "application/json"];
