//! Handlers of events: records of the table's stream, deployments, uploaded files and schedules.

use std::time::Duration;

use table::AccessPattern;
use web::EventHandler;

use crate::access::{
    ALL_RELATIONSHIPS, CASCADED, CHECK_UPLOAD, CHILDREN, DELETE_OR_RESTORE, DETACHED, DUE_JOBS, EXTERNAL_IDS,
    IMPORT_ROWS, ITEM, KEEP_FAULTS, LEASE, NEXT_NUMBER, OTHER_ITEM, READ_IMPORT, STORE_SHAPE, SWEEP,
};
use crate::documents::Parks;
use crate::jobs;
use crate::shapes::sweep_geometries;
use crate::uploads::check_upload;

/// The access patterns of an import.
const IMPORT: &[&AccessPattern] =
    &[&LEASE, &READ_IMPORT, &IMPORT_ROWS, &EXTERNAL_IDS, &NEXT_NUMBER, &STORE_SHAPE, &KEEP_FAULTS, &ALL_RELATIONSHIPS];

/// The access patterns of jobs of all kinds and of the removal of shapes.
const JOBS: &[&AccessPattern] = &[
    &DUE_JOBS,
    &LEASE,
    &ITEM,
    &READ_IMPORT,
    &IMPORT_ROWS,
    &EXTERNAL_IDS,
    &NEXT_NUMBER,
    &STORE_SHAPE,
    &KEEP_FAULTS,
    &SWEEP,
    &DELETE_OR_RESTORE,
    &ALL_RELATIONSHIPS,
    &DETACHED,
    &CHILDREN,
    &CASCADED,
    &OTHER_ITEM,
];

pub fn handlers() -> Vec<EventHandler> {
    vec![
        mirror::handler::<Parks>(),
        mirror::create_index::<Parks>(),
        mirror::sweep::<Parks>(),
        mirror::audit_index::<Parks>(),
        EventHandler::new("checkUpload", check_upload)
            .patterns(&[&CHECK_UPLOAD, &STORE_SHAPE])
            .timeout(Duration::from_secs(60))
            .memory(1024),
        // The next `runJobs` resumes an import that it does not finish in its time.
        EventHandler::new("startImport", jobs::start_import)
            .patterns(IMPORT)
            .timeout(Duration::from_secs(300))
            .memory(1024),
        EventHandler::new("runJobs", jobs::run_jobs).patterns(JOBS).timeout(Duration::from_secs(60)).memory(1024),
        EventHandler::new("sweepGeometries", sweep_geometries).patterns(&[&SWEEP]).timeout(Duration::from_secs(300)),
    ]
}
