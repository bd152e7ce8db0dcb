//! Agencies and their members: who belongs to which, in which role, and who is invited. A member sees its own agencies,
//! the platform's administrators see all, and nobody else learns that an agency exists.

pub mod access;
pub mod address;
pub mod agencies;
pub mod costs;
pub mod documents;
mod events;
pub mod invitations;
pub mod item;
pub mod keys;
pub mod members;
pub mod names;
pub mod people;
pub mod routes;
pub mod schema;
pub mod search;
pub mod standing;

use std::sync::Arc;

use table::Engines;
use web::App;

pub use schema::SYSTEM;

/// The whole system: its routes and event handlers on these engines.
pub fn app(engines: Arc<Engines>) -> App {
    // In the index of people, what is named by `address` is an invitation. `CAIRN_ISSUERS` is refused with such a name;
    // an issuer that code configures so is not trusted.
    let issuers = engines.config.issuers.iter().map(|issuer| issuer.name.clone());
    let issuers: Vec<String> = issuers.filter(|name| name != keys::ADDRESS).collect();
    let trusted: Vec<&str> = issuers.iter().map(String::as_str).collect();
    App::new(engines, &SYSTEM, routes::all(), events::handlers()).trusting(&trusted)
}
