//! Agencies, their members with a role each, and invitations. Members see their own agencies and platform administrators
//! see all; to other callers an agency is absent.

pub mod access;
pub mod address;
pub mod agencies;
pub mod audit;
pub mod authorization;
mod change_events;
pub mod documents;
mod events;
pub mod invitations;
pub mod item;
pub mod jobs;
pub mod keys;
pub mod members;
pub mod names;
pub mod people;
pub mod routes;
pub mod schema;
pub mod search;

use std::sync::Arc;

use table::Engines;
use web::App;

pub use schema::SYSTEM;

/// The whole system: its routes and event handlers on these engines.
pub fn app(engines: Arc<Engines>) -> App {
    // The index of people lists invitations under the issuer's name `address`. `CAIRN_ISSUERS` refuses that name, and an
    // issuer that code configures with it is not trusted.
    let issuers = engines.config.issuers.iter().map(|issuer| issuer.name.clone());
    let issuers: Vec<String> = issuers.filter(|name| name != keys::ADDRESS).collect();
    let trusted: Vec<&str> = issuers.iter().map(String::as_str).collect();
    mirror::health(App::new(engines, &SYSTEM, routes::all(), events::handlers()), &[&access::HEALTH]).trusting(&trusted)
}
