//! A DynamoDB that finds nothing in one read: an index that lags, or a batch whose items get other keys meanwhile.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Response;
use serde_json::{Value, json};

use super::relay::pass_on;
use super::server::Server;

/// The proxy, which is stopped when dropped.
pub struct MissedRead {
    pub url: String,
    number: usize,
    seen: Arc<AtomicUsize>,
    _server: Server,
}

impl MissedRead {
    /// Starts a proxy for this DynamoDB. Of the requests with this operation that `is_counted`, the one with this number,
    /// counted from 0, finds nothing.
    pub async fn before(
        target: String,
        operation: &'static str,
        is_counted: fn(&Value) -> bool,
        number: usize,
    ) -> Self {
        let seen = Arc::<AtomicUsize>::default();
        let counted = Arc::clone(&seen);
        let server = Server::start(move |request: hyper::Request<hyper::body::Incoming>| {
            let (target, counted) = (target.clone(), Arc::clone(&counted));
            async move {
                let (parts, body) = request.into_parts();
                let body = body.collect().await?.to_bytes();
                let named = parts.headers.get("x-amz-target").and_then(|target| target.to_str().ok());
                let is_operation = named.and_then(|named| named.rsplit('.').next()) == Some(operation);
                if is_operation
                    && is_counted(&serde_json::from_slice(&body)?)
                    && counted.fetch_add(1, Ordering::SeqCst) == number
                {
                    let nothing = match operation {
                        "BatchGetItem" => json!({ "Responses": {}, "UnprocessedKeys": {} }),
                        _ => json!({ "Items": [], "Count": 0, "ScannedCount": 0 }),
                    };
                    let response = Response::builder().header("content-type", "application/x-amz-json-1.0");
                    return Ok(response.body(Full::new(Bytes::from(nothing.to_string())))?);
                }
                Ok::<_, Box<dyn Error + Send + Sync>>(pass_on(target, parts, body).await?)
            }
        })
        .await;
        Self { url: server.url.clone(), number, seen, _server: server }
    }

    /// Whether the read has come.
    pub fn was_missed(&self) -> bool {
        self.seen.load(Ordering::SeqCst) > self.number
    }
}
