//! Park reference data with geospatial discovery: collections, geozones and facilities with their boundaries, by HTTP
//! into DynamoDB and, through the mirror, into search.

pub mod access;
pub mod change;
pub mod checks;
pub mod dependents;
pub mod documents;
pub mod entity;
mod events;
pub mod external_id;
pub mod fields;
pub mod geojson;
pub mod imports;
pub mod item;
pub mod items;
pub mod jobs;
pub mod keys;
pub mod names;
mod notification;
pub mod routes;
pub mod schema;
pub mod search;
pub mod shapes;
pub mod uploads;
pub mod view;

use std::sync::Arc;

use table::Engines;
use web::App;

pub use schema::SYSTEM;

/// The whole system: its routes and event handlers on these engines.
pub fn app(engines: Arc<Engines>) -> App {
    App::new(engines, &SYSTEM, routes::all(), events::handlers())
}
