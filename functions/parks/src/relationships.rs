//! Relationships: two items that belong together, whichever of them is asked.

mod end;
mod list;
mod one;
mod stored;

pub use end::End;
pub use list::{Direction, Related, RelationshipsPath, RelationshipsQuery, list};
pub use one::{RelationshipPath, RelationshipQuery, RelationshipView, get, relate, unrelate};
pub use stored::{Joined, NOT_ALLOWED, Pair, Relationship};
