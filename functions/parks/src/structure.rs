//! Changes of structure: what becomes of relationships, and of what lies below an item, when it is shown, hidden,
//! deleted, restored or gets another type.
//!
//! Indexes lag, so what they show is proved in the transaction that acts on it: each counter tells how many there are,
//! and its revision that none has come or gone since.

pub mod counters;
mod plan;
mod related;
mod restore;
mod show;
mod take;
pub mod work;

use table::Error;
use web::{Kind, Problem};

pub use plan::{MOST, Plan, as_read};
pub use related::{Relationships, relationships};
pub use restore::{back_first, restoration};
pub use show::{Visibility, visibility};
pub use take::{deleted, deletion};

/// How many of the items that go or come together are read side by side.
const SIDE_BY_SIDE: usize = 8;

/// A job is still at work on the item or below it.
pub const BUSY: Kind = Kind::new(409, "busy", "A job is still at work on it");

/// More goes along than one transaction can do.
pub const TOO_MANY: Kind = Kind::new(409, "too-many-dependents", "Too many things depend on it");

/// What is told when others kept changing what hangs together with an item.
pub fn unsettled(error: Error) -> Problem {
    match error {
        Error::ConditionFailed(_) => Problem::conflict(),
        error => error.into(),
    }
}
