//! CSV (RFC 4180) as spreadsheets write and read it, without any IO: records of a file that comes in pieces, the cells of
//! a record, and cells that no spreadsheet takes for a formula.

mod cells;
mod formula;
mod records;
mod write;

pub use cells::{Cell, cells};
pub use formula::{guarded, unguarded};
pub use records::{Found, Records};
pub use write::write;
