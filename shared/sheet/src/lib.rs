//! CSV (RFC 4180) as spreadsheets write and read it, without IO: the records of a file that is read in pieces, the
//! cells of a record, and cells that a spreadsheet does not evaluate as formulas.

mod cells;
mod formula;
mod records;
mod write;

pub use cells::{Cell, cells};
pub use formula::{guarded, unguarded};
pub use records::{Found, Records};
pub use write::write;
