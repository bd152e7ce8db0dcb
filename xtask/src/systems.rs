//! The systems of the platform: their declarations, on engines without connections, and what this tool needs of each.

mod shelf;

use std::sync::Arc;

use local::Served;
use serde_json::Value;
use table::{Clock, Config, Engines};
use web::App;

use crate::deployed::smoke::{self, Smoke};
use crate::failure::Failure;
use crate::rehearsal::Step;
use crate::{records, rehearsal};

/// A system, and writes to its tables that show its mirror at work.
pub struct Declared {
    pub app: App,
    /// The role in tokens of somebody who may do everything in it.
    pub role: &'static str,
    /// Sample stream records for its mirror.
    pub records: Vec<Value>,
    /// An order in which all its sample events succeed.
    pub rehearsal: &'static [Step],
    /// An operation that finds items after the rehearsal, and an action that it needs.
    pub denied: (&'static str, &'static str),
    /// The smoke test of a deployment.
    pub smoke: Smoke,
}

/// Returns all systems, in the order of the docs.
pub fn all() -> Vec<Declared> {
    let config = Config::new(records::REGION, "");
    let engines = Engines::new(config, Clock::system());
    let parks = Declared {
        app: parks::app(Arc::clone(&engines)),
        role: "parks-admin",
        records: records::parks::records(),
        rehearsal: rehearsal::parks::STEPS,
        denied: ("getCollection", "dynamodb:GetItem"),
        smoke: |stage, stranger| Box::pin(smoke::parks::run(stage, stranger)),
    };
    let agencies = Declared {
        app: agencies::app(Arc::clone(&engines)),
        role: agencies::authorization::PLATFORM_ADMIN,
        records: records::agencies::records(),
        rehearsal: rehearsal::agencies::STEPS,
        denied: ("listAgencies", "dynamodb:Query"),
        smoke: |stage, stranger| Box::pin(smoke::agencies::run(stage, stranger)),
    };
    let tracker = Declared {
        app: tracker::app(Arc::clone(&engines)),
        role: tracker::PLATFORM_ADMIN,
        records: records::tracker::records(),
        rehearsal: rehearsal::tracker::STEPS,
        denied: ("listTenants", "dynamodb:Query"),
        smoke: |stage, stranger| Box::pin(smoke::tracker::run(stage, stranger)),
    };
    let archive = Declared {
        app: archive::app(Arc::clone(&engines)),
        role: archive::authorization::ADMINISTRATOR,
        records: records::archive::records(),
        rehearsal: rehearsal::archive::STEPS,
        denied: ("listCategories", "dynamodb:Query"),
        smoke: |stage, stranger| Box::pin(smoke::archive::run(stage, stranger)),
    };
    let chat = Declared {
        app: chat::app(Arc::clone(&engines)),
        role: chat::users::ADMIN,
        records: records::chat::records(),
        rehearsal: rehearsal::chat::STEPS,
        denied: ("getMe", "dynamodb:GetItem"),
        smoke: |stage, stranger| Box::pin(smoke::chat::run(stage, stranger)),
    };
    vec![parks, agencies, tracker, archive, chat, shelf::declared(engines)]
}

/// Returns the folder of a system's crate, from the repository's root.
pub fn folder(system: &str) -> String {
    local::systems::named(system).map(Served::folder).unwrap_or_default()
}

/// Returns whether a system only shows how a system is written.
pub fn is_example(system: &str) -> bool {
    local::systems::named(system).is_some_and(|served| served.is_example)
}

/// Returns the named systems, or all if there are no names.
pub fn named(names: &[String]) -> Result<Vec<Declared>, Failure> {
    names.iter().try_for_each(|name| one(name).map(drop))?;
    let mut systems = all();
    systems.retain(|declared| names.is_empty() || names.iter().any(|name| name == declared.app.system().name));
    Ok(systems)
}

/// Returns the system with this name.
pub fn one(name: &str) -> Result<Declared, Failure> {
    let mut systems = all();
    let Some(place) = systems.iter().position(|known| known.app.system().name == name) else {
        let known: Vec<&str> = systems.iter().map(|known| known.app.system().name).collect();
        return Err(Failure::new(format!("there is no system `{name}`; use one of {}", known.join(", "))));
    };
    Ok(systems.swap_remove(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_have_no_contradictions() {
        for declared in all() {
            assert_eq!(declared.app.misdeclared(), Vec::<String>::new());
        }
    }
}
