//! What calls the system besides HTTP: records of its table's stream, files that have
//! arrived, and the clock.

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

/// What an import needs.
const IMPORT: &[&AccessPattern] =
    &[&WORK, &READ_IMPORT, &IMPORT_ROWS, &NEXT_NUMBER, &STORE_SHAPE, &KEEP_FAULTS, &ALL_RELATIONSHIPS];

/// What jobs of every kind need, and the removal of shapes.
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
        // What they do not finish in their time is left to the next `runWork`.
        EventHandler::new("startImport", start_import).patterns(IMPORT).timeout(Duration::from_secs(300)).memory(1024),
        EventHandler::new("runWork", run_work).patterns(JOBS).timeout(Duration::from_secs(60)).memory(1024),
        EventHandler::new("sweepGeometries", sweep_geometries).patterns(&[&SWEEP]).timeout(Duration::from_secs(300)),
    ]
}

/// Every minute: goes on with what was begun and is nobody's now.
async fn run_work(event: Event) -> Result<Bytes, EventFailure> {
    let (access, until) = (event.access(), event.deadline);
    let (jobs, removals) = futures::join!(jobs::go_on(access, until), finish_removals(access, until));
    event.went_on(jobs.map_err(EventFailure::new)? + removals.map_err(EventFailure::new)?)
}
