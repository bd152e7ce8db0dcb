//! A DynamoDB whose eventually consistent reads lag behind its writes: a proxy that repeats their first responses.

use std::collections::HashMap;
use std::error::Error;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::{Request, Response};
use serde_json::Value;

use super::relay::pass_on;
use super::server::Server;

/// The proxy, which is stopped when dropped.
pub struct Lag {
    pub url: String,
    shared: Arc<Shared>,
    _server: Server,
}

/// The reads that lag.
#[derive(Clone, Copy, Debug)]
pub enum Lagging {
    /// Queries of this index.
    Index(&'static str),
    /// `BatchGetItem`, unless it is strongly consistent.
    Batches,
}

struct Shared {
    target: String,
    lagging: Lagging,
    /// The first response to each of these reads, by its request.
    first: Mutex<HashMap<String, Bytes>>,
    repeated: AtomicUsize,
}

impl Lag {
    /// Starts a proxy for this DynamoDB. To each of these reads it sends the response that it sent to the first one with
    /// the same request.
    pub async fn before(target: String, lagging: Lagging) -> Self {
        let shared = Arc::new(Shared { target, lagging, first: Mutex::default(), repeated: AtomicUsize::new(0) });
        let serving = Arc::clone(&shared);
        let server = Server::start(move |request| answer(Arc::clone(&serving), request)).await;
        Self { url: server.url.clone(), shared, _server: server }
    }

    /// Returns the number of responses that were repeated.
    pub fn repeated(&self) -> usize {
        self.shared.repeated.load(Ordering::SeqCst)
    }
}

async fn answer(
    shared: Arc<Shared>,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Box<dyn Error + Send + Sync>> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await?.to_bytes();
    let target = parts.headers.get("x-amz-target").and_then(|target| target.to_str().ok()).unwrap_or_default();
    let operation = target.rsplit('.').next().unwrap_or_default();
    if !shared.lagging.includes(operation, &body) {
        return Ok(pass_on(shared.target.clone(), parts, body).await?);
    }
    // The keys of a batch have their attributes in any order.
    let read = serde_json::from_slice::<Value>(&body)?.to_string();
    let earlier = shared.first.lock().unwrap().get(&read).cloned();
    if let Some(earlier) = earlier {
        shared.repeated.fetch_add(1, Ordering::SeqCst);
        let response = Response::builder().header("content-type", "application/x-amz-json-1.0");
        return Ok(response.body(Full::new(earlier))?);
    }
    let (head, answer) = pass_on(shared.target.clone(), parts, body).await?.into_parts();
    let answer = answer.collect().await?.to_bytes();
    if head.status.is_success() {
        shared.first.lock().unwrap().insert(read, answer.clone());
    }
    Ok(Response::from_parts(head, Full::new(answer)))
}

impl Lagging {
    fn includes(self, operation: &str, body: &[u8]) -> bool {
        let request: Value = serde_json::from_slice(body).unwrap_or_default();
        match self {
            Self::Index(name) => operation == "Query" && request["IndexName"] == name,
            Self::Batches => {
                let tables = || request["RequestItems"].as_object().into_iter().flatten();
                operation == "BatchGetItem" && !tables().any(|(_, read)| read["ConsistentRead"] == true)
            }
        }
    }
}
