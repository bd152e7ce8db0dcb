//! A second instance of parks on the engines of a running platform, with its own configuration and gateway.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use local::gateway::Gateway;
use table::{Config, Engines};
use tokio::net::TcpListener;

use super::{Cairn, User};

/// A gateway, which is stopped when dropped.
pub struct Front {
    pub cairn: Cairn,
    url: String,
    begun: Arc<AtomicUsize>,
    _gateway: Gateway,
}

impl Front {
    pub async fn of(cairn: Cairn, config: Config) -> Self {
        let app = ::parks::app(Engines::new(config, cairn.clock.clone())).metrics_to(|_| {});
        let (app, begun) = (Arc::new(app), Arc::<AtomicUsize>::default());
        let count = Arc::clone(&begun);
        let handle = move |request| {
            let app = Arc::clone(&app);
            count.fetch_add(1, Ordering::SeqCst);
            async move { app.handle(request).await }
        };
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let gateway = Gateway::start(listener, handle).unwrap();
        let url = format!("http://{}", gateway.address());
        Self { cairn, url, begun, _gateway: gateway }
    }

    /// Returns a user with this bearer token.
    pub fn user(&self, name: &'static str, token: &str) -> User {
        User::outside(&self.url, name, Some(format!("Bearer {token}")))
    }

    pub fn visitor(&self) -> User {
        User::outside(&self.url, "visitor", None)
    }

    /// Returns the number of requests that have reached the system.
    pub fn begun(&self) -> usize {
        self.begun.load(Ordering::SeqCst)
    }
}
