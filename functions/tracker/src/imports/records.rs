//! The records of a file in order, from any of them on.

use serde::{Deserialize, Serialize};
use sheet::{Cell, Found, cells};
use table::Access;
use table::objects::Blocks;
use web::Problem;

use super::PREFIX;
use crate::access::READ_IMPORT;
use crate::schema::BUCKET;

/// The largest record: an issue has at most 380 KB.
const MAX_RECORD_BYTES: usize = 4 * 1024 * 1024;

/// The most fields of a record: more than a project has columns and a mapping names.
const MAX_FIELDS: usize = 400;

/// How many bytes of records are looked at together.
const TOGETHER: usize = 2_000_000;

/// Why an import ends whose file is not there any more.
pub const GONE: &str = "the file is gone before all of it was read";

/// One record as it stands in the file.
#[derive(Clone, Debug)]
pub struct Record {
    /// Records count from 1 after the header, which is 0.
    pub number: u64,
    /// The line on which it begins, from 1.
    pub line: u64,
    /// Its cells, or what is wrong with it.
    pub cells: Result<Vec<Cell>, String>,
    /// Of the file.
    bytes: usize,
}

/// Records that are looked at together: so many, unless they are large.
#[derive(Debug)]
pub struct Batch {
    pub records: Vec<Record>,
    most: usize,
    bytes: usize,
}

impl Batch {
    pub fn of(most: usize) -> Self {
        Self { records: Vec::new(), most, bytes: 0 }
    }

    pub fn has_room(&self) -> bool {
        self.records.len() < self.most && self.bytes < TOGETHER
    }

    pub fn push(&mut self, record: Record) {
        self.bytes += record.bytes;
        self.records.push(record);
    }
}

/// Between two records: where the reading of a file goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileOffset {
    #[serde(rename = "offset")]
    pub bytes: u64,
    /// How many line breaks lie before it.
    lines: u64,
    /// How many records, the header among them: the number of the next.
    pub records: u64,
}

/// What comes next.
#[derive(Debug)]
pub enum Next {
    Record(Record),
    End,
    /// The file cannot be read on, for this reason.
    Broken(String),
}

#[derive(Debug)]
pub struct Records {
    blocks: Blocks,
    found: sheet::Records,
    offset: FileOffset,
}

impl Records {
    /// The records of a file of so many bytes, from this place on.
    pub fn new(name: String, bytes: u64, offset: FileOffset) -> Self {
        Self { blocks: Blocks::new(name, bytes, offset.bytes), found: sheet::Records::default(), offset }
    }

    pub fn offset(&self) -> FileOffset {
        self.offset
    }

    /// The next record; empty lines are none.
    pub async fn next(&mut self, access: &Access) -> Result<Next, Problem> {
        let mut dropped = false;
        let mut begun = self.offset.lines;
        loop {
            let rest = self.blocks.rest();
            match self.found.find(rest, self.blocks.at_end()) {
                Found::Record { end, taken } => {
                    let record = rest.get(..end).unwrap_or_default();
                    let record = if self.offset.bytes == 0 { without_mark(record) } else { record };
                    let (line, breaks) = (begun + 1, line_breaks(rest.get(..taken).unwrap_or_default()));
                    let read = if dropped {
                        Err(format!("is larger than {MAX_RECORD_BYTES} bytes"))
                    } else if record.is_empty() {
                        self.took(taken, breaks);
                        begun = self.offset.lines;
                        continue;
                    } else {
                        cells(record, MAX_FIELDS)
                    };
                    let number = self.offset.records;
                    self.took(taken, breaks);
                    self.offset.records += 1;
                    return Ok(Next::Record(Record { number, line, cells: read, bytes: taken }));
                }
                Found::End => return Ok(Next::End),
                Found::Unclosed => {
                    return Ok(Next::Broken(format!("a quote of the record on line {} is never closed", begun + 1)));
                }
                Found::More => {
                    if rest.len() > MAX_RECORD_BYTES {
                        dropped = true;
                        let scanned = self.found.drop_scanned();
                        let breaks = line_breaks(rest.get(..scanned).unwrap_or_default());
                        self.took(scanned, breaks);
                    }
                    if !self.blocks.more(access.objects(&READ_IMPORT, BUCKET, PREFIX)).await? {
                        return Ok(Next::Broken(GONE.to_owned()));
                    }
                }
            }
        }
    }

    fn took(&mut self, bytes: usize, breaks: u64) {
        self.blocks.take(bytes);
        self.offset.bytes += bytes as u64;
        self.offset.lines += breaks;
    }
}

fn line_breaks(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte == b'\n').count() as u64
}

/// Spreadsheets put a byte-order mark before the first header.
fn without_mark(record: &[u8]) -> &[u8] {
    record.strip_prefix("\u{feff}".as_bytes()).unwrap_or(record)
}
