//! The records of a file in order, from an offset.

use serde::{Deserialize, Serialize};
use sheet::{Cell, Format, Found};
use table::Access;
use table::objects::Blocks;
use web::Problem;

use super::{ImportParams, PREFIX};
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

/// The first bytes of a zip archive, which a workbook is.
const ZIP: &[u8] = b"PK\x03\x04";

const IS_ZIP: &str = "it is a zip archive or a workbook; save the sheet as CSV and upload that";

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
    /// None at the start of the file.
    format: Option<Format>,
    found: sheet::Records,
    offset: FileOffset,
}

impl Records {
    /// The records of an import's file, from an offset.
    pub fn new(name: String, params: &ImportParams, offset: FileOffset) -> Self {
        let found = sheet::Records::of(params.format.unwrap_or_default());
        Self { blocks: Blocks::new(name, params.bytes, offset.bytes), format: params.format, found, offset }
    }

    /// The format of the file, after its first record was read.
    pub fn format(&self) -> Option<Format> {
        self.format
    }

    pub fn offset(&self) -> FileOffset {
        self.offset
    }

    /// Reads the next record. Empty lines, and lines with only empty cells, are no records.
    pub async fn next(&mut self, access: &Access) -> Result<Next, Problem> {
        let format = match self.format {
            Some(format) => format,
            None => {
                if !self.more(access).await? {
                    return Ok(Next::Broken(GONE.to_owned()));
                }
                if self.blocks.rest().starts_with(ZIP) {
                    return Ok(Next::Broken(IS_ZIP.to_owned()));
                }
                let format = Format::of(self.blocks.rest(), self.blocks.at_end());
                (self.format, self.found) = (Some(format), sheet::Records::of(format));
                format
            }
        };
        let mut dropped = false;
        let mut lines = self.offset.lines;
        loop {
            let rest = self.blocks.rest();
            match self.found.find(rest, self.blocks.at_end()) {
                Found::Record { end, taken } => {
                    let (record, all) = (prefix(rest, end)?, prefix(rest, taken)?);
                    let record = if self.offset.bytes == 0 { format.without_mark(record) } else { record };
                    let (line, breaks) = (lines + 1, format.line_breaks(all));
                    let read = if dropped {
                        Err(format!("is larger than {MAX_RECORD_BYTES} bytes"))
                    } else {
                        format.cells(record, MAX_FIELDS)
                    };
                    if read.as_ref().is_ok_and(|cells| cells.iter().all(|cell| cell.text.trim().is_empty())) {
                        self.advance(taken, breaks);
                        lines = self.offset.lines;
                        continue;
                    }
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
                        let breaks = format.line_breaks(prefix(rest, scanned)?);
                        self.advance(scanned, breaks);
                    }
                    if !self.more(access).await? {
                        return Ok(Next::Broken(GONE.to_owned()));
                    }
                }
            }
        }
    }

    /// Reads a further block. False if the file is gone.
    async fn more(&mut self, access: &Access) -> Result<bool, Problem> {
        Ok(self.blocks.more(access.objects(&READ_IMPORT, BUCKET, PREFIX)).await?)
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
