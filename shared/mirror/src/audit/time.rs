//! Times in microseconds since 1970-01-01T00:00:00Z.

use std::time::Duration;

/// Adds a duration to a time in microseconds.
pub(super) fn after(micros: i64, time: Duration) -> i64 {
    micros.saturating_add(i64::try_from(time.as_micros()).unwrap_or(i64::MAX))
}
