//! The event handlers: the mirror, uploaded files, the queue of jobs, and the schedule.

use std::time::Duration;

use table::AccessPattern;
use web::EventHandler;

use crate::access::{
    ATTRIBUTE_STEP, BEGIN_JOB, CHECKPOINT, DELETE_ATTRIBUTE_STEP, DELETE_ISSUE, DUE, ENTRIES, IMPORT_ROWS, ISSUE_ROWS,
    ISSUES, KEEP_FAULTS, LEASE, LOAD_SEEN, MEMBERSHIP, OF_TENANT, PROJECT, PROJECT_STEP, READ_IMPORT, SAVE_SEEN,
    SEARCH, TENANT_STEP, TOTALS, UNDO_STEP, UPDATE_ISSUE, WRITE_EXPORT, WRITE_ISSUE,
};
use crate::changes;
use crate::documents::Tracker;
use crate::jobs::{self, TrackerJobs};

/// The access patterns of an import from its start. The rest of it begins at once by a message.
const IMPORT: &[&AccessPattern] = &[
    &LEASE,
    &BEGIN_JOB,
    &CHECKPOINT,
    &MEMBERSHIP,
    &PROJECT,
    &READ_IMPORT,
    &SAVE_SEEN,
    &IMPORT_ROWS,
    &KEEP_FAULTS,
    &ISSUE_ROWS,
    &WRITE_ISSUE,
    &UPDATE_ISSUE,
];

/// The access patterns of the jobs that begin by a message: exports, undo jobs, and the rest of imports.
const FILE_JOBS: &[&AccessPattern] = &[
    &LEASE,
    &BEGIN_JOB,
    &CHECKPOINT,
    &MEMBERSHIP,
    &PROJECT,
    &READ_IMPORT,
    &SAVE_SEEN,
    &LOAD_SEEN,
    &IMPORT_ROWS,
    &KEEP_FAULTS,
    &ISSUE_ROWS,
    &WRITE_ISSUE,
    &UPDATE_ISSUE,
    &DELETE_ISSUE,
    &UNDO_STEP,
    &TOTALS,
    &ENTRIES,
    &ISSUES,
    &SEARCH,
    &WRITE_EXPORT,
];

/// The access patterns of all jobs, and of unsettled issues.
const JOBS: &[&AccessPattern] = &[
    &DUE,
    &LEASE,
    &ATTRIBUTE_STEP,
    &DELETE_ATTRIBUTE_STEP,
    &PROJECT_STEP,
    &TENANT_STEP,
    &CHECKPOINT,
    &MEMBERSHIP,
    &PROJECT,
    &TOTALS,
    &ISSUE_ROWS,
    &OF_TENANT,
    &WRITE_ISSUE,
    &UPDATE_ISSUE,
    &DELETE_ISSUE,
    &UNDO_STEP,
    &READ_IMPORT,
    &SAVE_SEEN,
    &LOAD_SEEN,
    &IMPORT_ROWS,
    &KEEP_FAULTS,
    &ENTRIES,
    &ISSUES,
    &SEARCH,
    &WRITE_EXPORT,
];

pub fn handlers() -> Vec<EventHandler> {
    vec![
        mirror::handler::<Tracker>(),
        mirror::create_index::<Tracker>(),
        mirror::sweep::<Tracker>(),
        mirror::audit_index::<Tracker>(),
        changes::log::handler(),
        // `runJob` resumes an import that it does not finish in its time.
        EventHandler::new("startImport", jobs::start_import)
            .patterns(IMPORT)
            .timeout(Duration::from_secs(300))
            .memory(1024),
        EventHandler::new("runJob", jobs::run_job)
            .patterns(FILE_JOBS)
            .timeout(Duration::from_secs(300))
            .memory(1024)
            .sample_message(::jobs::SAMPLE_MESSAGE),
        ::jobs::handler::<TrackerJobs>().patterns(JOBS),
    ]
}
