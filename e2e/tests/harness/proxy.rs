//! A search engine that fails on demand: a proxy in front of the real one.

use std::collections::VecDeque;
use std::io::Read;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use flate2::read::GzDecoder;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::{Request, Response};
use serde_json::{Value, json};
use tokio::sync::{Notify, watch};
use tokio::time::timeout;

use super::relay::HTTP;
use super::server::Server;

/// The proxy, which is stopped when dropped.
pub struct Proxy {
    pub url: String,
    shared: Arc<Shared>,
    _server: Server,
}

/// The fault of a bulk request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The whole request is answered 429.
    Busy,
    /// Every second operation is answered 429, and the others are carried out.
    HalfBusy,
    /// The whole request is answered 503.
    Unavailable,
    /// There is no response, and the request is not carried out.
    LostBefore,
    /// There is no response, and the request is carried out.
    LostAfter,
    /// The response lacks one operation, and the request is carried out.
    Short,
}

struct Shared {
    target: Mutex<String>,
    faults: Mutex<VecDeque<Fault>>,
    /// A field that is refused in documents whose ids start with this text, and the remaining number of refusals.
    refused: Mutex<Option<(String, String, u32)>>,
    /// Whether every search times out.
    partial: Mutex<bool>,
    /// The maximum size of a bulk request in bytes, and the number of larger requests.
    limit: Mutex<(usize, u32)>,
    /// The id of the document whose bulk requests must wait, and how often waiting ones were continued.
    held: watch::Sender<(Option<String>, u32)>,
    /// Notified when a request is held.
    holds: Notify,
    /// Whether every request must wait, and the request from which on they must.
    closed: watch::Sender<bool>,
    closes_at: Mutex<Option<Box<IsRequest>>>,
    /// Notified when the search engine does not respond to a request.
    fails: Notify,
}

/// Whether a request is the one that is meant, by its method and path, such as `POST /shelf/_search`.
type IsRequest = dyn Fn(&str) -> bool + Send;

impl Proxy {
    /// Starts a proxy for this search engine, without faults.
    pub async fn before(target: String) -> Self {
        let shared = Arc::new(Shared {
            target: Mutex::new(target),
            faults: Mutex::default(),
            refused: Mutex::default(),
            partial: Mutex::default(),
            limit: Mutex::new((usize::MAX, 0)),
            held: watch::Sender::new((None, 0)),
            holds: Notify::new(),
            closed: watch::Sender::new(false),
            closes_at: Mutex::default(),
            fails: Notify::new(),
        });
        let serving = Arc::clone(&shared);
        let server = Server::start(move |request| answer(Arc::clone(&serving), request)).await;
        Self { url: server.url.clone(), shared, _server: server }
    }

    /// Replaces the search engine.
    pub fn move_to(&self, target: String) {
        *self.shared.target.lock().unwrap() = target;
    }

    /// Waits until the search engine does not respond to a request.
    pub async fn fails(&self) {
        timeout(Duration::from_secs(60), self.shared.fails.notified()).await.expect("each request has a response");
    }

    /// Sets the faults of the next bulk requests, one each.
    pub fn fail_next(&self, faults: &[Fault]) {
        self.shared.faults.lock().unwrap().extend(faults.iter().cloned());
    }

    /// Refuses the document with this id this number of times, with a 400 that names the field.
    pub fn refuse(&self, id: &str, field: &str, times: u32) {
        *self.shared.refused.lock().unwrap() = Some((id.to_owned(), field.to_owned(), times));
    }

    /// Sets whether later searches time out.
    pub fn searches_are_partial(&self, partial: bool) {
        *self.shared.partial.lock().unwrap() = partial;
    }

    /// Holds later bulk requests with the document of this id.
    pub fn hold(&self, id: &str) {
        self.shared.held.send_modify(|held| held.0 = Some(id.to_owned()));
    }

    /// Waits until such a request is held.
    pub async fn holds(&self) {
        timeout(Duration::from_secs(60), self.shared.holds.notified()).await.expect("no such bulk request");
    }

    /// Continues the requests that are held, also if later ones are held at once.
    pub fn release(&self) {
        self.shared.held.send_modify(|(id, releases)| {
            *id = None;
            *releases += 1;
        });
    }

    /// Holds every later request.
    pub fn close(&self) {
        self.shared.closed.send_replace(true);
    }

