//! Cascades: what happens to the relationships and the children of an item that is shown, hidden, deleted, restored or
//! retyped.
//!
//! Indexes lag behind the table, so a transaction also asserts the counter of what it has read from an index: the count
//! says how many there are, and its revision that none was added or removed since.

pub mod counters;
mod delete;
pub mod job;
mod relationships;
mod restore;
mod transaction;
mod visibility;

use table::{Cause, Error};
use web::{Kind, Problem};

pub use delete::{delete_with_children, deleted};
pub use relationships::{
    PagePosition, RelationshipPages, Relationships, relationships, relationships_up_to, relationships_within,
};
pub use restore::{restore_alone, restore_with_children};
pub use transaction::{MAX_ACTIONS, TransactionBuilder, check_visibility};
pub use visibility::{Visibility, set_visibility};

/// The number of items that are read concurrently.
const CONCURRENCY: usize = 8;

pub const BUSY: Kind = Kind::new(409, "busy", "A job is changing the item");

pub const TOO_MANY: Kind = Kind::new(409, "too-many-dependents", "The item has too many dependents");

/// Whether a transaction failed because the item of its first action has changed since it was read.
pub fn is_stale(error: &Error) -> bool {
    error.failed(0).is_some_and(|failed| failed.cause == Cause::Stale)
}

/// The problem of a failed transaction whose first action is on the item of the request: 412 if another request has
/// changed that item, a lost race if another request has changed another item of the transaction.
pub fn refusal(error: Error) -> Problem {
    match error {
        error if is_stale(&error) => Problem::stale(),
        Error::ConditionFailed(_) => Problem::lost_race(),
        error => error.into(),
    }
}
