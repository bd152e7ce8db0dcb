//! A records archive: volunteers upload transcribed registers, and the public searches the people in them.

pub mod access;
pub mod audit;
pub mod authorization;
pub mod catalog_search;
pub mod categories;
pub mod category_use;
pub mod collections;
pub mod dates;
pub mod documents;
mod events;
mod fitting;
pub mod fold;
pub mod gazetteer;
mod hidden;
pub mod households;
pub mod item;
mod jobs;
pub mod keys;
mod listed;
pub mod mapping;
pub mod names;
mod particles;
pub mod person;
pub mod person_names;
pub mod places;
pub mod posts;
mod publishing;
pub mod record;
pub mod records;
pub mod register;
pub mod relatives;
pub mod reports;
mod routes;
pub mod runs;
pub mod schema;
pub mod search;
pub mod sequence;
pub mod settings;
mod typos;
pub mod users;
mod viewer;
mod word_search;

use std::sync::Arc;

use table::Engines;
use web::App;

pub use schema::SYSTEM;

/// The whole system: its routes and event handlers on these engines.
pub fn app(engines: Arc<Engines>) -> App {
    mirror::health(App::new(engines, &SYSTEM, routes::all(), events::handlers()), &[&access::HEALTH])
}
