//! The records of a file in order, from an offset.

use serde::{Deserialize, Serialize};
use sheet::{Cell, Found, cells};
use table::Access;
use table::objects::Blocks;
use web::Problem;

use super::PREFIX;
use crate::access::READ_IMPORT;
use crate::schema::BUCKET;

/// Bytes of a record. An issue has at most 380 KB.
const MAX_RECORD_BYTES: usize = 4 * 1024 * 1024;

/// Fields of a record: more than the columns of a project and of a mapping.
const MAX_FIELDS: usize = 400;

/// Bytes of the records of a batch.
const MAX_BATCH_BYTES: usize = 2_000_000;

/// The reason of an import whose file has expired.
pub const GONE: &str = "the file was deleted before all of it was read";

/// A record of a file before parsing.
#[derive(Clone, Debug)]
pub struct Record {
    /// The number of the record from 1. The header is 0.
    pub number: u64,
    /// The line on which it starts, from 1.
    pub line: u64,
    /// Its cells, or its fault.
    pub cells: Result<Vec<Cell>, String>,
    /// Its size in the file.
    bytes: usize,
}

/// Records that are processed together, limited by their number and their bytes.
#[derive(Debug)]
pub struct Batch {
    pub records: Vec<Record>,
    max_records: usize,
    bytes: usize,
}

impl Batch {
    pub fn of(max_records: usize) -> Self {
        Self { records: Vec::new(), max_records, bytes: 0 }
    }

    pub fn has_room(&self) -> bool {
        self.records.len() < self.max_records && self.bytes < MAX_BATCH_BYTES
    }

    pub fn push(&mut self, record: Record) {
        self.bytes += record.bytes;
        self.records.push(record);
    }
}

/// The offset of the next record of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileOffset {
    #[serde(rename = "offset")]
    pub bytes: u64,
    /// The number of line breaks before it.
    lines: u64,
    /// The number of records before it, including the header; so the number of the next record.
    pub records: u64,
}

/// The next part of a file.
#[derive(Debug)]
pub enum Next {
    Record(Record),
    End,
    /// The rest of the file cannot be read, for this reason.
    Broken(String),
}

#[derive(Debug)]
pub struct Records {
    blocks: Blocks,
    found: sheet::Records,
    offset: FileOffset,
}

impl Records {
    /// The records of a file of this size, from an offset.
    pub fn new(name: String, bytes: u64, offset: FileOffset) -> Self {
        Self { blocks: Blocks::new(name, bytes, offset.bytes), found: sheet::Records::default(), offset }
    }

    pub fn offset(&self) -> FileOffset {
        self.offset
    }

    /// Reads the next record. Empty lines are no records.
    pub async fn next(&mut self, access: &Access) -> Result<Next, Problem> {
        let mut dropped = false;
        let mut lines = self.offset.lines;
        loop {
            let rest = self.blocks.rest();
            match self.found.find(rest, self.blocks.at_end()) {
                Found::Record { end, taken } => {
                    let (record, all) = (prefix(rest, end)?, prefix(rest, taken)?);
                    let record = if self.offset.bytes == 0 { without_mark(record) } else { record };
                    let (line, breaks) = (lines + 1, line_breaks(all));
                    let read = if dropped {
                        Err(format!("is larger than {MAX_RECORD_BYTES} bytes"))
                    } else if record.is_empty() {
                        self.advance(taken, breaks);
                        lines = self.offset.lines;
                        continue;
                    } else {
                        cells(record, MAX_FIELDS)
                    };
                    let number = self.offset.records;
                    self.advance(taken, breaks);
                    self.offset.records += 1;
                    return Ok(Next::Record(Record { number, line, cells: read, bytes: taken }));
                }
                Found::End => return Ok(Next::End),
                Found::Unclosed => {
                    return Ok(Next::Broken(format!("a quote of the record on line {} is never closed", lines + 1)));
                }
                Found::More => {
                    if rest.len() > MAX_RECORD_BYTES {
                        dropped = true;
                        let scanned = self.found.drop_scanned();
                        let breaks = line_breaks(prefix(rest, scanned)?);
                        self.advance(scanned, breaks);
                    }
                    if !self.blocks.more(access.objects(&READ_IMPORT, BUCKET, PREFIX)).await? {
                        return Ok(Next::Broken(GONE.to_owned()));
                    }
                }
            }
        }
    }

    fn advance(&mut self, bytes: usize, breaks: u64) {
        self.blocks.take(bytes);
        self.offset.bytes += bytes as u64;
        self.offset.lines += breaks;
    }
}

/// The first bytes of a block. The reader finds no record beyond it.
fn prefix(block: &[u8], bytes: usize) -> Result<&[u8], Problem> {
    block.get(..bytes).ok_or_else(|| {
        table::never!("a record of {bytes} bytes in {}", block.len());
        Problem::internal("a record ends after its block")
    })
}

fn line_breaks(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte == b'\n').count() as u64
}

/// The record without the byte-order mark that spreadsheets put before the first header.
fn without_mark(record: &[u8]) -> &[u8] {
    record.strip_prefix("\u{feff}".as_bytes()).unwrap_or(record)
}
