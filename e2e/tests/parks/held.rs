//! Parks once more, on the engines of a running platform, with a write that is held so that others come before it.

use std::time::Duration;

use futures::future::join;
use reqwest::Method;
use serde_json::Value;
use table::{Config, Engines};
use tokio::time::{Instant, timeout};
use web::App;

use crate::harness::Cairn;
use crate::harness::stopper::{Moment, Stopper};

/// The longest time that a test waits for the write.
const LIMIT: Duration = Duration::from_secs(30);

pub struct Held {
    app: App,
    token: String,
    stopper: Stopper,
}

impl Held {
    /// Holds the first of these operations.
    pub async fn first_of(cairn: &Cairn, operations: &'static [&'static str]) -> Self {
        let config = cairn.engines().config.clone();
        let held = Some((0, Moment::BeforeItIsSent));
        let stopper = Stopper::of(operations, config.dynamodb.clone().unwrap(), held).await;
        let config = Config { dynamodb: Some(stopper.url.clone()), ..config };
        let app = ::parks::app(Engines::new(config, cairn.clock.clone())).metrics_to(|_| {});
        Self { app, token: cairn.token("ada", &["parks-admin"]).await, stopper }
    }

    /// Sends a request of the administrator, and does something else while its write is held. Returns the status of the
    /// response, and what the other returns.
    pub async fn request<T>(
        &self,
        method: Method,
        path: &str,
        body: &Value,
        meanwhile: impl IntoFuture<Output = T>,
    ) -> (u16, T) {
        let request = http::Request::builder().method(method).uri(path);
        let request = request.header("authorization", format!("Bearer {}", self.token));
        let request = if body.is_null() {
            request.body(bytes::Bytes::new())
        } else {
            request.header("content-type", "application/json").body(body.to_string().into())
        };
        let status = async { self.app.handle(request.unwrap()).await.status().as_u16() };
        self.while_held(status, meanwhile).await
    }

    /// Calls a handler without an event, and does something else while its write is held. Returns what the other returns.
    pub async fn event<T>(&self, handler: &str, meanwhile: impl IntoFuture<Output = T>) -> T {
        let event = self.app.event(handler, "{}".into(), Instant::now() + 2 * LIMIT);
        let (handled, other) = self.while_held(event, meanwhile).await;
        handled.unwrap();
        other
    }

    async fn while_held<R, T>(
        &self,
        sender: impl Future<Output = R>,
        meanwhile: impl IntoFuture<Output = T>,
    ) -> (R, T) {
        let meanwhile = async {
            timeout(LIMIT, self.stopper.stopped()).await.expect("the write is never sent");
            let done = meanwhile.await;
            self.stopper.resume();
            done
        };
        join(sender, meanwhile).await
    }
}
