//! Event sources: they call a system's handlers with the semantics of Lambda's event sources.

pub mod batch;
pub mod checkpoint;
pub mod expiry;
pub mod filter;
pub mod given_up;
pub mod objects;
pub mod queue;
pub mod record;
pub mod schedule;
pub mod shards;
pub mod stream;

use std::future::Future;
use std::time::Duration;

use bytes::Bytes;

/// A function of Lambda, called by its handler's name. Payload and response are Lambda's JSON. An error is a function
/// error of Lambda, including timeouts.
pub trait Function: Send + Sync + 'static {
    /// Calls the function, which is stopped after this time.
    fn invoke(
        &self,
        handler: &'static str,
        payload: Bytes,
        timeout: Duration,
    ) -> impl Future<Output = Result<Bytes, String>> + Send;
}

/// The maximum timeout of Lambda. Handlers declare shorter ones.
pub const MAX_TIMEOUT: Duration = Duration::from_secs(900);

/// The settings of the event sources. The defaults are those of the templates, except for shorter waits and timeouts.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The maximum number of stream records in one invocation.
    pub batch_records: usize,
    /// The maximum payload of one invocation in bytes. A single record may be larger.
    pub batch_bytes: usize,
    /// The longest time that an invocation of a mirror may take. A rebuild of an index waits for that long.
    pub mirror_timeout: Duration,
    /// The polling interval of a stream without new records, of an engine that does not tell when records arrive.
    pub poll: Duration,
    /// Stream records that still fail at this age are discarded: written to the bucket, and skipped.
    pub maximum_age: Duration,
    /// The wait after a first failure. It doubles up to [`Settings::retry_at_most`].
    pub retry: Duration,
    pub retry_at_most: Duration,
    /// Handlers that no source calls, so that a test shows what happens without them.
    pub without: Vec<&'static str>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            batch_records: 1000,
            batch_bytes: 6 * 1024 * 1024 - 1024,
            mirror_timeout: Duration::from_secs(20),
            poll: Duration::from_millis(50),
            maximum_age: Duration::from_secs(20 * 3600),
            retry: Duration::from_millis(100),
            retry_at_most: Duration::from_secs(5),
            without: Vec::new(),
        }
    }
}

impl Settings {
    /// Returns the wait after this number of consecutive failures, with jitter.
    fn wait_after(&self, failures: u32) -> Duration {
        let longest = self.retry.saturating_mul(1 << failures.saturating_sub(1).min(16)).min(self.retry_at_most);
        longest.mul_f64(0.5 + fastrand::f64() / 2.0)
    }
}
