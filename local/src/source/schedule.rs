//! Schedules. A handler that runs every minute on AWS runs every second here. Longer intervals are the same, by the
//! platform's clock.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde_json::json;
use table::{Clock, Engines};
use tokio::sync::watch;

use super::{Function, MAX_TIMEOUT};

/// A handler and its interval.
#[derive(Debug)]
pub struct Schedule<F> {
    pub every_minutes: u32,
    pub function: Arc<F>,
    pub handler: &'static str,
}

const TICK: Duration = Duration::from_secs(1);

/// Calls the handler until `stop` turns true, and finishes a call in progress. A process that winds down starts no
/// calls.
pub async fn run<F: Function>(schedule: Schedule<F>, engines: Arc<Engines>, mut stop: watch::Receiver<bool>) {
    let interval = if schedule.every_minutes <= 1 { 0 } else { i64::from(schedule.every_minutes) * 60 };
    let clock = &engines.clock;
    let mut due = clock.seconds();
    let mut moves = clock.moves();
    while !*stop.borrow() && stop.has_changed().is_ok() {
        if clock.seconds() >= due && !engines.is_winding_down() {
            due = clock.seconds() + interval;
            if let Err(error) = schedule.function.invoke(schedule.handler, payload(clock), MAX_TIMEOUT).await {
                tracing::warn!(handler = schedule.handler, error, "scheduled call failed");
            }
        }
        tokio::select! {
            () = tokio::time::sleep(TICK) => {}
            _ = moves.changed() => {}
            _ = stop.changed() => {}
        }
    }
}

/// Returns EventBridge's event of a schedule.
fn payload(clock: &Clock) -> Bytes {
    let event = json!({
        "version": "0",
        "id": uuid::Uuid::now_v7(),
        "detail-type": "Scheduled Event",
        "source": "aws.events",
        "account": "000000000000",
        "time": format!("{:.0}", clock.now()),
        "region": "local",
        "resources": [],
        "detail": {},
    });
    Bytes::from(event.to_string())
}
