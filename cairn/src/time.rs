//! Times as commands print them.

use jiff::Timestamp;

/// Returns a time in UTC to the second. `micros` are microseconds since 1970-01-01T00:00:00Z.
pub fn time(micros: i64) -> String {
    Timestamp::from_microsecond(micros).map_or_else(|_| micros.to_string(), |time| format!("{time:.0}"))
}
