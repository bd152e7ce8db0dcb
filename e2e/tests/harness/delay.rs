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
    sent: Arc<AtomicUsize>,
    carried_out: Arc<AtomicUsize>,
    held: Arc<Mutex<Option<(Duration, Moment)>>>,
    _server: Server,
}

impl Delay {
    /// Starts a proxy for this DynamoDB. Each transaction is delayed by this time, before or after it is carried out.
    pub async fn before(target: String, time: Duration, moment: Moment) -> Self {
        let (sent, carried_out) = (Arc::<AtomicUsize>::default(), Arc::<AtomicUsize>::default());
        let held = Arc::new(Mutex::new(Some((time, moment))));
        let (sending, carrying_out, holds) = (Arc::clone(&sent), Arc::clone(&carried_out), Arc::clone(&held));
        let server = Server::start(move |request: Request<Incoming>| {
            let operation = request.headers().get("x-amz-target").and_then(|target| target.to_str().ok());
            let holds = *holds.lock().unwrap();
            let is_transaction = operation.is_some_and(|operation| operation.ends_with("TransactWriteItems"));
            let holds = holds.filter(|_| is_transaction);
            sending.fetch_add(usize::from(is_transaction), Ordering::SeqCst);
            let (target, carrying_out) = (target.clone(), Arc::clone(&carrying_out));
            async move {
                let (parts, body) = request.into_parts();
                let body = body.collect().await.unwrap().to_bytes();
                if let Some((time, Moment::BeforeItIsSent)) = holds {
                    sleep(time).await;
                }
                let answer = pass_on(target, parts, body).await.unwrap();
                let is_carried_out = is_transaction && answer.status().is_success();
                carrying_out.fetch_add(usize::from(is_carried_out), Ordering::SeqCst);
                if let Some((time, Moment::AfterItIsDone)) = holds {
                    sleep(time).await;
                }
                Ok::<_, Infallible>(answer)
            }
        })
        .await;
        Self { url: server.url.clone(), sent, carried_out, held, _server: server }
    }

    /// Returns the number of transactions that were sent.
    pub fn sent(&self) -> usize {
        self.sent.load(Ordering::SeqCst)
    }

    /// Returns the number of transactions that DynamoDB has carried out. One that conflicts with the mirror's write of an
    /// item is sent again.
    pub fn carried_out(&self) -> usize {
        self.carried_out.load(Ordering::SeqCst)
    }

    /// Ends the delay of later transactions.
    pub fn end(&self) {
        *self.held.lock().unwrap() = None;
    }
}
