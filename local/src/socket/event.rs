//! The events of a connection, in the form in which API Gateway sends them to a function.

use std::collections::BTreeMap;

use bytes::Bytes;
use http::HeaderMap;
use jiff::Timestamp;
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};
use table::schema::SOCKET_STAGE;

use super::connections::Closing;
use crate::listen::CLIENT;

/// The parts of a connection that all its events have.
#[derive(Clone, Debug)]
pub struct Connected {
    pub connection: String,
    pub at: Timestamp,
    /// The gateway's address.
    pub host: String,
}

impl Connected {
    /// Returns the event of a handshake.
    pub fn connect(&self, headers: &HeaderMap, query: &str) -> Bytes {
        let mut event = self.event("CONNECT", "$connect", self.at);
        let mut fields: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (name, value) in headers {
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            fields.entry(name.to_string()).or_default().push(value);
        }
        put(&mut event, "headers", "multiValueHeaders", &fields);
        let parameters = parameters(query);
        // API Gateway leaves the members out if there are no parameters.
        if !parameters.is_empty() {
            put(&mut event, "queryStringParameters", "multiValueQueryStringParameters", &parameters);
        }
        Bytes::from(event.to_string())
    }

    /// Returns the event of a message.
    pub fn message(&self, text: &str, now: Timestamp) -> Bytes {
        let mut event = self.event("MESSAGE", "$default", now);
        set(&mut event, "/requestContext", "messageId", json!(uuid::Uuid::now_v7()));
        set(&mut event, "", "body", json!(text));
        Bytes::from(event.to_string())
    }

    /// Returns the event of the connection's end.
    pub fn disconnect(&self, closing: &Closing, now: Timestamp) -> Bytes {
        let mut event = self.event("DISCONNECT", "$disconnect", now);
        set(&mut event, "/requestContext", "disconnectStatusCode", json!(closing.code));
        set(&mut event, "/requestContext", "disconnectReason", json!(closing.reason));
        Bytes::from(event.to_string())
    }

    /// Returns the message to a client whose message could not be handled, as API Gateway sends it.
    pub fn failure(&self) -> String {
        json!({
            "message": "Internal server error",
            "connectionId": self.connection,
            "requestId": uuid::Uuid::now_v7(),
        })
        .to_string()
    }

    fn event(&self, kind: &str, route: &str, now: Timestamp) -> Value {
        let request = uuid::Uuid::now_v7();
        json!({
            "requestContext": {
                "routeKey": route,
                "eventType": kind,
                "messageDirection": "IN",
                "stage": SOCKET_STAGE,
                "connectedAt": self.at.as_millisecond(),
                "requestTime": now.strftime("%d/%b/%Y:%H:%M:%S +0000").to_string(),
                "requestTimeEpoch": now.as_millisecond(),
                "identity": { "sourceIp": CLIENT },
                "requestId": request,
                "extendedRequestId": request,
                "domainName": self.host,
                "connectionId": self.connection,
                "apiId": "local",
            },
            "isBase64Encoded": false,
        })
    }
}

/// Adds values by name to an event, with the last of each and with all of each.
fn put(event: &mut Value, last: &str, all: &str, values: &BTreeMap<String, Vec<String>>) {
    set(event, "", last, values.iter().map(|(name, values)| (name.clone(), json!(values.last()))).collect());
    set(event, "", all, json!(values));
}

/// Sets a member of the object at this JSON pointer.
fn set(event: &mut Value, at: &str, name: &str, value: Value) {
    if let Some(object) = event.pointer_mut(at).and_then(Value::as_object_mut) {
        object.insert(name.to_owned(), value);
    }
}

/// Decodes a query string.
fn parameters(query: &str) -> BTreeMap<String, Vec<String>> {
    let decode = |text: &str| percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned();
    let mut parameters: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        parameters.entry(decode(name)).or_default().push(decode(value));
    }
    parameters
}

#[cfg(test)]
mod tests {
    use web::{SocketEvent, SocketEventKind};

    use super::*;

    fn connected() -> Connected {
        let at = Timestamp::from_millisecond(1_767_225_600_123).unwrap();
        Connected { connection: "L0SM9cOFvHcCIhw=".to_owned(), at, host: "127.0.0.1:8080".to_owned() }
    }

    #[test]
    fn handshake_is_read_as_by_a_handler() {
        let mut headers = HeaderMap::new();
        headers.insert("origin", "http://localhost".parse().unwrap());
        let event = connected().connect(&headers, "ticket=a%2Bb+c&x=1&x=2&flag");
        let read = SocketEvent::parse(&event).unwrap();
        assert_eq!((read.kind, read.route.as_str()), (SocketEventKind::Connect, "$connect"));
        assert_eq!((read.connection.as_str(), read.connected_at), ("L0SM9cOFvHcCIhw=", 1_767_225_600_123));
        assert_eq!(read.headers["origin"], "http://localhost");
        let query: Vec<_> = read.query.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(query, [("flag", ""), ("ticket", "a+b c"), ("x", "2")]);
    }

    #[test]
    fn message_and_end_are_read_as_by_a_handler() {
        let later = Timestamp::from_millisecond(1_767_225_601_000).unwrap();
        let message = SocketEvent::parse(&connected().message("{\"a\":1}", later)).unwrap();
        assert_eq!((message.kind, &message.body[..]), (SocketEventKind::Message, &b"{\"a\":1}"[..]));
        assert_eq!((message.time, message.query.len()), (1_767_225_601_000, 0));
        let event = connected().disconnect(&Closing::new(1006, ""), later);
        assert_eq!(SocketEvent::parse(&event).unwrap().kind, SocketEventKind::Disconnect);
        let event: Value = serde_json::from_slice(&event).unwrap();
        assert_eq!(event["requestContext"]["disconnectStatusCode"], 1006);
    }
}
