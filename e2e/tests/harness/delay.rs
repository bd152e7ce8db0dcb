//! A slow DynamoDB: a proxy that delays each transaction.

use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http_body_util::BodyExt;
use hyper::Request;
use hyper::body::Incoming;
use tokio::time::sleep;

use super::relay::pass_on;
use super::server::Server;
use super::stopper::Moment;

/// The proxy, which is stopped when dropped.
pub struct Delay {
    pub url: String,
    transactions: Arc<AtomicUsize>,
    held: Arc<Mutex<Option<(Duration, Moment)>>>,
    _server: Server,
}

impl Delay {
    /// Starts a proxy for this DynamoDB. Each transaction is delayed by this time, before or after it is carried out.
    pub async fn before(target: String, time: Duration, moment: Moment) -> Self {
        let transactions = Arc::<AtomicUsize>::default();
        let held = Arc::new(Mutex::new(Some((time, moment))));
        let (counted, holds) = (Arc::clone(&transactions), Arc::clone(&held));
        let server = Server::start(move |request: Request<Incoming>| {
            let operation = request.headers().get("x-amz-target").and_then(|target| target.to_str().ok());
            let holds = *holds.lock().unwrap();
            let holds = if operation.is_some_and(|operation| operation.ends_with("TransactWriteItems")) {
                counted.fetch_add(1, Ordering::SeqCst);
                holds
            } else {
                None
            };
            let target = target.clone();
            async move {
                let (parts, body) = request.into_parts();
                let body = body.collect().await.unwrap().to_bytes();
                if let Some((time, Moment::BeforeItIsSent)) = holds {
                    sleep(time).await;
                }
                let answer = pass_on(target, parts, body).await.unwrap();
                if let Some((time, Moment::AfterItIsDone)) = holds {
                    sleep(time).await;
                }
                Ok::<_, Infallible>(answer)
            }
        })
        .await;
        Self { url: server.url.clone(), transactions, held, _server: server }
    }

    /// Returns the number of transactions that were sent.
    pub fn transactions(&self) -> usize {
        self.transactions.load(Ordering::SeqCst)
    }

    /// Ends the delay of later transactions.
    pub fn end(&self) {
        *self.held.lock().unwrap() = None;
    }
}
