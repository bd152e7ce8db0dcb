//! The rows of a file in order, from any position.

use serde::{Deserialize, Serialize};
use table::Access;
use table::objects::Blocks;
use web::Problem;

use super::csv::Csv;
use super::feature_collection::FeatureCollection;
use super::parser::{Parsed, ParserState};
use super::{Format, PREFIX, Plan};
use crate::access;
use crate::schema::BUCKET;

/// The limit of a row, which is that of a shape: 32 MiB.
const MAX_ROW_BYTES: usize = 32 * 1024 * 1024;

/// A row or feature as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Features are numbered from 1. Rows are numbered as in a spreadsheet, where the header is row 1.
    pub number: u64,
    /// None if it exceeds the limit of a row.
    pub text: Option<Vec<u8>>,
    /// The format of the file; the default one for a feature.
    pub sheet_format: sheet::Format,
}

/// A position between two rows of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FilePosition {
    offset: u64,
    /// The number of the row before.
    number: u64,
    place: ParserState,
    /// The format of a CSV file whose header has been parsed.
    #[serde(default)]
    sheet_format: sheet::Format,
}

impl FilePosition {
    /// The number of the last row before it.
    pub fn number(&self) -> u64 {
        self.number
    }
}

/// The next element of a file.
#[derive(Debug)]
pub enum Next {
    Row(Row),
    End,
    /// The rest of the file cannot be parsed, for this reason.
    Broken(String),
    /// The file is refused for the value at this JSON pointer.
    Refused(&'static str, &'static str),
}

#[derive(Debug)]
enum Reader {
    Features(FeatureCollection),
    Csv(Csv),
}

#[derive(Debug)]
pub struct Rows {
    file: Blocks,
    reader: Reader,
    number: u64,
}

impl Rows {
    pub fn new(name: String, plan: &Plan, at: &FilePosition) -> Self {
        let place = at.place.clone();
        let reader = match plan.format {
            Format::Geojson => Reader::Features(FeatureCollection::at(place)),
            Format::Csv => Reader::Csv(Csv::at(place, at.sheet_format, &plan.options)),
        };
        Self { file: Blocks::new(name, plan.bytes, at.offset), reader, number: at.number }
    }

    /// The position after the last row.
    pub fn at(&self) -> FilePosition {
        let place = match &self.reader {
            Reader::Features(features) => features.place(),
            Reader::Csv(csv) => csv.place(),
        };
        FilePosition { offset: self.file.offset(), number: self.number, place, sheet_format: self.sheet_format() }
    }

    fn sheet_format(&self) -> sheet::Format {
        match &self.reader {
            Reader::Features(_) => sheet::Format::default(),
            Reader::Csv(csv) => csv.format(),
        }
    }

    /// The number of bytes before this position.
    pub fn offset(&self) -> u64 {
        self.file.offset()
    }

    /// The columns of a CSV file whose header has been parsed.
    pub fn columns(&self) -> &[String] {
        match &self.reader {
            Reader::Features(_) => &[],
            Reader::Csv(csv) => csv.columns(),
        }
    }

    pub async fn next(&mut self, access: &Access) -> Result<Next, Problem> {
        let mut dropped = false;
        loop {
            let (rest, end) = (self.file.rest(), self.file.at_end());
            let found = match &mut self.reader {
                Reader::Features(features) => features.find(rest, end),
                Reader::Csv(csv) => csv.find(rest, end),
            };
            match found {
                Parsed::Nothing(taken) => {
                    self.number += u64::from(matches!(self.reader, Reader::Csv(_)));
                    self.file.take(taken);
                }
                Parsed::Row { begin, end, taken } => {
                    let text = (!dropped).then(|| slice(rest, begin, end).to_vec());
                    self.file.take(taken);
                    self.number += 1;
                    return Ok(Next::Row(Row { number: self.number, text, sheet_format: self.sheet_format() }));
                }
                Parsed::End => return Ok(Next::End),
                Parsed::Broken(reason) => return Ok(Next::Broken(reason)),
                Parsed::Refused { pointer, detail } => return Ok(Next::Refused(pointer, detail)),
                Parsed::More => {
                    if rest.len() > MAX_ROW_BYTES {
                        dropped = true;
                        let scanned = match &mut self.reader {
                            Reader::Features(features) => features.drop_scanned(),
                            Reader::Csv(csv) => csv.drop_scanned(),
                        };
                        self.file.take(scanned);
                    }
                    if !self.file.more(access.objects(&access::READ_IMPORT, BUCKET, PREFIX)).await? {
                        return Ok(Next::Broken("the file was deleted before all of it was read".to_owned()));
                    }
                }
            }
        }
    }
}

/// The bytes of a row in those that are loaded.
fn slice(bytes: &[u8], begin: usize, end: usize) -> &[u8] {
    bytes.get(begin..end).unwrap_or_else(|| {
        table::never!("a row from {begin} to {end} in {} bytes", bytes.len());
        &[]
    })
}
