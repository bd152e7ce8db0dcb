//! The list of the platform's systems.

use agencies::documents::Agencies;
use archive::documents::Archive;
use chat::documents::Chat;
use parks::documents::Parks;
use shelf::documents::Shelf;
use tracker::documents::Tracker;

use crate::platform::Served;

/// The systems that can be deployed, in the order of the docs.
pub const ALL: &[Served] = &[
    Served::of::<Parks>(&parks::SYSTEM, parks::app),
    Served::of::<Agencies>(&agencies::SYSTEM, agencies::app),
    Served::of::<Tracker>(&tracker::SYSTEM, tracker::app),
    Served::of::<Archive>(&archive::SYSTEM, archive::app),
    Served::of::<Shelf>(&shelf::schema::SYSTEM, shelf::app).example(),
];

/// The systems that run on one machine only. They have no templates, sample events and measured costs yet.
pub const PREVIEWS: &[Served] = &[Served::of::<Chat>(&chat::SYSTEM, chat::app)];

/// Returns all systems, previews last.
pub fn served() -> Vec<Served> {
    ALL.iter().chain(PREVIEWS).copied().collect()
}

/// Returns the system with this name.
pub fn named(name: &str) -> Option<&'static Served> {
    ALL.iter().chain(PREVIEWS).find(|served| served.system.name == name)
}

/// Whether the system with this name can be deployed.
pub fn is_deployable(name: &str) -> bool {
    ALL.iter().any(|served| served.system.name == name)
}
