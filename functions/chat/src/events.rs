//! Handlers of events: records of the tables' streams, deployments, the queue of jobs, and schedules.

use std::time::Duration;

use web::EventHandler;

use crate::documents::Chat;
use crate::jobs::{ChatJobs, PATTERNS, run_job};
use crate::live;
use crate::pictures::{self, store_picture};
use crate::retention::{RETENTION, apply_retention};
use crate::schema::{APPLY_RETENTION, RUN_JOB, STORE_PICTURE};

pub fn handlers() -> Vec<EventHandler> {
    let mirror = mirror::handlers::<Chat>().into_iter();
    let own = [
        // A decoded picture takes up to 320 MB, and its scaled copies some more.
        EventHandler::new(STORE_PICTURE, store_picture)
            .patterns(&[&pictures::STORE_PICTURE])
            .timeout(Duration::from_secs(60))
            .memory(1536),
        EventHandler::new(RUN_JOB, run_job)
            .patterns(PATTERNS)
            .timeout(Duration::from_secs(300))
            .memory(1024)
            .sample_message(::jobs::SAMPLE_MESSAGE),
        ::jobs::handler::<ChatJobs>(),
        EventHandler::new(APPLY_RETENTION, apply_retention).patterns(&[&RETENTION]).timeout(Duration::from_secs(900)),
    ];
    mirror.chain(own).chain(live::handlers()).collect()
}
