//! EventBridge with a log in the place of rules, in this process. Each event is a line of the log, as a target would receive
//! it ("AWS service event metadata", Amazon EventBridge User Guide).

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::{BodyExt, Full, Limited};
use hyper::Request;
use hyper::body::Incoming;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use table::MAX_BUS_EVENTS;
use tokio::net::TcpListener;
use uuid::Uuid;

use crate::error::StartError;
use crate::listen::Server;

/// A running EventBridge on a port of 127.0.0.1.
#[derive(Debug)]
pub struct EventBus {
    pub endpoint: String,
    server: Server,
}

/// The maximum size of a request in bytes ("PutEvents", Amazon EventBridge API Reference).
const MAX_REQUEST: usize = 1024 * 1024;

impl EventBus {
    /// Starts EventBridge with the log at this path, to which it appends.
    pub async fn start(log: &Path) -> Result<Self, StartError> {
        let failed = |error: std::io::Error| {
            StartError::new(
                format!("Starting the local EventBridge with {} failed: {error}", log.display()),
                "Check that this file can be written, and the machine's network settings",
            )
        };
        let log = OpenOptions::new().create(true).append(true).open(log).map_err(failed)?;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(failed)?;
        let endpoint = format!("http://{}", listener.local_addr().map_err(failed)?);
        let log = Arc::new(Mutex::new(log));
        let server = Server::start(listener, move |request| answer(Arc::clone(&log), request)).map_err(failed)?;
        Ok(Self { endpoint, server })
    }

    pub async fn stop(self) {
        self.server.stop().await;
    }
}

async fn answer(log: Arc<Mutex<File>>, request: Request<Incoming>) -> Response<Full<Bytes>> {
    let (parts, body) = request.into_parts();
    let target = parts.headers.get("x-amz-target").and_then(|target| target.to_str().ok()).unwrap_or_default();
    let answered = match (target, Limited::new(body, MAX_REQUEST).collect().await) {
        ("AWSEvents.PutEvents", Ok(body)) => put_events(&log, &body.to_bytes()),
        ("AWSEvents.PutEvents", Err(error)) => Err(Refusal::of("ValidationException", error)),
        _ => {
            let message = format!("`{target}` is not an operation of the local EventBridge");
            Err(Refusal::of("UnknownOperationException", message))
        }
    };
    let (status, body) = match answered {
        Ok(body) => (StatusCode::OK, body),
        Err(Refusal { status, kind, message }) => (status, json!({ "__type": kind, "message": message })),
    };
    let mut response = Response::new(Full::from(body.to_string()));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/x-amz-json-1.1"));
    response
}

/// An error of the whole request.
struct Refusal {
    status: StatusCode,
    kind: &'static str,
    message: String,
}

impl Refusal {
    fn of(kind: &'static str, message: impl ToString) -> Self {
        Self { status: StatusCode::BAD_REQUEST, kind, message: message.to_string() }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct PutEvents {
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Entry {
    source: Option<String>,
    detail_type: Option<String>,
    detail: Option<String>,
    /// Seconds since 1970.
    time: Option<f64>,
}

/// Writes the events that are valid, and returns the answer of EventBridge ("PutEvents").
fn put_events(log: &Mutex<File>, body: &[u8]) -> Result<Value, Refusal> {
    let PutEvents { entries } =
        serde_json::from_slice(body).map_err(|error| Refusal::of("SerializationException", error))?;
    if !(1..=MAX_BUS_EVENTS).contains(&entries.len()) {
        return Err(Refusal::of("ValidationException", format_args!("1 to {MAX_BUS_EVENTS} entries were expected")));
    }
    let events: Vec<Result<Value, &str>> = entries.into_iter().map(Entry::event).collect();
    let lines: String = events.iter().flatten().map(|event| format!("{event}\n")).collect();
    append(log, lines.as_bytes()).map_err(|error| Refusal {
        status: StatusCode::INTERNAL_SERVER_ERROR,
        kind: "InternalException",
        message: error.to_string(),
    })?;
    let entries = events.iter().map(|event| match event {
        Ok(event) => json!({ "EventId": event.get("id") }),
        Err(fault) => json!({ "ErrorCode": "InvalidArgument", "ErrorMessage": fault }),
    });
    let failed = events.iter().filter(|event| event.is_err()).count();
    Ok(json!({ "FailedEntryCount": failed, "Entries": entries.collect::<Vec<_>>() }))
}

/// Appends whole lines or nothing: on a full disk only a part may fit, to which the next line would be appended.
fn append(log: &Mutex<File>, lines: &[u8]) -> std::io::Result<()> {
    let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
    let length = log.metadata()?.len();
    // One call, so that no event is half written where another process reads.
    let written = log.write_all(lines);
    if written.is_err() {
        let _ = log.set_len(length);
    }
    written
}

impl Entry {
    fn event(self) -> Result<Value, &'static str> {
        let source = self.source.filter(|source| !source.is_empty()).ok_or("Parameter Source is not valid.")?;
        let detail_type = self.detail_type.filter(|kind| !kind.is_empty());
        let detail_type = detail_type.ok_or("Parameter DetailType is not valid.")?;
        let detail = self.detail.ok_or("Parameter Detail is not valid.")?;
        let detail: Map<String, Value> = serde_json::from_str(&detail).map_err(|_| "Detail is malformed.")?;
        let time = self.time.map_or_else(|| Timestamp::now().as_second(), |time| time as i64);
        let time = Timestamp::from_second(time).map_err(|_| "Parameter Time is not valid.")?;
        Ok(json!({
            "version": "0",
            "id": Uuid::new_v4(),
            "detail-type": detail_type,
            "source": source,
            "account": "000000000000",
            "time": time,
            "region": "local",
            "resources": [],
            "detail": detail,
        }))
    }
}
