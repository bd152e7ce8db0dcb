//! Issues of teams, in projects with custom attributes, and a grid that is sorted and filtered by any of them.

pub mod access;
mod attributes;
pub mod audit;
mod authorization;
mod by_name;
mod changes;
pub mod documents;
mod events;
mod exports;
mod grid;
mod imports;
mod issues;
pub mod items;
mod jobs;
pub mod keys;
pub mod listed;
mod members;
pub mod names;
pub mod options;
mod people;
pub mod project;
mod projects;
mod routes;
pub mod rows;
pub mod schema;
mod search;
mod tenants;
pub mod values;
mod views;

use std::sync::Arc;

use table::Engines;
use web::App;

pub use authorization::PLATFORM_ADMIN;
pub use schema::SYSTEM;

/// The whole system: its routes and event handlers on these engines.
pub fn app(engines: Arc<Engines>) -> App {
    mirror::health(App::new(engines, &SYSTEM, routes::all(), events::handlers()), &[&access::HEALTH])
}
