//! Empty maps in stream records. DynamoDB Local writes them as `{}` instead of `{"M":{}}`, which the SDK refuses with the
//! whole page of records.

use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpClient, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use bytes::Bytes;
use http_body_util::BodyExt;
use serde_json::{Value, json};

/// An empty JSON object, without which a response needs no change.
const EMPTY: &[u8] = b"{}";

/// The attributes of a stream record.
const IMAGES: [&str; 3] = ["Keys", "NewImage", "OldImage"];

/// A client of DynamoDB Streams that reads empty maps in the form of DynamoDB Local as well.
#[derive(Debug)]
pub struct WithEmptyMaps(pub SharedHttpClient);

impl HttpClient for WithEmptyMaps {
    fn http_connector(&self, settings: &HttpConnectorSettings, parts: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(Connector(self.0.http_connector(settings, parts)))
    }
}

#[derive(Debug)]
struct Connector(SharedHttpConnector);

impl HttpConnector for Connector {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let response = self.0.call(request);
        HttpConnectorFuture::new(async move {
            let mut response = response.await?;
            let body = std::mem::replace(response.body_mut(), SdkBody::taken());
            let body = body.collect().await.map_err(ConnectorError::io)?.to_bytes();
            let body = typed(body);
            response.headers_mut().insert("content-length", body.len().to_string());
            *response.body_mut() = SdkBody::from(body);
            Ok(response)
        })
    }
}

/// Returns a response to `GetRecords` in which each empty map has its type. Others are returned as they are.
fn typed(body: Bytes) -> Bytes {
    if !body.windows(EMPTY.len()).any(|part| part == EMPTY) {
        return body;
    }
    let Ok(mut response) = serde_json::from_slice::<Value>(&body) else { return body };
    let records = response.get_mut("Records").and_then(Value::as_array_mut).into_iter().flatten();
    for record in records.filter_map(|record| record.get_mut("dynamodb")) {
        for image in IMAGES {
            let attributes = record.get_mut(image).and_then(Value::as_object_mut).into_iter().flatten();
            attributes.for_each(|(_, value)| set_type(value));
        }
    }
    Bytes::from(response.to_string())
}

fn set_type(value: &mut Value) {
    if value.as_object().is_some_and(serde_json::Map::is_empty) {
        *value = json!({ "M": {} });
    }
    if let Some(entries) = value.get_mut("M").and_then(Value::as_object_mut) {
        entries.values_mut().for_each(set_type);
    }
    if let Some(elements) = value.get_mut("L").and_then(Value::as_array_mut) {
        elements.iter_mut().for_each(set_type);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(image: &Value) -> Bytes {
        let record =
            json!({ "eventName": "INSERT", "dynamodb": { "Keys": { "pk": { "S": "a" } }, "NewImage": image } });
        Bytes::from(json!({ "Records": [record], "NextShardIterator": "next" }).to_string())
    }

    #[test]
    fn empty_maps_get_their_type_at_any_depth() {
        let untyped = json!({
            "pk": { "S": "{}" },
            "Reactions": {},
            "Metadata": { "M": { "inner": {}, "list": { "L": [{}, { "N": "1" }] }, "typed": { "M": {} } } },
        });
        let expected = json!({
            "pk": { "S": "{}" },
            "Reactions": { "M": {} },
            "Metadata": { "M": {
                "inner": { "M": {} },
                "list": { "L": [{ "M": {} }, { "N": "1" }] },
                "typed": { "M": {} },
            } },
        });
        let read = |body: &Bytes| serde_json::from_slice::<Value>(body).unwrap();
        assert_eq!(read(&typed(page(&untyped))), read(&page(&expected)));
        assert_eq!(read(&typed(page(&expected))), read(&page(&expected)));
    }

    #[test]
    fn other_responses_stay_as_they_are() {
        for body in [r#"{"ShardIterator":"a"}"#, "{}", r#"{"Records":[]}"#, "{} is no JSON"] {
            assert_eq!(typed(Bytes::from(body)), body);
        }
    }
}
