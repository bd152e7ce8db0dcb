//! Handlers of events: records of the table's stream, deployments, uploaded files and schedules.

use std::time::Duration;

use bytes::Bytes;
use table::AccessPattern;
use web::{Event, EventFailure, EventHandler};

use crate::access::{
    ALL_RELATIONSHIPS, BY_GLOBAL_ID, CASCADED, CHECK_UPLOAD, CHILDREN, DELETE_OR_RESTORE, DETACHED, IMPORT_ROWS,
    KEEP_FAULTS, NEXT_NUMBER, OPEN_JOBS, READ_IMPORT, STORE_SHAPE, SWEEP, WORK,
};
use crate::documents::Parks;
use crate::imports::start_import;
use crate::jobs;
use crate::shapes::{finish_removals, sweep_geometries};
use crate::uploads::check_upload;

/// The access patterns of an import.
const IMPORT: &[&AccessPattern] =
    &[&WORK, &READ_IMPORT, &IMPORT_ROWS, &NEXT_NUMBER, &STORE_SHAPE, &KEEP_FAULTS, &ALL_RELATIONSHIPS];

/// The access patterns of jobs of all kinds and of the removal of shapes.
const JOBS: &[&AccessPattern] = &[
    &OPEN_JOBS,
    &WORK,
    &READ_IMPORT,
    &IMPORT_ROWS,
    &NEXT_NUMBER,
    &STORE_SHAPE,
    &KEEP_FAULTS,
    &SWEEP,
    &DELETE_OR_RESTORE,
    &ALL_RELATIONSHIPS,
    &DETACHED,
    &CHILDREN,
    &CASCADED,
    &BY_GLOBAL_ID,
];

pub fn handlers() -> Vec<EventHandler> {
    vec![
        mirror::handler::<Parks>(),
        mirror::create_index::<Parks>(),
        mirror::sweep::<Parks>(),
        EventHandler::new("checkUpload", check_upload)
            .patterns(&[&CHECK_UPLOAD, &STORE_SHAPE])
            .timeout(Duration::from_secs(60))
            .memory(1024),
        // `runWork` resumes the jobs that they do not finish.
        EventHandler::new("startImport", start_import).patterns(IMPORT).timeout(Duration::from_secs(300)).memory(1024),
        EventHandler::new("runWork", run_work).patterns(JOBS).timeout(Duration::from_secs(60)).memory(1024),
        EventHandler::new("sweepGeometries", sweep_geometries).patterns(&[&SWEEP]).timeout(Duration::from_secs(300)),
    ]
}

/// Resumes the open jobs and removals that no worker has a lease of; every minute.
async fn run_work(event: Event) -> Result<Bytes, EventFailure> {
    let (access, until) = (event.access(), event.deadline);
    let (jobs, removals) = futures::join!(jobs::go_on(access, until), finish_removals(access, until));
    event.finish(jobs.map_err(EventFailure::new)? + removals.map_err(EventFailure::new)?)
}
