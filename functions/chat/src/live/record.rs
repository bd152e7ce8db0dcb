//! Records of the tables' streams, as Lambda delivers them.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use table::schema::{System, Table};
use table::{Config, Error, Item, Key, item};
use web::EventFailure;

use crate::names::Millisecond;

/// The change of an item.
#[derive(Clone, Debug)]
pub struct Record {
    /// The sequence number, by which a failure is reported.
    pub sequence: String,
    pub table: &'static Table,
    pub key: Key,
    pub old: Option<Item>,
    pub new: Option<Item>,
    /// When the stream received the change.
    pub received: Millisecond,
}

#[derive(Deserialize)]
struct Sent {
    #[serde(rename = "Records")]
    records: Vec<SentRecord>,
}

#[derive(Deserialize)]
struct SentRecord {
    #[serde(rename = "eventSourceARN")]
    source: String,
    dynamodb: Change,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Change {
    keys: serde_dynamo::Item,
    old_image: Option<serde_dynamo::Item>,
    new_image: Option<serde_dynamo::Item>,
    sequence_number: String,
    /// Seconds since 1970.
    approximate_creation_date_time: f64,
}

/// Reads the records of an event, without those of tables that are not the system's.
pub fn records(payload: &[u8], system: &System, config: &Config) -> Result<Vec<Record>, EventFailure> {
    let sent: Sent = serde_json::from_slice(payload).map_err(|error| {
        let (line, column) = (error.line(), error.column());
        // The error may have a value of the payload.
        EventFailure::new(format_args!("not a DynamoDB stream event: fault at line {line}, column {column}"))
    })?;
    let tables: Vec<_> = system.tables.iter().map(|&table| (config.table(table.name), table)).collect();
    let record = |sent: SentRecord| {
        let (_, name) = sent.source.split_once(":table/")?;
        let (name, _) = name.split_once("/stream/")?;
        let (_, table) = tables.iter().find(|(physical, _)| physical == name)?;
        let Change { keys, old_image, new_image, sequence_number, approximate_creation_date_time } = sent.dynamodb;
        Some(Record {
            sequence: sequence_number,
            table,
            key: item::key(table, &keys.into())?,
            old: old_image.map(Into::into),
            new: new_image.map(Into::into),
            received: Millisecond::at((approximate_creation_date_time * 1000.0) as i64)?,
        })
    };
    Ok(sent.records.into_iter().filter_map(record).collect())
}

impl Record {
    /// Returns the revision of the change. A removal comes after the last revision.
    pub fn rev(&self) -> u64 {
        let number = |item: &Item| item::rev(item).map_or(0, table::Rev::number);
        match (&self.new, &self.old) {
            (Some(new), _) => number(new),
            (None, Some(old)) => number(old) + 1,
            (None, None) => 0,
        }
    }

    /// Returns the key of the change's events, by which clients recognise one that is delivered again.
    pub fn event_key(&self) -> String {
        format!("{}@{}", self.key.document_id(), self.rev())
    }

    /// Returns the time of the change: that of the revision, which is the same in each delivery.
    pub fn time(&self) -> Millisecond {
        let rev = self.new.as_ref().and_then(item::rev);
        let millis = rev.and_then(|rev| i64::try_from(rev.number() / 2000).ok());
        millis.and_then(Millisecond::at).unwrap_or(self.received)
    }

    /// Reads the image before the change.
    pub fn read_old<T: DeserializeOwned>(&self) -> Result<Option<T>, Error> {
        self.old.clone().map(item::from_item).transpose()
    }

    /// Reads the image after the change.
    pub fn read_new<T: DeserializeOwned>(&self) -> Result<Option<T>, Error> {
        self.new.clone().map(item::from_item).transpose()
    }
}
