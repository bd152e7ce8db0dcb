//! Handlers of events: records of the table's stream, deployments, uploaded files, the queue of jobs, and schedules.

use std::time::Duration;

use web::EventHandler;

use crate::access::INSPECT_FILE as INSPECT;
use crate::documents::Archive;
use crate::jobs::{ArchiveJobs, JOB_PATTERNS, run_job};
use crate::posts::inspect_file;
use crate::schema::{INSPECT_FILE, RUN_JOB};

pub fn handlers() -> Vec<EventHandler> {
    let mirror = mirror::handlers::<Archive>().into_iter();
    let own = [
        EventHandler::new(INSPECT_FILE, inspect_file)
            .patterns(&[&INSPECT])
            .timeout(Duration::from_secs(60))
            .memory(1024),
        EventHandler::new(RUN_JOB, run_job)
            .patterns(JOB_PATTERNS)
            .timeout(Duration::from_secs(300))
            .memory(2048)
            .sample_message(::jobs::SAMPLE_MESSAGE),
        ::jobs::handler::<ArchiveJobs>(),
    ];
    mirror.chain(own).collect()
}
