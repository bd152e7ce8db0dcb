//! Heartbeats: what the mirror has last done with the records of a table. It saves them in its state table, so that the
//! health of a system and the operators' commands can tell how far search is behind.
//!
//! A heartbeat costs one write unit. A process saves one a minute while it keeps up, and one in five seconds while it is
//! late. Nothing depends on them: if one cannot be saved, the next one is.

use serde::{Deserialize, Serialize};

/// The end of a batch. Times are in milliseconds, those of the clock since 1970-01-01T00:00:00Z.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Heartbeat {
    /// The table of the records, by its logical name.
    pub table: String,
    /// When the batch ended.
    pub at: i64,
    /// When the oldest record was written. If some records were reported, when the oldest of these was written.
    pub oldest: i64,
    /// The age of that record when the batch was received.
    pub received: i64,
    /// How long the batch took.
    pub took: i64,
    /// The highest revision that the batch wrote, or 0.
    pub newest: u64,
    /// The reason why records were reported, if some were.
    pub reason: Option<String>,
}

/// The name in place of a table's, if an invocation failed before its table was known.
pub(crate) const UNKNOWN_TABLE: &str = "unknown";

/// The age from which a record is late: much more than Lambda takes to deliver one.
const LATE: i64 = 5_000;

/// The age at which search lags. The alarm has the same limit.
const LAGS: i64 = 60_000;

/// How long a batch that reported records says that search lags. Lambda delivers them again within this time.
const REPORT_LASTS: i64 = 180_000;

/// How long a late batch that was handled says that search lags. The next one is late as well, or search keeps up.
const LATE_LASTS: i64 = 15_000;

impl Heartbeat {
    /// The partition of all heartbeats.
    pub(crate) const PK: &'static str = "heartbeat";

    /// Returns the heartbeat of an invocation that failed as a whole, so that Lambda delivers every record again. `oldest`
    /// is when the oldest record was written. If that is not known, search lags from the first failure on.
    pub(crate) fn of_failure(
        table: Option<&str>,
        oldest: Option<i64>,
        (received, at): (i64, i64),
        reason: String,
    ) -> Self {
        let oldest = oldest.unwrap_or(received - LAGS);
        Self {
            table: table.unwrap_or(UNKNOWN_TABLE).to_owned(),
            at,
            oldest,
            received: (received - oldest).max(0),
            took: at - received,
            newest: 0,
            reason: Some(reason),
        }
    }

    /// Whether the records of the batch are late, or were reported.
    pub(crate) const fn is_late(&self) -> bool {
        let age = self.received + self.took;
        if self.reason.is_some() { age >= 2 * LATE } else { age >= LATE }
    }

    /// Returns the time before which another heartbeat of this table tells nothing any more.
    pub(crate) const fn outdated(&self) -> i64 {
        self.at - REPORT_LASTS
    }

    /// Returns the age of search in the records of this table, in milliseconds, if search lags.
    pub fn lag(&self, now: i64) -> Option<i64> {
        let since = now - self.at;
        let (age, lasts) = match self.reason {
            Some(_) => (now - self.oldest, REPORT_LASTS),
            None => (self.at - self.oldest, LATE_LASTS),
        };
        (age >= LAGS && since < lasts).then_some(age)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Returns the heartbeat of a batch that took 10 ms.
    pub(crate) fn heartbeat(at: i64, received: i64, reason: Option<&str>) -> Heartbeat {
        let oldest = at - received - 10;
        let reason = reason.map(str::to_owned);
        Heartbeat { table: "toy".to_owned(), at, oldest, received, took: 10, newest: 2, reason }
    }

    #[test]
    fn search_lags_while_records_are_reported_and_until_late_ones_are_handled() {
        let failing = heartbeat(100_000, 50_000, Some("search is down"));
        assert_eq!(failing.lag(100_000), None);
        assert_eq!(failing.lag(120_000), Some(70_010));
        assert_eq!(failing.lag(279_999), Some(230_009));
        assert_eq!(failing.lag(280_000), None);
        let late = heartbeat(100_000, 90_000, None);
        assert_eq!((late.lag(101_000), late.lag(115_000)), (Some(90_010), None));
    }

    #[test]
    fn search_lags_by_the_age_of_records_whose_invocation_failed() {
        let failed = |oldest| Heartbeat::of_failure(Some("toy"), oldest, (100_000, 100_010), "killed".to_owned());
        assert_eq!((failed(Some(99_000)).lag(100_010), failed(Some(99_000)).lag(160_000)), (None, Some(61_000)));
        let unknown = Heartbeat::of_failure(None, None, (100_000, 100_010), "no event".to_owned());
        assert_eq!((unknown.table.as_str(), unknown.lag(100_010)), (UNKNOWN_TABLE, Some(60_010)));
    }

    #[test]
    fn idle_system_does_not_lag() {
        let last = heartbeat(100_000, 300, None);
        for hours in 0..48 {
            assert_eq!(last.lag(100_000 + hours * 3_600_000), None);
        }
    }
}
