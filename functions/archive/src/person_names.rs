//! The names of people in search: the terms that a stored name yields, and the clauses of a query for a name.
//!
//! A stored name has three fields for each part, given names and surname: its certain words, its uncertain readings and
//! the sounds of both. A query has words, and each word matches in tiers: a tier is a test of one of these fields, with a
//! fixed number of points. The score of a name depends on its own terms alone, never on other documents.

mod asked;
mod particles;
mod reading;
mod related;
mod sounds;
mod terms;
mod tier;

pub use asked::{AskedName, Matching};
pub use terms::{NameFields, NameTerms, Part};
pub use tier::Tier;
