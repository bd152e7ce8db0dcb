//! Lambda's events of a table's stream, with made-up facilities in them.

use serde_json::{Value, json};
use table::Config;

/// The most that Lambda takes in one invocation, in bytes.
pub const LARGEST: usize = 6 * 1024 * 1024;

/// The stream of the table `parks`, as an event names it.
pub const SOURCE: &str = "arn:aws:dynamodb:local:000000000000:table/parks/stream/2026-01-01T00:00:00.000";

/// DynamoDB's size of an item, in bytes: names and values. (AWS, "DynamoDB item sizes and formats".)
const ITEM: usize = 1024;

/// `{"Records":[...]}`.
pub fn event(records: impl IntoIterator<Item = String>) -> String {
    let mut event = String::with_capacity(LARGEST);
    event.push_str(r#"{"Records":["#);
    for (place, record) in records.into_iter().enumerate() {
        if place > 0 {
            event.push(',');
        }
        event.push_str(&record);
    }
    event.push_str("]}");
    event
}

/// An event of the same records in the table of a platform that may have a prefix.
pub fn on_platform(event: &str, config: &Config) -> String {
    event.replace(":table/parks/", &format!(":table/{}/", config.table("parks")))
}

/// As many records as fit, by their number from 0.
pub fn full(record: impl Fn(usize) -> String) -> String {
    let mut room = LARGEST - 64;
    event((0..).map(record).take_while(|record| {
        let fits = record.len() < room;
        room = room.saturating_sub(record.len() + 1);
        fits
    }))
}

/// A facility of 1 KB that has been changed: both images, `rev` the new one's.
pub fn modified(number: usize, rev: u64) -> String {
    change(number, &facility(number, rev - 2), &facility(number, rev))
}

/// A record of a change, as DynamoDB writes it.
pub fn change(place: usize, old: &Value, new: &Value) -> String {
    json!({
        "eventID": format!("{place:032x}"),
        "eventName": "MODIFY",
        "eventVersion": "1.1",
        "eventSource": "aws:dynamodb",
        "awsRegion": "local",
        "dynamodb": {
            "ApproximateCreationDateTime": 1_767_225_600,
            "Keys": {"pk": new.get("pk"), "sk": new.get("sk")},
            "OldImage": old,
            "NewImage": new,
            "SequenceNumber": (100_000_000 + place).to_string(),
            "SizeBytes": 2 * ITEM,
            "StreamViewType": "NEW_AND_OLD_IMAGES"
        },
        "eventSourceARN": SOURCE
    })
    .to_string()
}

/// An item of 1 KB as the API writes it, in DynamoDB JSON.
pub fn facility(number: usize, rev: u64) -> Value {
    let item = json!({
        "pk": {"S": "facility::bench"}, "sk": {"S": format!("campground::{number}")}, "rev": {"N": rev.to_string()},
        "entity": {"S": "facility"}, "globalId": {"S": format!("0198c0de-0000-7000-8000-{number:012}")},
        "collectionId": {"S": "bench"}, "number": {"N": number.to_string()}, "facilityType": {"S": "campground"},
        "displayName": {"S": format!("Campground {number} at revision {rev}")},
        "searchTerms": {"L": [{"S": "camping"}, {"S": "tents"}]}, "address": {"S": "1 Lake Road"},
        "location": {"L": [{"N": format!("-125.{number:07}")}, {"N": "49.6"}]},
        "isVisible": {"BOOL": true}, "isDeleted": {"BOOL": false}, "isOpen": {"BOOL": true}, "showOnMap": {"BOOL": true},
        "createdAt": {"S": "2026-01-01T00:00:00.000000Z"}, "createdBy": {"S": "local:ada"},
        "updatedAt": {"S": "2026-01-02T00:00:00.000000Z"}, "updatedBy": {"S": "local:bob"},
        "listPk": {"S": "facility::bench"}, "publicPk": {"S": "facility::bench"}, "listSk": {"S": format!("campground::{number:08}")}
    });
    let room = ITEM.saturating_sub(size(&item) + "description".len());
    with(item, "description", json!({ "S": prose(room) }))
}

/// The item with one attribute more, or another.
pub fn with(mut item: Value, attribute: &str, value: Value) -> Value {
    if let Some(item) = item.as_object_mut() {
        item.insert(attribute.to_owned(), value);
    }
    item
}

/// So many bytes of text.
pub fn prose(bytes: usize) -> String {
    "Quiet sites among old cedars. ".chars().cycle().take(bytes).collect()
}

/// DynamoDB's size of attributes by name.
fn size(attributes: &Value) -> usize {
    attributes.as_object().into_iter().flatten().map(|(name, value)| name.len() + value_size(value)).sum()
}

fn value_size(value: &Value) -> usize {
    let Some((kind, value)) = value.as_object().and_then(|value| value.iter().next()) else { return 0 };
    match kind.as_str() {
        "S" => value.as_str().map_or(0, str::len),
        "N" => value.as_str().map_or(0, |digits| digits.len().div_ceil(2) + 1),
        "L" => 3 + value.as_array().into_iter().flatten().map(|element| 1 + value_size(element)).sum::<usize>(),
        _ => 1,
    }
}
