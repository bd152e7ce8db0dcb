//! Places: how they are named, listed, completed as a client types, and found from the text of a register.

pub mod autocomplete;
pub mod create;
pub mod delete;
pub mod get;
pub mod item;
pub mod list;
mod lookup;
pub mod naming;
pub mod place_text;
pub mod resolution;
pub mod resolve;
pub mod spellings;
mod typed;
pub mod update;
mod uses;
mod view;
mod word_changes;
pub mod words;

use table::access::{AccessPattern, OnTable};
use table::{Action, Changes, Condition, Error, item as attribute};
use web::{Fault, Problem};

use crate::names::PlaceId;
use crate::schema::{ARCHIVE, INDEX};
use item::{Misplaced, Place};

pub use lookup::{find, find_consistent, present, resolved};
pub use view::{PlacePath, PlaceView};

const LIST: &str = "/archive/places";
const ONE: &str = "/archive/places/{placeId}";

/// The place of the samples.
const SAMPLE: &str = "/archive/places/7000000005";

const TABLE: OnTable = OnTable("archive");

/// Places by the beginning of their full names.
pub const PLACES_BY_PREFIX: AccessPattern = AccessPattern::new("placesByPrefix", &[TABLE.query_index(INDEX)]);

/// A place by id. Its sort key follows from its name.
pub const PLACE: AccessPattern = AccessPattern::new("place", &[TABLE.query()]);

/// The places whose whole names are words of a text.
pub const PLACES_BY_NAME: AccessPattern = AccessPattern::new("placesByName", &[TABLE.batch_get(), TABLE.query()]);

/// A new place with its words, counted in its parent.
pub const CREATE_PLACE: AccessPattern =
    AccessPattern::new("createPlace", &[TABLE.query(), TABLE.batch_get(), TABLE.put(), TABLE.update(), TABLE.get()]);

/// A place with its words, and the counts of its parents. A new name may be a new key.
pub const UPDATE_PLACE: AccessPattern =
    AccessPattern::new("updatePlace", &[TABLE.query(), TABLE.batch_get(), TABLE.put(), TABLE.update(), TABLE.delete()]);

/// The deletion of a place with its words, or its replacement by another place.
pub const DELETE_PLACE: AccessPattern = AccessPattern::new(
    "deletePlace",
    &[TABLE.query(), TABLE.batch_get(), TABLE.update(), TABLE.delete(), TABLE.check()],
);

/// The largest body of a place in bytes: room for all alternative names in any script, also
/// escaped.
const MAX_BODY: usize = 1024 * 1024;

/// The most alternative names that change in one request, since a transaction has at most 100 actions.
pub const MAX_CHANGED_NAMES: usize = 90;

/// Returns the action that counts children in a parent, which must have kept its name and not been replaced.
pub fn count_children(parent: &Place, change: i64) -> Result<Action, Error> {
    let key = parent.key().ok_or_else(|| Error::Misfit(format!("place {} has no name", parent.id)))?;
    let update = Action::update(&ARCHIVE, key, Changes::new().add("childCount", change));
    let same_name = Condition::Equals("fullName", attribute::text(&parent.full_name));
    Ok(update.when(same_name).when(Condition::Absent("replacedBy")))
}

/// 422 for a parent that does not exist.
fn unknown_parent(id: PlaceId) -> Problem {
    Problem::unprocessable(vec![Fault::pointer("/parentId", format!("names the place {id}, which does not exist"))])
}

/// 422 for a name or parent that does not fit what is stored.
fn misplaced(misplaced: Misplaced) -> Problem {
    let at = if misplaced == Misplaced::TooDeep { "/parentId" } else { "/name" };
    Problem::unprocessable(vec![Fault::pointer(at, misplaced.detail())])
}

/// 422 for more names than one transaction can change.
fn too_many_names(count: usize) -> Problem {
    let detail = format!("changes {count} names; change at most {MAX_CHANGED_NAMES} at once");
    Problem::unprocessable(vec![Fault::pointer("/altNames", detail)])
}

/// Converts the failure of a transaction. Another request has changed the place, its parent or its words meanwhile.
fn of_transaction(error: Error) -> Problem {
    match error {
        Error::ConditionFailed(_) => Problem::lost_race(),
        error => error.into(),
    }
}
