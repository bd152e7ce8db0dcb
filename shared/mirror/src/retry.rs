//! Requests that are repeated after a passing fault.

use std::future::Future;
use std::time::Duration;

use crate::ports::{Fault, Time};

/// How often a request is repeated before its caller fails. An audit or a sweep is resumed by the next one.
const ATTEMPTS: u32 = 5;

/// Sends a request until it succeeds, fails for a lasting reason, or has failed too often.
pub(crate) async fn retry_passing<T, F>(time: &impl Time, mut request: impl FnMut() -> F) -> Result<T, Fault>
where
    F: Future<Output = Result<T, Fault>>,
{
    let mut attempt = 0;
    loop {
        match request().await {
            Err(fault) if fault.passing && attempt < ATTEMPTS => {
                tracing::warn!(%fault, "a request failed; will retry");
                time.pause(Duration::from_millis(200 << attempt)).await;
                attempt += 1;
            }
            done => return done,
        }
    }
}
