//! Notifications of S3 about new objects (AWS, "Event message structure").

use serde::Deserialize;

#[derive(Debug, Deserialize)]
struct Notification {
    #[serde(rename = "Records", default)]
    records: Vec<Record>,
}

#[derive(Debug, Deserialize)]
struct Record {
    s3: S3,
}

#[derive(Debug, Deserialize)]
struct S3 {
    object: Object,
}

#[derive(Debug, Deserialize)]
struct Object {
    /// Encoded like a form, which does not change the keys that Cairn uses.
    key: String,
}

/// Returns the keys of the new objects.
pub fn arrived(payload: &[u8]) -> Result<Vec<String>, serde_json::Error> {
    let notification: Notification = serde_json::from_slice(payload)?;
    Ok(notification.records.into_iter().map(|record| record.s3.object.key).collect())
}
