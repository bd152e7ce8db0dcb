//! Waits for what other processes or functions bring about.

use std::time::Duration;

use tokio::time::Instant;

/// Waits until something holds. `what` says in the failure what did not become true.
pub async fn eventually(what: &str, holds: impl AsyncFn() -> bool) {
    let until = Instant::now() + Duration::from_secs(60);
    while !holds().await {
        assert!(Instant::now() < until, "not within 60 s: {what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
