//! The deletion of a user. The request marks the user and removes all personal data from the item; a job removes what else
//! belongs to the user. Messages stay under the id, and the username stays taken.

pub mod delete_me;
mod owned;
mod worker;

pub use worker::DeleteUser;

use serde::{Deserialize, Serialize};
use table::Position;

use crate::names::PictureId;

/// How far the deletion has come: the checkpoint of its job.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Progress {
    /// The pictures that the item of the user had.
    pictures: Vec<PictureId>,
    part: Part,
    /// The position in the list of the part.
    after: Option<Position>,
    /// When the deletion fails if no community is left before, in seconds since 1970. 0 if it has not waited.
    #[serde(default)]
    waits_until: i64,
    /// Whether this is the second time that all parts are gone through.
    again: bool,
}

/// A part of what belongs to a user, in the order of the deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Part {
    Sessions,
    Files,
    PrivateChats,
    Requests,
    Notifications,
    Communities,
    Feed,
    Counters,
}

impl Progress {
    /// The first checkpoint.
    fn first(pictures: Vec<PictureId>) -> Self {
        Self { pictures, part: Part::Sessions, after: None, waits_until: 0, again: false }
    }
}
