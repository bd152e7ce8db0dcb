//! A DynamoDB in front of which a worker stops: a proxy that does not answer one of its writes, or answers it late.

use std::collections::HashSet;
use std::error::Error;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::header::CONTENT_LENGTH;
use http::request::Parts;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::{Request, Response};
use serde_json::Value;
use tokio::sync::Notify;

use super::relay::pass_on;
use super::server::Server;
use super::tier::sized;

/// The proxy, which is stopped when dropped.
pub struct Stopper {
    pub url: String,
    shared: Arc<Shared>,
    _server: Server,
}

/// The writes that are counted and may be held.
pub const TRANSACTIONS: &[&str] = &["TransactWriteItems"];
pub const WRITES: &[&str] = &["TransactWriteItems", "BatchWriteItem", "PutItem", "UpdateItem", "DeleteItem"];

/// The moment at which a write is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Moment {
    /// DynamoDB does not receive the write.
    BeforeItIsSent,
    /// Half of a batch is carried out, in the order of its keys, since a batch is not a transaction.
    HalfDone,
    /// The write is carried out, and its response is lost.
    AfterItIsDone,
}

impl Moment {
    pub const BOTH: [Self; 2] = [Self::BeforeItIsSent, Self::AfterItIsDone];

    /// Returns the moments at which a write with this number is held: both in the nightly tier, otherwise one, which
    /// alternates from write to write.
    pub fn of_write(number: usize) -> &'static [Self] {
        let [before, after] = &Self::BOTH;
        sized(std::slice::from_ref(if number.is_multiple_of(2) { before } else { after }), &Self::BOTH)
    }
}

/// The writes at which workers have stopped.
#[derive(Clone)]
pub struct Met {
    held: Arc<Mutex<HashSet<(Write, Moment)>>>,
    /// Whether a retry of the write has another key. Such a key does not identify a write that also has others.
    at_random: fn(&str) -> bool,
}

/// The operations of a write with their items, in order, by which a retry is recognized.
type Write = Vec<String>;

struct Shared {
    target: String,
    operations: &'static [&'static str],
    holds: Holds,
    writes: AtomicUsize,
    stopped: Notify,
    resumed: Notify,
    /// Whether a write was held. Its sender sends no further requests.
    dead: AtomicBool,
    /// Whether the held write is a batch of several items.
    batch: AtomicBool,
}

/// The choice of the write that is held, and of the moment.
enum Holds {
    /// The write with this number, counted from 0.
    Numbered(Option<(usize, Moment)>),
    /// The first write at which no worker has stopped.
    Unmet(Met),
}

impl Stopper {
    /// Starts a proxy for this DynamoDB. Without a choice it only counts.
    pub async fn before(target: String, held: Option<(usize, Moment)>) -> Self {
        Self::of(TRANSACTIONS, target, held).await
    }

    /// Starts a proxy that counts these operations.
    pub async fn of(operations: &'static [&'static str], target: String, held: Option<(usize, Moment)>) -> Self {
        Self::start(operations, target, Holds::Numbered(held)).await
    }

    /// Starts a proxy that holds the first write that no earlier proxy with the same `met` has held: first before it is
    /// sent, then half carried out if it is a batch, then with its response lost.
    pub async fn at_unmet(met: &Met, target: String) -> Self {
        Self::start(WRITES, target, Holds::Unmet(met.clone())).await
    }

    async fn start(operations: &'static [&'static str], target: String, holds: Holds) -> Self {
        let (writes, stopped, resumed) = (AtomicUsize::new(0), Notify::new(), Notify::new());
        let (dead, batch) = (AtomicBool::new(false), AtomicBool::new(false));
        let shared = Arc::new(Shared { target, operations, holds, writes, stopped, resumed, dead, batch });
        let serving = Arc::clone(&shared);
        let server = Server::start(move |request| answer(Arc::clone(&serving), request)).await;
        Self { url: server.url.clone(), shared, _server: server }
    }

    /// Returns the number of counted writes.
    pub fn writes(&self) -> usize {
        self.shared.writes.load(Ordering::SeqCst)
    }

    /// Waits until the write is held.
    pub async fn stopped(&self) {
        self.shared.stopped.notified().await;
    }

    /// Lets the held write go on. Its sender was slow, and has not died.
    pub fn resume(&self) {
        self.shared.resumed.notify_one();
    }

    /// Whether the held write can be half carried out.
    pub fn holds_a_batch(&self) -> bool {
        self.shared.batch.load(Ordering::SeqCst)
    }
}

