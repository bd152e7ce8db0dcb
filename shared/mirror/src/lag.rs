//! How far search is behind the tables, for operators, in three legs: until the mirror receives a record, until it has
//! written it, and until a search shows it.

use table::Engines;
use table::schema::System;

use crate::engines::{DynamoState, OpenSearchIndex};
use crate::generation::Generation;
use crate::heartbeat::{Heartbeat, UNKNOWN_TABLE};
use crate::ports::{Fault, State};

/// The lag of one table, in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lag {
    /// The last heartbeat of the mirror.
    pub heartbeat: Heartbeat,
    /// The age of the oldest record when the mirror received it. If the record was reported, its age now.
    pub received: i64,
    /// How long the mirror took to write it. `None` if it is not written yet.
    pub written: Option<i64>,
    /// For how long a search has not shown what was written. 0 if it shows it. `None` while search does not answer.
    pub refreshed: Option<i64>,
    /// Whether search lags: the age of search.
    pub lags: Option<i64>,
}

/// How long an index can take to refresh. A version that no search finds after this time was swept.
const MAX_REFRESH: i64 = 600_000;

/// The lag of each table whose records the mirror has received.
#[derive(Debug)]
pub struct Lags {
    pub tables: Vec<Lag>,
    /// Why search does not answer.
    pub search: Option<Fault>,
}

/// Returns the lags of a system.
pub async fn lag(system: &'static System, engines: &Engines) -> Result<Lags, Fault> {
    let state = DynamoState::new(engines, system);
    let heartbeats = state.heartbeats().await?;
    let written = state.generations().await?.map(|generations| generations.written).unwrap_or_default();
    let (newest, search) = match newest(engines, &written).await {
        Ok(newest) => (Some(newest), None),
        Err(fault) => (None, Some(fault)),
    };
    let now = engines.clock.micros() / 1000;
    // No later batch replaces the heartbeat of a failure without a table.
    let is_current = |heartbeat: &Heartbeat| heartbeat.table != UNKNOWN_TABLE || heartbeat.lag(now).is_some();
    let tables = heartbeats.into_iter().filter(is_current).map(|heartbeat| Lag::new(heartbeat, newest, now));
    Ok(Lags { tables: tables.collect(), search })
}

/// Returns the highest version that a search finds in each of these generations.
async fn newest(engines: &Engines, written: &[Generation]) -> Result<u64, Fault> {
    let index = OpenSearchIndex::new(engines)?;
    let mut newest = u64::MAX;
    for generation in written {
        newest = newest.min(index.newest(&generation.write_alias()).await?);
    }
    Ok(newest)
}

impl Lag {
    /// `newest` is the highest version that a search finds; `None` while search does not answer.
    fn new(heartbeat: Heartbeat, newest: Option<u64>, now: i64) -> Self {
        let since = (now - heartbeat.at).max(0);
        let failed = heartbeat.reason.is_some();
        let refreshed = |newest| if newest < heartbeat.newest && since < MAX_REFRESH { since } else { 0 };
        Self {
            received: if failed { now - heartbeat.oldest } else { heartbeat.received },
            written: (!failed).then_some(heartbeat.took),
            refreshed: newest.map(refreshed),
            lags: heartbeat.lag(now),
            heartbeat,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn legs_are_those_of_the_last_batch() {
        let heartbeat = Heartbeat {
            table: "toy".to_owned(),
            at: 10_000,
            oldest: 9_000,
            received: 700,
            took: 300,
            newest: 20,
            reason: None,
        };
        let lag = Lag::new(heartbeat.clone(), Some(20), 10_500);
        assert_eq!((lag.received, lag.written, lag.refreshed, lag.lags), (700, Some(300), Some(0), None));
        assert_eq!(Lag::new(heartbeat.clone(), Some(18), 10_500).refreshed, Some(500));
        assert_eq!(Lag::new(heartbeat.clone(), Some(18), 700_000).refreshed, Some(0));
        assert_eq!(Lag::new(heartbeat.clone(), None, 10_500).refreshed, None);
        let failing = Heartbeat { reason: Some("search is down".to_owned()), ..heartbeat };
        let lag = Lag::new(failing, Some(20), 109_000);
        assert_eq!((lag.received, lag.written, lag.lags), (100_000, None, Some(100_000)));
    }
}
