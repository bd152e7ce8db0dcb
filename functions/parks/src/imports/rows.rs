//! The rows of a file in order, from any of them on.

use serde::{Deserialize, Serialize};
use table::Access;
use table::objects::Blocks;
use web::Problem;

use super::csv::Csv;
use super::feature_collection::FeatureCollection;
use super::{Format, PREFIX, Plan};
use crate::access;
use crate::schema::BUCKET;

/// The largest row: 32 MiB, as the largest shape.
const LARGEST_ROW: usize = 32 * 1024 * 1024;

/// One row or feature as it stands in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Features count from 1; rows as a spreadsheet counts them, in which the header is the first.
    pub number: u64,
    /// None if it is larger than a row may be.
    pub text: Option<Vec<u8>>,
}

/// Between two rows: where the reading of a file goes on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct At {
    offset: u64,
    /// The number of the row before.
    number: u64,
    place: Place,
}

impl At {
    /// The number of the last row before it.
    pub fn number(&self) -> u64 {
        self.number
    }
}

/// What is known of the file there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Place {
    #[default]
    Start,
    /// In the list of features: whether one came, and whether the collection's type did.
    Features {
        any: bool,
        typed: bool,
    },
    /// After the list.
    Tail {
        typed: bool,
    },
    /// After the header with these columns.
    Columns(Vec<String>),
    End,
}

/// What a reader finds at the begin of what is at hand.
#[derive(Debug, PartialEq, Eq)]
pub enum Found {
    /// So many bytes hold no row.
    Nothing(usize),
    /// A row: where it begins and ends, and how many bytes it takes with what is round it.
    Row {
        begin: usize,
        end: usize,
        taken: usize,
    },
    /// It takes more than is at hand.
    More,
    End,
    /// This is no file of the format.
    Broken(String),
    /// The file is refused for what it says here, by a JSON pointer into it.
    Refused {
        pointer: &'static str,
        detail: &'static str,
    },
}

/// What comes next.
#[derive(Debug)]
pub enum Next {
    Row(Row),
    End,
    /// The file cannot be read on, for this reason.
    Broken(String),
    /// It is refused for what it says at this JSON pointer.
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
    pub fn new(name: String, plan: &Plan, at: &At) -> Self {
        let place = at.place.clone();
        let reader = match plan.format {
            Format::Geojson => Reader::Features(FeatureCollection::at(place)),
            Format::Csv => Reader::Csv(Csv::at(place, plan.unknown)),
        };
        Self { file: Blocks::new(name, plan.bytes, at.offset), reader, number: at.number }
    }

    /// Where it goes on after the last row that was given.
    pub fn at(&self) -> At {
        let place = match &self.reader {
            Reader::Features(features) => features.place(),
            Reader::Csv(csv) => csv.place(),
        };
        At { offset: self.file.offset(), number: self.number, place }
    }

    /// How many bytes lie before it.
    pub fn offset(&self) -> u64 {
        self.file.offset()
    }

    /// The columns of a CSV file, once its header was read.
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
                Found::Nothing(taken) => {
                    self.number += u64::from(matches!(self.reader, Reader::Csv(_)));
                    self.file.take(taken);
                }
                Found::Row { begin, end, taken } => {
                    let text = (!dropped).then(|| rest.get(begin..end).unwrap_or_default().to_vec());
                    self.file.take(taken);
                    self.number += 1;
                    return Ok(Next::Row(Row { number: self.number, text }));
                }
                Found::End => return Ok(Next::End),
                Found::Broken(reason) => return Ok(Next::Broken(reason)),
                Found::Refused { pointer, detail } => return Ok(Next::Refused(pointer, detail)),
                Found::More => {
                    if rest.len() > LARGEST_ROW {
                        dropped = true;
                        let scanned = match &mut self.reader {
                            Reader::Features(features) => features.drop_scanned(),
                            Reader::Csv(csv) => csv.drop_scanned(),
                        };
                        self.file.take(scanned);
                    }
                    if !self.file.more(access.objects(&access::READ_IMPORT, BUCKET, PREFIX)).await? {
                        return Ok(Next::Broken("the file is gone before all of it was read".to_owned()));
                    }
                }
            }
        }
    }
}
