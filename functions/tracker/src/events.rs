//! What calls the system besides HTTP: records of its table's stream, and the clock.

use std::time::Duration;

use table::AccessPattern;
use web::EventHandler;

use crate::access::{DELETE_ISSUE, DUE, ISSUE_ROWS, OF_TENANT, PROJECT, TOTALS, WORK_STEP, WRITE_ISSUE};
use crate::documents::Tracker;
use crate::work;

/// What work of every kind needs, and the settling of issues.
const WORK: &[&AccessPattern] =
    &[&DUE, &WORK_STEP, &PROJECT, &TOTALS, &ISSUE_ROWS, &OF_TENANT, &WRITE_ISSUE, &DELETE_ISSUE];

pub fn handlers() -> Vec<EventHandler> {
    vec![
        mirror::handler::<Tracker>(),
        EventHandler::new("runWork", work::run_work).patterns(WORK).timeout(Duration::from_secs(60)),
    ]
}
