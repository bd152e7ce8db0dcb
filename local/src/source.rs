//! Event sources: what calls a system's handlers besides HTTP, with the semantics that Lambda's own have.

pub mod batch;
pub mod checkpoint;
pub mod expiry;
pub mod filter;
pub mod given_up;
pub mod objects;
pub mod record;
pub mod schedule;
pub mod shards;
pub mod stream;

use std::future::Future;
use std::time::Duration;

use bytes::Bytes;

/// What an event source calls: a function of Lambda's, by its handler's name. Payload and answer are Lambda's JSON; an
/// error is one that Lambda would call a function error, a timeout among them.
pub trait Function: Send + Sync + 'static {
    fn invoke(&self, handler: &'static str, payload: Bytes) -> impl Future<Output = Result<Bytes, String>> + Send;
}

/// How the event sources work. The defaults are what the templates deploy, but for the waiting, which is shorter.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Stream records in one invocation.
    pub batch_records: usize,
    /// Bytes of payload in one invocation; a single record may be larger.
    pub batch_bytes: usize,
    /// How long a source waits before it looks again at a stream that had nothing new.
    pub poll: Duration,
    /// Stream records that still fail at this age are given up: written to the bucket, and passed.
    pub maximum_age: Duration,
    /// The wait after a first failure; it doubles up to [`Settings::retry_at_most`].
    pub retry: Duration,
    pub retry_at_most: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            batch_records: 1000,
            batch_bytes: 6 * 1024 * 1024 - 1024,
            poll: Duration::from_millis(50),
            maximum_age: Duration::from_secs(20 * 3600),
            retry: Duration::from_millis(100),
            retry_at_most: Duration::from_secs(5),
        }
    }
}

impl Settings {
    /// How long to wait after so many failures in a row, with jitter.
    fn wait_after(&self, failures: u32) -> Duration {
        let longest = self.retry.saturating_mul(1 << failures.saturating_sub(1).min(16)).min(self.retry_at_most);
        longest.mul_f64(0.5 + fastrand::f64() / 2.0)
    }
}