    /// Holds the next request for which this is true, by its method and path, and every later one.
    pub fn close_at(&self, is_request: impl Fn(&str) -> bool + Send + 'static) {
        *self.shared.closes_at.lock().unwrap() = Some(Box::new(is_request));
    }

    /// Continues all requests that are held.
    pub fn open(&self) {
        self.shared.closed.send_replace(false);
    }

    /// Returns the number of faults that are not used yet.
    pub fn left(&self) -> usize {
        self.shared.faults.lock().unwrap().len()
    }

    /// Answers later bulk requests that are larger than this with 413.
    pub fn take_at_most(&self, bytes: usize) {
        self.shared.limit.lock().unwrap().0 = bytes;
    }

    /// Returns the number of bulk requests that were too large.
    pub fn too_large(&self) -> u32 {
        self.shared.limit.lock().unwrap().1
    }
}

/// An error that closes the connection without a response.
#[derive(Debug)]
struct Lost;

impl std::fmt::Display for Lost {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("lost on purpose")
    }
}

impl std::error::Error for Lost {}

type Answer = Result<Response<Full<Bytes>>, Lost>;

async fn answer(shared: Arc<Shared>, request: Request<Incoming>) -> Answer {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.map_err(|_| Lost)?.to_bytes();
    let path = parts.uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
    shared.pass(&format!("{} {}", parts.method, parts.uri.path())).await;
    if parts.uri.path().ends_with("/_bulk") {
        return shared.bulk(&path, unpacked(&parts.headers, &body)).await;
    }
    let (status, text) = shared.forward(parts.method.as_str(), &path, &parts.headers, body).await?;
    if parts.uri.path().ends_with("/_search") && *shared.partial.lock().unwrap() {
        let mut found: Value = serde_json::from_slice(&text).unwrap();
        found["timed_out"] = json!(true);
        return Ok(respond(status, found.to_string()));
    }
    Ok(respond(status, text))
}

impl Shared {
    async fn bulk(&self, path: &str, lines: String) -> Answer {
        if self.exceeds(lines.len()) {
            return Ok(respond(413, ""));
        }
        let operations = operations(&lines);
        self.wait(&operations).await;
        let fault = self.faults.lock().unwrap().pop_front();
        let refusals = self.refusals(&operations);
        let busy = json!({ "type": "rejected_execution_exception", "reason": "rejected on purpose" });
        match fault {
            None => self.carry_out(path, &operations, |index| refusals[index].clone()).await,
            Some(Fault::Busy) => Ok(respond(429, json!({ "error": busy, "status": 429 }).to_string())),
            Some(Fault::Unavailable) => Ok(respond(503, "")),
            Some(Fault::LostBefore) => Err(Lost),
            Some(Fault::LostAfter) => {
                self.carry_out(path, &operations, |_| None).await?;
                Err(Lost)
            }
            Some(Fault::HalfBusy) => {
                let refuse = |index: usize| index.is_multiple_of(2).then(|| json!({ "status": 429, "error": busy }));
                self.carry_out(path, &operations, refuse).await
            }
            Some(Fault::Short) => {
                let answer = self.carry_out(path, &operations, |_| None).await?;
                let mut body: Value =
                    serde_json::from_slice(&answer.into_body().collect().await.unwrap().to_bytes()).unwrap();
                body["items"].as_array_mut().unwrap().pop();
                Ok(respond(200, body.to_string()))
            }
        }
    }

    /// Waits for as long as every request is held.
    async fn pass(&self, request: &str) {
        let closes = self.closes_at.lock().unwrap().take_if(|is_request| is_request(request)).is_some();
        if closes {
            self.closed.send_replace(true);
            self.holds.notify_one();
        }
        let _ = self.closed.subscribe().wait_for(|closed| !closed).await;
    }

    /// Waits for as long as one of these documents is held.
    async fn wait(&self, operations: &[Operation]) {
        let mut held = self.held.subscribe();
        let arrived_after = held.borrow().1;
        let free = |(id, releases): &(Option<String>, u32)| {
            let is_meant = id.as_ref().is_some_and(|id| operations.iter().any(|operation| operation.id == *id));
            let waits = is_meant && *releases == arrived_after;
            if waits {
                self.holds.notify_one();
            }
            !waits
        };
        let _ = held.wait_for(free).await;
    }

