//! CSV (RFC 4180) as spreadsheets write and read it, without IO: the format of a file, its records while it is read in
//! pieces, the cells of a record, and cells that a spreadsheet does not evaluate as formulas.

mod cells;
mod format;
mod formula;
mod records;
mod write;

pub use cells::Cell;
pub use format::Format;
pub use formula::{guarded, unguarded};
pub use records::{Found, Records};
pub use write::write;
