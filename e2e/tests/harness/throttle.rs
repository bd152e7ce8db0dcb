//! A DynamoDB with a limited capacity: a proxy that throttles what exceeds it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::{Request, Response};
use serde_json::json;

use super::relay::pass_on;
use super::server::Server;

/// The proxy, which is stopped when dropped.
pub struct Throttle {
    pub url: String,
    shared: Arc<Shared>,
    _server: Server,
}

struct Shared {
    target: String,
    /// The operation that is throttled, and how many of its requests are carried out at once.
    operation: &'static str,
    capacity: usize,
    in_progress: AtomicUsize,
    throttled: AtomicUsize,
}

/// How long an operation occupies the capacity.
const OCCUPIED: Duration = Duration::from_millis(10);

impl Throttle {
    /// Starts a proxy for this DynamoDB.
    pub async fn before(target: String, operation: &'static str, capacity: usize) -> Self {
        let (in_progress, throttled) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let shared = Arc::new(Shared { target, operation, capacity, in_progress, throttled });
        let serving = Arc::clone(&shared);
        let server = Server::start(move |request| answer(Arc::clone(&serving), request)).await;
        Self { url: server.url.clone(), shared, _server: server }
    }

    /// Returns the number of requests that were throttled.
    pub fn throttled(&self) -> usize {
        self.shared.throttled.load(Ordering::SeqCst)
    }
}

async fn answer(shared: Arc<Shared>, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, reqwest::Error> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.map(|body| body.to_bytes()).unwrap_or_default();
    let target = parts.headers.get("x-amz-target").and_then(|target| target.to_str().ok()).unwrap_or_default();
    if target.rsplit('.').next() != Some(shared.operation) {
        return pass_on(shared.target.clone(), parts, body).await;
    }
    let is_over = shared.in_progress.fetch_add(1, Ordering::SeqCst) >= shared.capacity;
    let answer = if is_over {
        shared.throttled.fetch_add(1, Ordering::SeqCst);
        Ok(too_fast())
    } else {
        tokio::time::sleep(OCCUPIED).await;
        pass_on(shared.target.clone(), parts, body).await
    };
    shared.in_progress.fetch_sub(1, Ordering::SeqCst);
    answer
}

fn too_fast() -> Response<Full<Bytes>> {
    let body = json!({
        "__type": "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException",
        "message": "The level of configured provisioned throughput for the table was exceeded.",
    });
    let response = Response::builder().status(400).header("content-type", "application/x-amz-json-1.0");
    response.body(Full::new(body.to_string().into())).unwrap()
}