async fn answer(
    shared: Arc<Shared>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Box<dyn Error + Send + Sync>> {
    let (mut parts, body) = request.into_parts();
    let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    if shared.dead.load(Ordering::SeqCst) {
        return Err("who sends this has died".into());
    }
    let target = parts.headers.get("x-amz-target").and_then(|target| target.to_str().ok()).unwrap_or_default();
    let operation = target.rsplit('.').next().unwrap_or_default();
    let moment = if shared.operations.contains(&operation) {
        let number = shared.writes.fetch_add(1, Ordering::SeqCst);
        shared.holds.moment(number, operation, &body)
    } else {
        None
    };
    if moment.is_some() {
        shared.batch.store(operation == "BatchWriteItem" && items(operation, &body).len() > 1, Ordering::SeqCst);
    }
    if moment == Some(Moment::BeforeItIsSent) {
        shared.stop().await;
    }
    let body = if moment == Some(Moment::HalfDone) { half(&mut parts, &body) } else { body };
    let answer = pass_on(shared.target.clone(), parts, body).await?;
    if moment.is_some_and(|moment| moment != Moment::BeforeItIsSent) {
        shared.stop().await;
    }
    Ok(answer)
}

impl Shared {
    async fn stop(&self) {
        self.dead.store(true, Ordering::SeqCst);
        self.stopped.notify_one();
        self.resumed.notified().await;
        self.dead.store(false, Ordering::SeqCst);
    }
}

impl Holds {
    fn moment(&self, number: usize, operation: &str, body: &[u8]) -> Option<Moment> {
        match self {
            Self::Numbered(held) => held.and_then(|(held, moment)| (held == number).then_some(moment)),
            Self::Unmet(met) => met.moment(operation, body),
        }
    }
}

impl Met {
    /// Creates an empty set.
    pub fn new(at_random: fn(&str) -> bool) -> Self {
        Self { held: Arc::default(), at_random }
    }

    /// Returns the next moment at which a write is held. Returns `None` if it was held at each of them.
    fn moment(&self, operation: &str, body: &[u8]) -> Option<Moment> {
        let (random, mut known): (Vec<_>, Vec<_>) =
            items(operation, body).into_iter().partition(|(_, key)| (self.at_random)(key));
        if known.is_empty() {
            known = random;
        }
        let mut write: Write = known.into_iter().map(|(action, key)| format!("{action} {key}")).collect();
        write.sort_unstable();
        let mut held = self.held.lock().unwrap();
        let halves = operation == "BatchWriteItem" && write.len() > 1;
        let moments = [Moment::BeforeItIsSent, Moment::HalfDone, Moment::AfterItIsDone].into_iter();
        moments
            .filter(|moment| halves || *moment != Moment::HalfDone)
            .find(|moment| held.insert((write.clone(), *moment)))
    }
}

/// Returns the first half of a batch, with at least one write.
fn half(parts: &mut Parts, body: &[u8]) -> Bytes {
    let mut batch: Value = serde_json::from_slice(body).unwrap();
    for writes in batch["RequestItems"].as_object_mut().unwrap().values_mut() {
        let writes = writes.as_array_mut().unwrap();
        writes.truncate(writes.len().div_ceil(2));
    }
    parts.headers.remove(CONTENT_LENGTH);
    batch.to_string().into()
}

/// Returns the operations of a write, such as `Delete`, with the keys of their items.
fn items(operation: &str, body: &[u8]) -> Vec<(String, String)> {
    let body: Value = serde_json::from_slice(body).unwrap();
    let parts: Vec<&Value> = match operation {
        "TransactWriteItems" => body["TransactItems"].as_array().into_iter().flatten().collect(),
        "BatchWriteItem" => {
            let tables = body["RequestItems"].as_object().into_iter().flatten();
            tables.filter_map(|(_, writes)| writes.as_array()).flatten().collect()
        }
        _ => return vec![(operation.to_owned(), key(&body))],
    };
    let parts = parts.into_iter().filter_map(Value::as_object).flatten();
    parts.map(|(action, part)| (action.clone(), key(part))).collect()
}

fn key(write: &Value) -> String {
    let item = if write["Key"].is_null() { &write["Item"] } else { &write["Key"] };
    let parts = ["PK", "SK", "pk", "sk"].into_iter().filter_map(|name| item[name]["S"].as_str());
    parts.collect::<Vec<_>>().join(" ")
}
