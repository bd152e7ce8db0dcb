//! Saving heartbeats, as rarely as they are needed.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

use table::Engines;
use table::schema::System;

use crate::engines::DynamoState;
use crate::heartbeat::Heartbeat;

/// The interval of the heartbeats of a process that keeps up, and of one that is late.
const INTERVALS: (i64, i64) = (60_000, 5_000);

/// The time limit of saving a heartbeat.
const TIMEOUT: Duration = Duration::from_millis(500);

/// The last heartbeat of this process for each state table and table.
static LAST: LazyLock<Mutex<HashMap<(String, String), Last>>> = LazyLock::new(Mutex::default);

#[derive(Clone, Copy)]
struct Last {
    at: i64,
    late: bool,
    reported: bool,
}

/// Saves a heartbeat, unless this process saved one a short time ago that says the same.
pub(crate) async fn save_heartbeat(engines: &Engines, system: &'static System, heartbeat: &Heartbeat) {
    let state = DynamoState::new(engines, system);
    if !is_due((state.table().to_owned(), heartbeat.table.clone()), heartbeat) {
        return;
    }
    match tokio::time::timeout(TIMEOUT, state.save_heartbeat(heartbeat)).await {
        Ok(Ok(())) => {}
        Ok(Err(fault)) => tracing::warn!(system = system.name, %fault, "saving the mirror's heartbeat failed"),
        Err(_) => tracing::warn!(system = system.name, "saving the mirror's heartbeat took too long"),
    }
}

fn is_due(of: (String, String), heartbeat: &Heartbeat) -> bool {
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    let Heartbeat { at, .. } = *heartbeat;
    let (late, reported) = (heartbeat.is_late(), heartbeat.reason.is_some());
    let (steady, hasty) = INTERVALS;
    let due = last.get(&of).is_none_or(|last| {
        // An improvement is saved at once.
        let is_better = last.late && !late || last.reported && !reported;
        let interval = if late { hasty } else { steady };
        is_better || !(last.at..last.at + interval).contains(&at)
    });
    if due {
        last.insert(of, Last { at, late, reported });
    }
    due
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heartbeat::tests::heartbeat;

    #[test]
    fn heartbeats_are_rare_while_the_mirror_keeps_up() {
        let due = |heartbeat| is_due(("toy-mirror".to_owned(), "heartbeats_are_rare".to_owned()), &heartbeat);
        assert!(due(heartbeat(0, 300, None)));
        assert!(!due(heartbeat(59_999, 300, None)));
        assert!(due(heartbeat(60_000, 300, None)));
        assert!(due(heartbeat(66_000, 20_000, Some("search is down"))));
        assert!(!due(heartbeat(70_000, 20_000, Some("search is down"))));
        assert!(due(heartbeat(71_000, 25_000, Some("search is down"))));
        assert!(due(heartbeat(72_000, 26_000, None)));
        assert!(!due(heartbeat(72_500, 10_000, None)));
        assert!(due(heartbeat(73_000, 300, None)));
        assert!(!due(heartbeat(74_000, 300, None)));
    }
}
