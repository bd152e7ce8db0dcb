//! Communities and their group chats, private chats, and live messages.

pub mod access;
pub mod audit;
pub mod caller;
mod chat_badges;
pub mod communities;
pub mod documents;
pub mod erasure;
mod events;
pub mod exports;
pub mod group_chats;
pub mod issuer;
pub mod jobs;
pub mod keys;
pub mod live;
pub mod locations;
pub mod me;
pub mod messages;
mod moderators;
pub mod names;
pub mod notifications;
pub mod password_resets;
pub mod passwords;
pub mod people;
mod people_of_page;
pub mod pictures;
pub mod places;
pub mod private_chats;
pub mod rates;
pub mod reactions;
pub mod reading;
pub mod reports;
pub mod requests;
mod retention;
mod routes;
pub mod schema;
mod search;
pub mod sessions;
mod texts;
mod usernames;
pub mod users;

use std::sync::Arc;

use table::Engines;
use web::App;

pub use schema::SYSTEM;

/// The whole system: its routes and event handlers on these engines.
pub fn app(engines: Arc<Engines>) -> App {
    let has_own_login = engines.config.own_login;
    let app = mirror::health(App::new(engines, &SYSTEM, routes::all(), events::handlers()), &[&access::HEALTH])
        .limits(rates::ALL);
    if has_own_login { app.issuing(issuer::OWN) } else { app }
}
