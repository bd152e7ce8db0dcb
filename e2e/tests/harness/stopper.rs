//! A DynamoDB in front of which a worker stops: a proxy that holds one of its writes for ever.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::{Request, Response};
use tokio::sync::Notify;

use super::server::Server;

/// The proxy; gone when dropped.
pub struct Stopper {
    pub url: String,
    shared: Arc<Shared>,
    _server: Server,
}

/// Which writes are counted, and may be held.
pub const TRANSACTIONS: &[&str] = &["TransactWriteItems"];
pub const WRITES: &[&str] = &["TransactWriteItems", "BatchWriteItem", "PutItem", "UpdateItem", "DeleteItem"];

/// When the write is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// DynamoDB never sees it.
    BeforeItIsSent,
    /// It is done, and its answer never comes.
    AfterItIsDone,
}

struct Shared {
    target: String,
    client: reqwest::Client,
    operations: &'static [&'static str],
    /// Which write is held, counted from 0, and when.
    held: Option<(usize, Moment)>,
    writes: AtomicUsize,
    stopped: Notify,
}

impl Stopper {
    /// In front of this DynamoDB. Without a place it only counts.
    pub async fn before(target: String, held: Option<(usize, Moment)>) -> Self {
        Self::of(TRANSACTIONS, target, held).await
    }

    /// The same with these operations.
    pub async fn of(operations: &'static [&'static str], target: String, held: Option<(usize, Moment)>) -> Self {
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let shared = Shared { target, client, operations, held, writes: AtomicUsize::new(0), stopped: Notify::new() };
        let shared = Arc::new(shared);
        let serving = Arc::clone(&shared);
        let server = Server::start(move |request| answer(Arc::clone(&serving), request)).await;
        Self { url: server.url.clone(), shared, _server: server }
    }

    /// How many of them have come.
    pub fn writes(&self) -> usize {
        self.shared.writes.load(Ordering::SeqCst)
    }

    /// Waits until the write is held.
    pub async fn stopped(&self) {
        self.shared.stopped.notified().await;
    }
}

async fn answer(shared: Arc<Shared>, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, reqwest::Error> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let operation = parts.headers.get("x-amz-target").and_then(|target| target.to_str().ok()).unwrap_or_default();
    let counts = operation.rsplit('.').next().is_some_and(|name| shared.operations.contains(&name));
    let number = counts.then(|| shared.writes.fetch_add(1, Ordering::SeqCst));
    let moment = shared.held.and_then(|(held, moment)| (number == Some(held)).then_some(moment));
    if moment == Some(Moment::BeforeItIsSent) {
        shared.stop().await;
    }
    let sent = shared.client.post(&shared.target).headers(parts.headers).body(body).send().await?;
    let mut response = Response::builder().status(sent.status());
    for (name, value) in sent.headers() {
        response = response.header(name, value);
    }
    let body = sent.bytes().await?;
    if moment == Some(Moment::AfterItIsDone) {
        shared.stop().await;
    }
    Ok(response.body(Full::new(body)).unwrap())
}

impl Shared {
    async fn stop(&self) {
        self.stopped.notify_one();
        std::future::pending::<()>().await;
    }
}
