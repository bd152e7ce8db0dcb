//! What calls the system besides HTTP: records of its table's stream, and the clock.

use std::time::Duration;

use bytes::Bytes;
use web::{Event, EventFailure, EventHandler};

use crate::access::{DELETION, UNFINISHED};
use crate::agencies::deletion;
use crate::documents::Agencies;

pub fn handlers() -> Vec<EventHandler> {
    vec![
        mirror::handler::<Agencies>(),
        mirror::create_index::<Agencies>(),
        mirror::sweep::<Agencies>(),
        EventHandler::new("runWork", run_work)
            .patterns(&[&UNFINISHED, &DELETION])
            .timeout(Duration::from_secs(60))
            .memory(1024),
    ]
}

/// Every minute: goes on with the deletions that were begun.
async fn run_work(event: Event) -> Result<Bytes, EventFailure> {
    let due = deletion::go_on(event.access(), event.deadline).await.map_err(EventFailure::new)?;
    event.went_on(due)
}
