//! Stream records as Lambda passes them to a function.

use std::collections::HashMap;

use aws_sdk_dynamodbstreams::types::{AttributeValue, Record as Read};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

/// One record of a shard.
#[derive(Clone, Debug)]
pub struct Record {
    pub sequence_number: String,
    /// The time of the write, by the stream.
    pub created: Timestamp,
    /// The time of the read, by the platform's clock.
    pub seen: Timestamp,
    /// The record as Lambda's JSON.
    pub json: String,
}

impl Record {
    /// Converts a record. Returns none if it has no sequence number.
    pub fn new(read: &Read, stream_arn: &str, seen: Timestamp) -> Option<Self> {
        let change = read.dynamodb()?;
        let sequence_number = change.sequence_number()?.to_owned();
        let created = change.approximate_creation_date_time();
        let created = created
            .and_then(|time| Timestamp::new(time.secs(), time.subsec_nanos().cast_signed()).ok())
            .unwrap_or(seen);

        let mut dynamodb = Map::new();
        dynamodb.insert("ApproximateCreationDateTime".to_owned(), json!(created.as_second()));
        for (name, image) in
            [("Keys", change.keys()), ("NewImage", change.new_image()), ("OldImage", change.old_image())]
        {
            if let Some(image) = image {
                dynamodb.insert(name.to_owned(), item(image));
            }
        }
        dynamodb.insert("SequenceNumber".to_owned(), json!(sequence_number));
        dynamodb.insert("SizeBytes".to_owned(), json!(change.size_bytes()));
        let view = change.stream_view_type().map_or("NEW_AND_OLD_IMAGES", |view| view.as_str());
        dynamodb.insert("StreamViewType".to_owned(), json!(view));

        let mut record = Map::new();
        record.insert("eventID".to_owned(), json!(read.event_id()));
        record.insert("eventName".to_owned(), json!(read.event_name().map(|name| name.as_str())));
        record.insert("eventVersion".to_owned(), json!(read.event_version().unwrap_or("1.1")));
        record.insert("eventSource".to_owned(), json!("aws:dynamodb"));
        record.insert("awsRegion".to_owned(), json!(read.aws_region()));
        record.insert("dynamodb".to_owned(), Value::Object(dynamodb));
        if let Some(identity) = read.user_identity() {
            let identity = json!({"principalId": identity.principal_id(), "type": identity.r#type()});
            record.insert("userIdentity".to_owned(), identity);
        }
        record.insert("eventSourceARN".to_owned(), json!(stream_arn));
        Some(Self { sequence_number, created, seen, json: Value::Object(record).to_string() })
    }
}

fn item(attributes: &HashMap<String, AttributeValue>) -> Value {
    Value::Object(attributes.iter().map(|(name, value)| (name.clone(), attribute(value))).collect())
}

/// Returns a value as DynamoDB's JSON. Numbers stay text.
fn attribute(value: &AttributeValue) -> Value {
    match value {
        AttributeValue::S(text) => json!({"S": text}),
        AttributeValue::N(number) => json!({"N": number}),
        AttributeValue::Bool(truth) => json!({"BOOL": truth}),
        AttributeValue::Null(is) => json!({"NULL": is}),
        AttributeValue::B(bytes) => json!({"B": STANDARD.encode(bytes)}),
        AttributeValue::Ss(texts) => json!({"SS": texts}),
        AttributeValue::Ns(numbers) => json!({"NS": numbers}),
        AttributeValue::Bs(all) => {
            json!({"BS": all.iter().map(|bytes| STANDARD.encode(bytes)).collect::<Vec<_>>()})
        }
        AttributeValue::L(values) => json!({"L": values.iter().map(attribute).collect::<Vec<_>>()}),
        AttributeValue::M(values) => json!({"M": item(values)}),
        // A type that this client does not know. The handler receives an attribute without a type.
        _ => json!({}),
    }
}

#[cfg(test)]
mod tests {
    use aws_sdk_dynamodbstreams::primitives::{Blob, DateTime};
    use aws_sdk_dynamodbstreams::types::{Identity, OperationType, StreamRecord};

    use super::*;

    #[test]
    fn record_has_the_form_of_lambda() {
        let image = [
            ("n".to_owned(), AttributeValue::N("12345678901234567890.5".to_owned())),
            ("b".to_owned(), AttributeValue::B(Blob::new([1, 2]))),
            ("m".to_owned(), AttributeValue::M([("l".to_owned(), AttributeValue::L(vec![]))].into())),
        ];
        let change = StreamRecord::builder()
            .set_keys(Some([("pk".to_owned(), AttributeValue::S("a".to_owned()))].into()))
            .set_old_image(Some(image.into()))
            .sequence_number("100")
            .approximate_creation_date_time(DateTime::from_secs(1_700_000_000))
            .size_bytes(9)
            .build();
        let read = Read::builder()
            .event_id("e")
            .event_name(OperationType::Remove)
            .aws_region("local")
            .dynamodb(change)
            .user_identity(Identity::builder().principal_id("dynamodb.amazonaws.com").r#type("Service").build())
            .build();
        let record = Record::new(&read, "arn", Timestamp::UNIX_EPOCH).unwrap();
        assert_eq!(record.created.as_second(), 1_700_000_000);
        let expected = json!({
            "eventID": "e", "eventName": "REMOVE", "eventVersion": "1.1", "eventSource": "aws:dynamodb",
            "awsRegion": "local", "eventSourceARN": "arn",
            "userIdentity": {"principalId": "dynamodb.amazonaws.com", "type": "Service"},
            "dynamodb": {
                "ApproximateCreationDateTime": 1_700_000_000, "SequenceNumber": "100", "SizeBytes": 9,
                "StreamViewType": "NEW_AND_OLD_IMAGES", "Keys": {"pk": {"S": "a"}},
                "OldImage": {
                    "n": {"N": "12345678901234567890.5"}, "b": {"B": "AQI="}, "m": {"M": {"l": {"L": []}}},
                },
            },
        });
        assert_eq!(serde_json::from_str::<Value>(&record.json).unwrap(), expected);
    }
}