    fn exceeds(&self, bytes: usize) -> bool {
        let mut limit = self.limit.lock().unwrap();
        let exceeds = bytes > limit.0;
        limit.1 += u32::from(exceeds);
        exceeds
    }

    /// Returns the refused operations of a bulk request with their responses.
    fn refusals(&self, operations: &[Operation]) -> Vec<Option<Value>> {
        let mut refused = self.refused.lock().unwrap();
        let refusal = |operation: &Operation| {
            let (id, field, left) = refused.as_mut()?;
            let has_field = operation.lines.contains(&format!("\"{field}\":"));
            if operation.id != *id || !has_field || *left == 0 {
                return None;
            }
            *left -= 1;
            Some(json!({ "status": 400, "error": {
                "type": "mapper_parsing_exception",
                "reason": format!("failed to parse field [{field}] of type [geo_shape]"),
                "caused_by": { "type": "illegal_argument_exception", "reason": "Unable to Tessellate shape" },
            } }))
        };
        operations.iter().map(refusal).collect()
    }

    /// Forwards the operations that are not refused, and merges all results in their order.
    async fn carry_out(&self, path: &str, operations: &[Operation], own: impl Fn(usize) -> Option<Value>) -> Answer {
        let forwarded: String = operations
            .iter()
            .enumerate()
            .filter(|(index, _)| own(*index).is_none())
            .map(|(_, operation)| operation.lines.as_str())
            .collect();
        let mut items = VecDeque::new();
        if !forwarded.is_empty() {
            let mut headers = http::HeaderMap::new();
            headers.insert("content-type", "application/x-ndjson".parse().unwrap());
            let (status, text) = self.forward("POST", path, &headers, forwarded.into()).await?;
            if status != 200 {
                return Ok(respond(status, text));
            }
            let body: Value = serde_json::from_slice(&text).unwrap();
            items = body["items"].as_array().unwrap().iter().cloned().collect();
        }
        let merged: Vec<Value> = operations
            .iter()
            .enumerate()
            .map(|(index, operation)| match own(index) {
                Some(answer) => json!({ operation.name.clone(): answer }),
                None => items.pop_front().unwrap(),
            })
            .collect();
        Ok(respond(200, json!({ "items": merged }).to_string()))
    }

    async fn forward(
        &self,
        method: &str,
        path: &str,
        headers: &http::HeaderMap,
        body: Bytes,
    ) -> Result<(u16, Bytes), Lost> {
        let url = format!("{}{path}", self.target.lock().unwrap());
        let mut call = HTTP.request(method.parse().unwrap(), url).body(body);
        for name in ["content-type", "content-encoding"] {
            if let Some(value) = headers.get(name) {
                call = call.header(name, value);
            }
        }
        let answer = call.send().await.map_err(|_| {
            self.fails.notify_one();
            Lost
        })?;
        let status = answer.status().as_u16();
        Ok((status, answer.bytes().await.map_err(|_| Lost)?))
    }
}

fn respond(status: u16, body: impl Into<Bytes>) -> Response<Full<Bytes>> {
    let response = Response::builder().status(status).header("content-type", "application/json");
    response.body(Full::new(body.into())).unwrap()
}

/// One operation of a bulk, with its document.
struct Operation {
    name: String,
    id: String,
    lines: String,
}

fn operations(lines: &str) -> Vec<Operation> {
    let mut operations: Vec<Operation> = Vec::new();
    let mut document = false;
    for line in lines.lines() {
        if document {
            let operation = operations.last_mut().unwrap();
            operation.lines.push_str(line);
            operation.lines.push('\n');
            document = false;
            continue;
        }
        let action: Value = serde_json::from_str(line).unwrap();
        let (name, about) = action.as_object().unwrap().iter().next().unwrap();
        let id = about["_id"].as_str().unwrap().to_owned();
        operations.push(Operation { name: name.clone(), id, lines: format!("{line}\n") });
        document = name != "delete";
    }
    operations
}

fn unpacked(headers: &http::HeaderMap, body: &Bytes) -> String {
    if headers.get("content-encoding").is_some_and(|coding| coding == "gzip") {
        let mut text = String::new();
        GzDecoder::new(&body[..]).read_to_string(&mut text).unwrap();
        return text;
    }
    String::from_utf8(body.to_vec()).unwrap()
}
