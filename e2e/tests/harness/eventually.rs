//! Waits for what other processes or functions bring about.

use std::time::Duration;

use tokio::time::Instant;

/// Waits until something holds. `what` says in the failure what did not become true.
pub async fn eventually(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    eventually_some(what, async || holds().await.then_some(())).await;
}

/// Waits until there is something, and returns it. `what` says in the failure what did not become true.
pub async fn eventually_some<T>(what: &str, mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(some) = ask().await {
            return some;
        }
        assert!(Instant::now() < until, "not within 60 s: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
