//! What works on jobs: a worker for each kind.

use ::jobs::{AnyWorker, Workers, run_message};
use bytes::Bytes;
use table::AccessPattern;
use web::{Event, EventFailure};

use super::{ArchiveJobs, Kind};
use crate::access::{
    BEGIN_JOB, COUNT_RECORDS, DELETE_POST_STEP, DELETE_RECORDS, HIDDEN_RUNS, LEASE, LIST_DUE, PLACE_SETTINGS,
    PUBLISH_STEP, READ_FILE, WORK_FILES, WRITE_RECORDS,
};
use crate::places::PLACES_BY_NAME;
use crate::publishing::{DeletePost, Publish, Unpublish};

impl Workers for ArchiveJobs {
    const PATTERNS: &'static [&'static AccessPattern] = &[
        &LIST_DUE,
        &LEASE,
        &HIDDEN_RUNS,
        &PUBLISH_STEP,
        &READ_FILE,
        &WORK_FILES,
        &PLACE_SETTINGS,
        &PLACES_BY_NAME,
        &WRITE_RECORDS,
        &DELETE_RECORDS,
        &COUNT_RECORDS,
        &DELETE_POST_STEP,
    ];

    fn worker(kind: Kind) -> Box<dyn AnyWorker<Self>> {
        match kind {
            Kind::Publish => Box::new(Publish::default()),
            Kind::Unpublish => Box::new(Unpublish),
            Kind::DeletePost => Box::new(DeletePost),
        }
    }
}

/// The access patterns of the handler `runJob`: those of the scheduled run without the list of due jobs, and the message
/// that continues a job at once.
pub const JOB_PATTERNS: &[&AccessPattern] = &[
    &LEASE,
    &BEGIN_JOB,
    &HIDDEN_RUNS,
    &PUBLISH_STEP,
    &READ_FILE,
    &WORK_FILES,
    &PLACE_SETTINGS,
    &PLACES_BY_NAME,
    &WRITE_RECORDS,
    &DELETE_RECORDS,
    &COUNT_RECORDS,
    &DELETE_POST_STEP,
];

/// The handler `runJob`: works on the job of a message.
pub async fn run_job(event: Event) -> Result<Bytes, EventFailure> {
    run_message::<ArchiveJobs>(event).await
}
