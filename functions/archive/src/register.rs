//! Reading registers: from the bytes of an uploaded CSV file to its rows and their problems.
//!
//! [`inspect()`] decides what a file is: its encoding, its delimiter and its headers. A [`Reader`] then reads the file in
//! pieces. However the file is divided, and whatever it contains, the reader gives the same events and holds no more
//! than one row.

mod cells;
mod delimiter;
mod encoding;
mod header;
mod inspect;
mod problem;
mod problems;
mod reader;
pub mod report;
mod row;
mod scan;

pub use delimiter::Delimiter;
pub use encoding::Encoding;
pub use header::Header;
pub use inspect::{CsvOptions, Inspection, Inspector, Refusal, inspect};
pub use problem::{Code, Column, Problem, Severity};
pub use problems::Problems;
pub use reader::{Event, Format, MAX_BUFFERED, Reader};
pub use row::{Cell, Digest, Row};

/// The largest file in bytes: 50 MB.
pub const MAX_FILE_BYTES: u64 = 50_000_000;

/// The largest number of data rows. Rows of empty cells are not counted.
pub const MAX_ROWS: u32 = 100_000;

/// The largest number of columns.
pub const MAX_COLUMNS: usize = 100;

/// The largest number of characters in a cell, without blanks around them.
pub const MAX_CELL_CHARS: usize = 10_000;

/// The largest number of bytes in the cells of a row as UTF-8, without blanks around them: 32 KB.
pub const MAX_ROW_BYTES: usize = 32 * 1024;
