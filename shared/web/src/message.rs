//! Messages of SQS, as Lambda's event source mapping delivers them ("Using Lambda with Amazon SQS", AWS Lambda Developer
//! Guide).

use serde::Deserialize;
use serde::de::DeserializeOwned;

#[derive(Debug, Deserialize)]
struct Delivery {
    #[serde(rename = "Records", default)]
    records: Vec<Record>,
}

#[derive(Debug, Deserialize)]
struct Record {
    body: String,
}

/// Returns the bodies of the messages. One that does not have the form of `T` fails all, and the queue delivers them
/// again until they go to the dead letters.
pub fn messages<T: DeserializeOwned>(payload: &[u8]) -> Result<Vec<T>, serde_json::Error> {
    let delivery: Delivery = serde_json::from_slice(payload)?;
    delivery.records.iter().map(|record| serde_json::from_str(&record.body)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Feed {
        animal: String,
    }

    #[test]
    fn body_of_a_message_is_read_as_its_type() {
        let payload =
            br#"{"Records": [{"messageId": "1", "body": "{\"animal\":\"bear\"}", "eventSource": "aws:sqs"}]}"#;
        assert_eq!(messages::<Feed>(payload).unwrap(), [Feed { animal: "bear".to_owned() }]);
    }

    #[test]
    fn body_of_another_form_is_an_error() {
        for body in ["bear", "{}", "null"] {
            let payload = serde_json::json!({ "Records": [{ "body": body }] }).to_string();
            assert!(messages::<Feed>(payload.as_bytes()).is_err(), "{body}");
        }
    }
}
