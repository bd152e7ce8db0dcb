//! The clock of every timestamp, revision, expiry and lease.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::watch;

/// A source of the present time. Clones share one offset, so a test that advances one clock advances all its clones.
#[derive(Clone, Debug)]
pub struct Clock {
    /// Microseconds added to the machine's time. Only tests and local platforms change it.
    ahead: Arc<watch::Sender<i64>>,
}

impl Default for Clock {
    fn default() -> Self {
        Self { ahead: Arc::new(watch::Sender::new(0)) }
    }
}

impl Clock {
    /// Creates a clock with the machine's time.
    pub fn system() -> Self {
        Self::default()
    }

    /// Returns the present time, to the microsecond.
    pub fn now(&self) -> Timestamp {
        Timestamp::from_microsecond(self.micros()).unwrap_or(Timestamp::MAX)
    }

    /// Returns the microseconds since 1970-01-01T00:00:00Z.
    pub fn micros(&self) -> i64 {
        Timestamp::now().as_microsecond().saturating_add(*self.ahead.borrow())
    }

    /// Returns the seconds since 1970-01-01T00:00:00Z, the unit of DynamoDB's TTL.
    pub fn seconds(&self) -> i64 {
        self.micros().div_euclid(1_000_000)
    }

    /// Returns how long it takes until a time of [`rfc3339`], 0 if it has come. None for another text.
    pub fn time_until(&self, time: &str) -> Option<Duration> {
        let time: Timestamp = time.parse().ok()?;
        let micros = time.as_microsecond().saturating_sub(self.micros());
        Some(Duration::from_micros(u64::try_from(micros).unwrap_or(0)))
    }

    /// Advances the clock and all its clones, so that a test need not wait.
    pub fn advance(&self, by: Duration) {
        let micros = i64::try_from(by.as_micros()).unwrap_or(i64::MAX);
        self.ahead.send_modify(|ahead| *ahead = ahead.saturating_add(micros));
    }

    /// Subscribes to advances of the clock. A task that sleeps until a time then checks the clock again.
    pub fn moves(&self) -> watch::Receiver<i64> {
        self.ahead.subscribe()
    }
}

/// Formats a time as RFC 3339 in UTC with exactly six fraction digits, so that text order is time order.
pub fn rfc3339(time: Timestamp) -> String {
    format!("{time:.6}")
}

/// Formats the time since 1970-01-01T00:00:00Z by [`rfc3339`].
pub fn rfc3339_since_epoch(time: Duration) -> String {
    let micros = i64::try_from(time.as_micros()).unwrap_or(i64::MAX);
    rfc3339(Timestamp::from_microsecond(micros).unwrap_or(Timestamp::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advanced_clock_advances_its_clones() {
        let clock = Clock::system();
        let shared = clock.clone();
        let before = shared.seconds();
        clock.advance(Duration::from_secs(3600));
        assert!(shared.seconds() >= before + 3600);
    }

    #[test]
    fn time_until_is_zero_for_the_past() {
        let clock = Clock::system();
        let at = |seconds: i64| rfc3339(Timestamp::from_second(clock.seconds() + seconds).unwrap());
        assert_eq!(clock.time_until(&at(-5)), Some(Duration::ZERO));
        assert!(clock.time_until(&at(60)).is_some_and(|left| (58..=60).contains(&left.as_secs())));
        assert_eq!(clock.time_until("noon"), None);
    }

    #[test]
    fn rfc3339_has_six_fraction_digits() {
        let time = Timestamp::from_microsecond(1_700_000_000_000_000).unwrap();
        assert_eq!(rfc3339(time), "2023-11-14T22:13:20.000000Z");
    }
}
