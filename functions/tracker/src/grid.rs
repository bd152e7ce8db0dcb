//! The grid: any page of a project's issues, sorted and filtered by their columns. A walk goes through *segments* in
//! their order, each a range of the table's index or a search.

mod column;
mod filter;
mod groups;
pub mod list;
pub mod page;
pub mod query;
mod range;
mod searched;
mod segments;

#[cfg(test)]
mod properties;

pub use column::{Column, Sort};
pub use filter::{Comparison, Filter, FilterFault, Test};
pub use range::Range;
pub use searched::{clause, count};
pub use segments::{Segment, from_table};
