//! Records of the tables' streams, as Lambda's event source mapping delivers them to a reader beside the mirror ("Using AWS
//! Lambda with Amazon DynamoDB", AWS Lambda Developer Guide).

use std::time::Duration;

use bytes::Bytes;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use table::schema::{System, Table};
use table::{Config, Error, Item, Key, item};

use crate::EventFailure;

/// The change of an item.
#[derive(Clone, Debug)]
pub struct Record {
    /// The sequence number, by which a failure is reported.
    pub sequence: String,
    pub table: &'static Table,
    pub key: Key,
    pub old: Option<Item>,
    pub new: Option<Item>,
    /// When the stream received the change, since 1970.
    pub received: Duration,
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
            received: Duration::try_from_secs_f64(approximate_creation_date_time).ok()?,
        })
    };
    Ok(sent.records.into_iter().filter_map(record).collect())
}

/// Returns the response of a reader that reports its first failed record, if any. Lambda delivers that one and the later
/// ones again.
pub fn respond_to_records(failed: Option<&Record>) -> Bytes {
    let failures: Vec<_> = failed.iter().map(|record| json!({ "itemIdentifier": record.sequence })).collect();
    json!({ "batchItemFailures": failures }).to_string().into()
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

    /// Returns the key of the change's events, by which receivers recognise one that is delivered again.
    pub fn event_key(&self) -> String {
        format!("{}@{}", self.key.document_id(), self.rev())
    }

    /// Returns the time of the change, since 1970, which is the same in each delivery: that of the revision. A removal has
    /// none, and is no older than the last revision.
    pub fn time(&self) -> Duration {
        let time = |item: &Item| item::rev(item).map(|rev| Duration::from_millis(rev.number() / 2000));
        match (&self.new, &self.old) {
            (Some(new), _) => time(new).unwrap_or(self.received),
            (None, Some(old)) => time(old).unwrap_or_default().max(self.received),
            (None, None) => self.received,
        }
    }

    /// Returns [`Self::time`] as RFC 3339 with six fraction digits.
    pub fn at(&self) -> String {
        table::clock::rfc3339_since_epoch(self.time())
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

#[cfg(test)]
mod tests {
    use serde_json::Value;
    use table::item::{number, text};
    use table::schema::EventSource;

    use super::*;

    static TOYS: Table = Table { name: "toys", pk: "pk", sk: Some("sk"), indexes: &[], entities: &[], stream: true };
    static SYSTEM: System = System {
        name: "toys",
        tables: &[&TOYS],
        buckets: &[],
        secrets: &[],
        sources: &[EventSource::Records { handler: "read", filtered: false }],
    };

    /// Returns a record of Lambda's event about a table with this name.
    fn sent(table: &str, sequence: u32, images: Value) -> Value {
        let mut dynamodb = json!({
            "Keys": { "pk": { "S": "a" }, "sk": { "S": "b" } },
            "SequenceNumber": sequence.to_string(),
            "ApproximateCreationDateTime": 5.25,
        });
        dynamodb.as_object_mut().unwrap().extend(images.as_object().unwrap().clone());
        json!({ "eventSourceARN": format!("arn:aws:dynamodb:r:1:table/{table}/stream/s"), "dynamodb": dynamodb })
    }

    fn read(sent: &[Value]) -> Vec<Record> {
        let config = Config { prefix: "dev-".to_owned(), ..Config::new("local", "http://127.0.0.1:1") };
        records(json!({ "Records": sent }).to_string().as_bytes(), &SYSTEM, &config).unwrap()
    }

    #[test]
    fn records_of_other_tables_are_left_out() {
        let records =
            read(&[sent("dev-toys", 1, json!({})), sent("toys", 2, json!({})), sent("dev-toy", 3, json!({}))]);
        let of: Vec<_> = records.iter().map(|record| (record.sequence.as_str(), &record.key)).collect();
        assert_eq!(of, [("1", &Key::new("a", "b"))]);
    }

    #[test]
    fn key_and_time_of_a_change_are_those_of_its_revision() {
        let image = json!({ "pk": { "S": "a" }, "sk": { "S": "b" }, "rev": { "N": "8000" }, "name": { "S": "bear" } });
        let records = read(&[
            sent("dev-toys", 1, json!({ "NewImage": image.clone() })),
            sent("dev-toys", 2, json!({ "OldImage": image })),
        ]);
        let of: Vec<_> = records.iter().map(|record| (record.event_key(), record.time())).collect();
        let expected = [("a#b@8000", Duration::from_millis(4)), ("a#b@8001", Duration::from_millis(5250))];
        assert_eq!(of, expected.map(|(key, time)| (key.to_owned(), time)));
        assert_eq!(records[1].at(), "1970-01-01T00:00:05.250000Z");
        let images = [("pk", text("a")), ("sk", text("b")), ("rev", number(8000)), ("name", text("bear"))];
        let image: Item = images.map(|(name, value)| (name.to_owned(), value)).into();
        assert_eq!((&records[0].old, &records[0].new), (&None, &Some(image.clone())));
        assert_eq!((&records[1].old, &records[1].new), (&Some(image), &None));
    }

    #[test]
    fn first_failed_record_is_reported_by_its_sequence_number() {
        assert_eq!(respond_to_records(None), r#"{"batchItemFailures":[]}"#);
        let records = read(&[sent("dev-toys", 7, json!({}))]);
        assert_eq!(respond_to_records(records.first()), r#"{"batchItemFailures":[{"itemIdentifier":"7"}]}"#);
    }

    #[test]
    fn payload_of_another_form_is_an_error_without_its_values() {
        let config = Config::new("local", "http://127.0.0.1:1");
        let failure = records(br#"{"Records": "bear"}"#, &SYSTEM, &config).unwrap_err();
        assert_eq!(failure.0, "not a DynamoDB stream event: fault at line 1, column 18");
    }
}
