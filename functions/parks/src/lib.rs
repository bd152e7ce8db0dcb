//! Reference data of parks with geospatial search: collections, geozones, facilities and activities with their boundaries,
//! and products with the days on which they are open.

pub mod access;
pub mod audit;
pub mod cascade;
pub mod checks;
pub mod dates;
pub mod days;
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
pub mod open_days;
pub mod patch;
pub mod relationships;
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
    mirror::health(App::new(engines, &SYSTEM, routes::all(), events::handlers()), &[&access::HEALTH])
}
