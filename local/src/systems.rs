//! The list of the platform's systems.

use agencies::documents::Agencies;
use archive::documents::Archive;
use chat::documents::Chat;
use parks::documents::Parks;
use shelf::documents::Shelf;
use tracker::documents::Tracker;

use crate::platform::Served;

/// All systems, in the order of the docs.
pub const ALL: &[Served] = &[
    Served::of::<Parks>(&parks::SYSTEM, parks::app),
    Served::of::<Agencies>(&agencies::SYSTEM, agencies::app),
    Served::of::<Tracker>(&tracker::SYSTEM, tracker::app),
    Served::of::<Archive>(&archive::SYSTEM, archive::app),
    Served::of::<Chat>(&chat::SYSTEM, chat::app),
    Served::of::<Shelf>(&shelf::schema::SYSTEM, shelf::app).example(),
];

/// Returns the system with this name.
pub fn named(name: &str) -> Option<&'static Served> {
    ALL.iter().find(|served| served.system.name == name)
}
