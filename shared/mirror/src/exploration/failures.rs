//! Batches as Lambda delivers them, and as it keeps those that it gave up.

use std::fmt::Write as _;

use serde_json::json;

use super::leaf::{Change, keys_json};
use crate::simulation::world::sequence;

/// The name of the mirror's function.
pub(super) const FUNCTION: &str = "toy-mirror";

/// Records that were given up.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Failure {
    pub(super) number: u8,
    pub(super) records: Vec<Change>,
    /// In microseconds.
    pub(super) since: i64,
}

/// Returns the name of the object.
pub(super) fn name(number: u8) -> String {
    format!("{number:03}")
}

pub(super) fn number_of_name(name: &str) -> u8 {
    name.parse().expect("the mirror uses only the names that it was given")
}

/// Returns the object in which Lambda keeps these records.
pub(super) fn object(records: &[Change]) -> String {
    let function = format!("arn:aws:lambda:ca-central-1:000000000000:function:{FUNCTION}");
    json!({ "requestContext": { "functionArn": function }, "payload": event(records) }).to_string()
}

/// Returns Lambda's event.
pub(super) fn event(records: &[Change]) -> String {
    let records = records.iter().enumerate().map(|(place, record)| {
        let name = match (record.old, record.new) {
            (None, _) => "INSERT",
            (Some(_), Some(_)) => "MODIFY",
            (Some(_), None) => "REMOVE",
        };
        let (keys, sequence) = (keys_json(record.key), sequence(place));
        let mut json = format!(
            r#"{{"eventName":"{name}","eventSourceARN":"arn:aws:dynamodb:ca-central-1:000000000000:table/trees/stream/2024",
            "dynamodb":{{"ApproximateCreationDateTime":0,"Keys":{keys},"SequenceNumber":"{sequence}""#
        );
        for (side, image) in [("OldImage", record.old), ("NewImage", record.new)] {
            if let Some(leaf) = image {
                let _ = write!(json, r#","{side}":{}"#, leaf.json(record.key));
            }
        }
        json + "}}"
    });
    format!(r#"{{"Records":[{}]}}"#, records.collect::<Vec<_>>().join(","))
}
