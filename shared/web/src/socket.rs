//! Events of a system's WebSocket API, as API Gateway sends them, and the responses to them ("Working with WebSocket APIs",
//! Amazon API Gateway Developer Guide).

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::StatusCode;
use serde::Deserialize;

use crate::event::EventFailure;

/// An event of one connection.
#[derive(Clone, PartialEq, Eq)]
pub struct SocketEvent {
    pub kind: SocketEventKind,
    /// The connection's id, which API Gateway has chosen. It is never used again.
    pub connection: String,
    /// The route: `$connect`, `$disconnect` or `$default`.
    pub route: String,
    /// The parameters of the query string, decoded; empty except in `$connect`. It may contain a credential.
    pub query: BTreeMap<String, String>,
    /// The header fields of the handshake, with lower-case names; empty except in `$connect`, where it may contain a
    /// credential.
    pub headers: BTreeMap<String, String>,
    /// The content of a message; empty except in `$default`.
    pub body: Bytes,
    pub source_ip: String,
    /// The time when the connection was opened, in milliseconds since 1970.
    pub connected_at: i64,
    /// The time of the event, in milliseconds since 1970.
    pub time: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum SocketEventKind {
    Connect,
    Disconnect,
    Message,
}

impl SocketEvent {
    /// Reads the payload of an invocation. An error names no value of the payload, which may contain a credential.
    pub fn parse(payload: &[u8]) -> Result<Self, EventFailure> {
        let sent: Sent = serde_json::from_slice(payload).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            EventFailure::new(format_args!(
                "the payload is not an event of a WebSocket API: {:?} error at line {line}, column {column}",
                error.classify()
            ))
        })?;
        let body = sent.body.unwrap_or_default();
        let body = if sent.is_base64_encoded {
            let decoded = STANDARD.decode(body);
            decoded.map_err(|_| EventFailure::new("the body of the message is not base64"))?.into()
        } else {
            body.into()
        };
        let context = sent.request_context;
        let headers = sent.headers.unwrap_or_default().into_iter();
        Ok(Self {
            kind: context.event_type,
            connection: context.connection_id,
            route: context.route_key,
            query: sent.query_string_parameters.unwrap_or_default(),
            headers: headers.map(|(name, value)| (name.to_ascii_lowercase(), value)).collect(),
            body,
            source_ip: context.identity.source_ip,
            connected_at: context.connected_at,
            time: context.request_time_epoch,
        })
    }
}

/// Returns the response to an event. The status of `$connect` decides: 200 accepts the connection, and the client of a
/// refused one receives the status instead. API Gateway ignores the others.
pub fn respond(status: StatusCode) -> Bytes {
    Bytes::from(format!(r#"{{"statusCode":{}}}"#, status.as_u16()))
}

/// The members of an event that handlers need.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Sent {
    request_context: RequestContext,
    headers: Option<BTreeMap<String, String>>,
    query_string_parameters: Option<BTreeMap<String, String>>,
    body: Option<String>,
    #[serde(default)]
    is_base64_encoded: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RequestContext {
    connection_id: String,
    route_key: String,
    event_type: SocketEventKind,
    connected_at: i64,
    request_time_epoch: i64,
    identity: Identity,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Identity {
    source_ip: String,
}

/// Leaves out query string, header fields and content, so that a log of an event has no credential.
impl std::fmt::Debug for SocketEvent {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("SocketEvent")
            .field("kind", &self.kind)
            .field("connection", &self.connection)
            .field("route", &self.route)
            .field("time", &self.time)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn event(kind: &str, route: &str) -> Value {
        json!({
            "headers": { "Host": "a1.execute-api.ca-central-1.amazonaws.com", "Origin": "https://zoo.example" },
            "multiValueHeaders": { "Host": ["a1.execute-api.ca-central-1.amazonaws.com"] },
            "queryStringParameters": { "ticket": "secret" },
            "requestContext": {
                "routeKey": route, "eventType": kind, "messageDirection": "IN", "stage": "live",
                "connectedAt": 1_767_225_600_000_i64, "requestTimeEpoch": 1_767_225_600_001_i64,
                "requestId": "r", "connectionId": "L0SM9cOFvHcCIhw=", "apiId": "a1",
                "identity": { "sourceIp": "203.0.113.1", "userAgent": null },
            },
            "isBase64Encoded": false,
        })
    }

    #[test]
    fn connect_event_has_query_string_and_headers() {
        let read = SocketEvent::parse(event("CONNECT", "$connect").to_string().as_bytes()).unwrap();
        assert_eq!((read.kind, read.route.as_str()), (SocketEventKind::Connect, "$connect"));
        assert_eq!((read.connection.as_str(), read.source_ip.as_str()), ("L0SM9cOFvHcCIhw=", "203.0.113.1"));
        assert_eq!((read.connected_at, read.time), (1_767_225_600_000, 1_767_225_600_001));
        assert_eq!(read.query["ticket"], "secret");
        assert_eq!(read.headers["origin"], "https://zoo.example");
        assert!(read.body.is_empty());
    }

    #[test]
    fn message_has_its_body_whether_encoded_or_not() {
        let mut sent = event("MESSAGE", "$default");
        sent["body"] = json!("{\"action\":\"ping\"}");
        sent.as_object_mut().unwrap().remove("queryStringParameters");
        let read = SocketEvent::parse(sent.to_string().as_bytes()).unwrap();
        assert_eq!((read.kind, &read.body[..]), (SocketEventKind::Message, &b"{\"action\":\"ping\"}"[..]));
        assert!(read.query.is_empty());
        sent["isBase64Encoded"] = json!(true);
        assert!(SocketEvent::parse(sent.to_string().as_bytes()).is_err());
        sent["body"] = json!("AAH/");
        assert_eq!(&SocketEvent::parse(sent.to_string().as_bytes()).unwrap().body[..], [0, 1, 255]);
    }

    #[test]
    fn neither_error_nor_debug_output_shows_a_credential() {
        let mut sent = event("CONNECT", "$connect");
        let read = SocketEvent::parse(sent.to_string().as_bytes()).unwrap();
        assert!(!format!("{read:?}").contains("secret"));
        sent["queryStringParameters"] = json!("secret");
        let error = SocketEvent::parse(sent.to_string().as_bytes()).unwrap_err();
        assert!(!error.to_string().contains("secret"), "{error}");
    }

    #[test]
    fn response_has_the_status_only() {
        assert_eq!(respond(StatusCode::UNAUTHORIZED), r#"{"statusCode":401}"#);
    }
}
