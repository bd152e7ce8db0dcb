//! Arrivals of stream records, so that the readers of streams need not poll.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension};
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};

/// How often the database is checked for commits, which takes a few microseconds.
const INTERVAL: Duration = Duration::from_millis(10);

/// The number of each table's last stream record, for the tables whose streams are read.
#[derive(Debug, Default)]
pub(super) struct Arrivals(Mutex<BTreeMap<String, watch::Sender<Option<i64>>>>);

impl Arrivals {
    /// Returns the number of the last record of a table's stream, which changes soon after records arrive.
    pub(super) fn of_table(&self, table: &str) -> watch::Receiver<Option<i64>> {
        let mut tables = self.tables();
        tables.entry(table.to_owned()).or_insert_with(|| watch::channel(None).0).subscribe()
    }

    /// Follows the commits of other connections to the same database until the future is dropped.
    pub(super) async fn follow(&self, connection: Connection) {
        let mut interval = interval(INTERVAL);
        interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut seen = None;
        loop {
            interval.tick().await;
            if let Err(error) = self.look(&connection, &mut seen) {
                // Readers look every few seconds in any case.
                tracing::debug!(%error, "looking for stream records failed; will retry");
                seen = None;
            }
        }
    }

    /// Notices what was committed since the version that was seen.
    fn look(&self, connection: &Connection, seen: &mut Option<i64>) -> rusqlite::Result<()> {
        let version: i64 = connection.pragma_query_value(None, "data_version", |row| row.get(0))?;
        if seen.replace(version) != Some(version) {
            self.update(connection)?;
        }
        Ok(())
    }

    fn update(&self, connection: &Connection) -> rusqlite::Result<()> {
        let mut last = connection.prepare_cached(
            "SELECT CAST(sequence_number AS INTEGER) FROM _stream_records WHERE table_name = ?1
             ORDER BY CAST(sequence_number AS INTEGER) DESC LIMIT 1",
        )?;
        for (table, sender) in self.tables().iter() {
            let number: Option<i64> = last.query_row([table], |row| row.get(0)).optional()?;
            sender.send_if_modified(|seen| std::mem::replace(seen, number) != number);
        }
        Ok(())
    }

    fn tables(&self) -> MutexGuard<'_, BTreeMap<String, watch::Sender<Option<i64>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
