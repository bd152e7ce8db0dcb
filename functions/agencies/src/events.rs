//! Handlers of events: records of the table's stream, deployments and schedules.

use std::time::Duration;

use bytes::Bytes;
use web::{Event, EventFailure, EventHandler};

use crate::access::{DELETION, UNFINISHED_DELETIONS};
use crate::agencies::deletion;
use crate::documents::Agencies;

pub fn handlers() -> Vec<EventHandler> {
    vec![
        mirror::handler::<Agencies>(),
        mirror::create_index::<Agencies>(),
        mirror::sweep::<Agencies>(),
        EventHandler::new("runWork", run_work)
            .patterns(&[&UNFINISHED_DELETIONS, &DELETION])
            .timeout(Duration::from_secs(60))
            .memory(1024),
    ]
}

/// Resumes the unfinished deletions, every minute.
async fn run_work(event: Event) -> Result<Bytes, EventFailure> {
    let due = deletion::resume_all(event.access(), event.deadline).await.map_err(EventFailure::new)?;
    event.finish(due)
}
