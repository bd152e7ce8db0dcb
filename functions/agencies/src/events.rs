//! Handlers of events: records of the table's stream, deployments and schedules.

use std::time::Duration;

use web::EventHandler;

use crate::access::{DELETION, DUE, LEASE};
use crate::documents::Agencies;
use crate::jobs;

pub fn handlers() -> Vec<EventHandler> {
    vec![
        mirror::handler::<Agencies>(),
        mirror::create_index::<Agencies>(),
        mirror::sweep::<Agencies>(),
        EventHandler::new("runJobs", jobs::run_jobs)
            .patterns(&[&DUE, &LEASE, &DELETION])
            .timeout(Duration::from_secs(60))
            .memory(1024),
    ]
}
