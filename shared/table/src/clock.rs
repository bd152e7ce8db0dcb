//! The one clock: every timestamp, revision, expiry and lease comes from it.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::watch;

/// A source of the present time. Clones share it, so moving a manual clock moves it for everybody.
#[derive(Clone, Debug)]
pub struct Clock {
    /// Microseconds added to the machine's time; only a test moves them.
    ahead: Arc<watch::Sender<i64>>,
}

impl Default for Clock {
    fn default() -> Self {
        Self { ahead: Arc::new(watch::Sender::new(0)) }
    }
}

impl Clock {
    /// The machine's time.
    pub fn system() -> Self {
        Self::default()
    }

    /// The present time, to the microsecond.
    pub fn now(&self) -> Timestamp {
        Timestamp::from_microsecond(self.micros()).unwrap_or(Timestamp::MAX)
    }

    /// Microseconds since 1970-01-01T00:00:00Z.
    pub fn micros(&self) -> i64 {
        Timestamp::now().as_microsecond().saturating_add(*self.ahead.borrow())
    }

    /// Seconds since 1970-01-01T00:00:00Z, as DynamoDB's TTL counts.
    pub fn seconds(&self) -> i64 {
        self.micros().div_euclid(1_000_000)
    }

    /// Moves the clock forward for everybody who shares it, so that a test need not wait.
    pub fn advance(&self, by: Duration) {
        let micros = i64::try_from(by.as_micros()).unwrap_or(i64::MAX);
        self.ahead.send_modify(|ahead| *ahead = ahead.saturating_add(micros));
    }

    /// Tells each time that the clock has been moved, so that what sleeps until a time looks at the clock again.
    pub fn moves(&self) -> watch::Receiver<i64> {
        self.ahead.subscribe()
    }
}

/// RFC 3339 in UTC with exactly six fraction digits, so that text order is time order.
pub fn rfc3339(time: Timestamp) -> String {
    format!("{time:.6}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moved_clock_moves_for_everybody() {
        let clock = Clock::system();
        let shared = clock.clone();
        let before = shared.seconds();
        clock.advance(Duration::from_secs(3600));
        assert!(shared.seconds() >= before + 3600);
    }

    #[test]
    fn six_digits_always() {
        let time = Timestamp::from_microsecond(1_700_000_000_000_000).unwrap();
        assert_eq!(rfc3339(time), "2023-11-14T22:13:20.000000Z");
    }
}
