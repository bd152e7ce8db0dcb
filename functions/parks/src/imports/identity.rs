//! Which item a row is about, whatever else is wrong with the row.

use std::collections::{BTreeSet, HashMap};

use super::Format;
use super::csv::MAX_FIELDS;
use super::row::{EXTERNAL_ID, Feature, RowParser};
use super::rows::Row;

/// The limit of a reported external id, in characters. No valid one is longer.
const MAX_EXTERNAL_ID: usize = 128;

/// Which item a row is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Identity {
    /// The item with this external id.
    Item(String),
    /// None: the row has no external id, or one that no item can have.
    Nothing,
    /// It is not known, since the row or its external id cannot be read.
    Unreadable,
}

/// What is known of the rows of a file after they were counted.
#[derive(Debug, Default)]
pub struct Counted {
    pub rows: u64,
    /// Whether all rows were counted.
    pub whole: bool,
    /// The number of the first row with each external id.
    first: HashMap<String, u64>,
    /// The rows whose external id an earlier row has, in order, each with the number of that row.
    pub repeated: Vec<(u64, u64)>,
    /// The first row of which it is not known which item it is about.
    pub unreadable: Option<u64>,
    /// The mapped properties that no feature has had so far.
    pub unseen: BTreeSet<String>,
}

impl Counted {
    pub fn new(reading: &RowParser) -> Self {
        // The columns of a CSV file are compared with its header.
        let unseen = match reading.format {
            Format::Geojson => reading.options.mapping.attributes(),
            Format::Csv => BTreeSet::new(),
        };
        Self { unseen, ..Self::default() }
    }

    /// Counts a row. Not more than this number of repetitions are listed.
    pub fn add(&mut self, row: &Row, identity: Identity, max_repeated: usize) {
        self.rows += 1;
        let external_id = match identity {
            Identity::Item(external_id) => external_id,
            Identity::Nothing => return,
            Identity::Unreadable => {
                self.unreadable.get_or_insert(row.number);
                return;
            }
        };
        let first = *self.first.entry(external_id).or_insert(row.number);
        if first != row.number && self.repeated.len() < max_repeated {
            self.repeated.push((row.number, first));
        }
    }

    /// Whether a row has this external id.
    pub fn has(&self, external_id: &str) -> bool {
        self.first.contains_key(external_id)
    }
}

impl RowParser {
    /// The item of a row. Also drops the properties that a feature has from the unseen ones.
    pub fn identify(&self, row: &Row, columns: &[String], unseen: &mut BTreeSet<String>) -> Identity {
        self.identity(row, columns, unseen).unwrap_or(Identity::Unreadable)
    }

    /// The external id that a row has, if it can be read.
    pub fn external_id(&self, row: &Row, columns: &[String]) -> Option<String> {
        match self.identify(row, columns, &mut BTreeSet::new()) {
            Identity::Item(external_id) => Some(external_id),
            Identity::Nothing | Identity::Unreadable => None,
        }
    }

    fn identity(&self, row: &Row, columns: &[String], unseen: &mut BTreeSet<String>) -> Option<Identity> {
        let text = row.text.as_deref()?;
        let external_id = match self.format {
            Format::Geojson => {
                let feature: Feature = serde_json::from_slice(text).ok()?;
                let Some(properties) = feature.properties else { return Some(Identity::Nothing) };
                unseen.retain(|attribute| !properties.contains_key(attribute));
                match properties.get(self.options.mapping.attribute(EXTERNAL_ID)) {
                    None | Some(serde_json::Value::Null) => return Some(Identity::Nothing),
                    Some(external_id) => external_id.as_str()?.to_owned(),
                }
            }
            Format::Csv => {
                let place = columns.iter().position(|column| column == EXTERNAL_ID)?;
                // In a record of another length, the cell in this place may belong to another column.
                let cells =
                    row.sheet_format.cells(text, MAX_FIELDS).ok().filter(|cells| cells.len() == columns.len())?;
                cells.into_iter().nth(place)?.text
            }
        };
        let valid = !external_id.is_empty() && external_id.chars().count() <= MAX_EXTERNAL_ID;
        Some(if valid { Identity::Item(external_id) } else { Identity::Nothing })
    }
}
