//! Sample stream records for a system's mirror, built from items of the system's own types.

pub mod agencies;
pub mod archive;
pub mod chat;
pub mod parks;
pub mod tracker;

use serde::Serialize;
use serde_json::{Map, Value, json};
use table::Key;
use table::schema::Table;

/// The region of sample events.
pub const REGION: &str = "ca-central-1";

/// The UUID of objects and events in samples.
pub const OBJECT: &str = web::operation::SAMPLE_ID;

/// An item before and after a write, as JSON with `rev`.
pub struct Write {
    pub key: Key,
    pub before: Option<Value>,
    pub after: Option<Value>,
}

/// Returns the records of these writes to a table, in order.
pub fn of(table: &Table, writes: &[Write]) -> Vec<Value> {
    writes.iter().enumerate().map(|(at, write)| record(table, at, write)).collect()
}

/// Returns an item as its table stores it.
pub(crate) fn stored(table: &Table, key: &Key, item: &impl Serialize, rev: u64) -> Option<Value> {
    let mut item = serde_json::to_value(item).ok()?;
    let members = item.as_object_mut()?;
    members.insert(table.pk.to_owned(), json!(key.pk));
    members.extend(table.sk.map(|sk| (sk.to_owned(), json!(key.sk))));
    members.insert("rev".to_owned(), json!(rev));
    Some(item)
}

/// Reports a sample with an invalid constant, such as an id.
pub(crate) fn invalid() -> Vec<Value> {
    table::never!("a sample of stream records has an invalid constant");
    Vec::new()
}

fn record(table: &Table, at: usize, write: &Write) -> Value {
    let name = match (&write.before, &write.after) {
        (None, _) => "INSERT",
        (_, None) => "REMOVE",
        _ => "MODIFY",
    };
    let mut keys = Map::new();
    keys.insert(table.pk.to_owned(), json!({ "S": write.key.pk }));
    if let (Some(sk), Some(value)) = (table.sk, &write.key.sk) {
        keys.insert(sk.to_owned(), json!({ "S": value }));
    }
    let images: Map<String, Value> = [("OldImage", &write.before), ("NewImage", &write.after)]
        .into_iter()
        .filter_map(|(image, item)| Some((image.to_owned(), attributes(item.as_ref()?))))
        .collect();
    let size = [&keys, &images].map(|part| json!(part).to_string().len()).iter().sum::<usize>();
    let mut change = Map::new();
    change.insert("ApproximateCreationDateTime".to_owned(), json!(1_767_225_600));
    change.insert("Keys".to_owned(), keys.into());
    change.insert("SequenceNumber".to_owned(), (100_000_000_000_000_000_001_u128 + at as u128).to_string().into());
    change.insert("SizeBytes".to_owned(), size.into());
    change.insert("StreamViewType".to_owned(), "NEW_AND_OLD_IMAGES".into());
    change.extend(images);
    json!({
        "eventID": format!("{at:032x}"),
        "eventName": name,
        "eventVersion": "1.1",
        "eventSource": "aws:dynamodb",
        "awsRegion": REGION,
        "dynamodb": change,
        "eventSourceARN":
            format!("arn:aws:dynamodb:{REGION}:123456789012:table/{}/stream/2026-01-01T00:00:00.000", table.name),
    })
}

/// Converts the members of an object to DynamoDB's JSON.
fn attributes(item: &Value) -> Value {
    let members = item.as_object().into_iter().flatten();
    Value::Object(members.map(|(name, value)| (name.clone(), attribute(value))).collect())
}

fn attribute(value: &Value) -> Value {
    match value {
        Value::Null => json!({ "NULL": true }),
        Value::Bool(truth) => json!({ "BOOL": truth }),
        Value::Number(number) => json!({ "N": number.to_string() }),
        Value::String(text) => json!({ "S": text }),
        Value::Array(items) => json!({ "L": items.iter().map(attribute).collect::<Vec<_>>() }),
        Value::Object(_) => json!({ "M": attributes(value) }),
    }
}
