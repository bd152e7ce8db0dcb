//! The daily audit: an event handler that a schedule calls every hour. It starts an audit once a day, and resumes one
//! whose time was up.

use std::time::Duration;

use bytes::Bytes;
use serde::Deserialize;
use table::Engines;
use table::schema::System;
use tokio::time::sleep;
use web::{Audit, Event, EventFailure, EventHandler};

use super::findings::{Ended, GenerationAudit, TableAudit};
use super::options::AuditOptions;
use super::run::Step;
use super::system::{audit_system, last_full_audit};
use super::time::after;
use crate::engines::DynamoState;
use crate::mirrored::{ENGINES, Mirrored};
use crate::ports::{Fault, State};

/// The handler's name in every system.
pub const AUDIT: &str = "auditIndex";

/// The minutes between two calls of the handler.
pub const AUDIT_MINUTES: u32 = 60;

/// The age of the last audit at which another one starts. A schedule of an hour then starts one each day.
const DAY: Duration = Duration::from_hours(23);

/// The memory in MB at which Lambda allocates one vCPU ("Configure Lambda function memory").
const ONE_VCPU_MEMORY: u64 = 1769;

/// The options of one invocation, which an operator can give. A schedule gives none.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Request {
    /// Whether an audit is started even if the last one is younger than a day.
    now: bool,
    dry_run: bool,
    wait_seconds: Option<u64>,
}

/// Creates the event handler that audits the indexes of a system on a schedule.
pub fn audit_index<M: Mirrored>() -> EventHandler {
    let handler = EventHandler::new(AUDIT, on_schedule::<M>).patterns(M::PATTERNS).engines(ENGINES);
    handler.timeout(Duration::from_mins(15)).memory(ONE_VCPU_MEMORY)
}

async fn on_schedule<M: Mirrored>(event: Event) -> Result<Bytes, EventFailure> {
    let request: Request = serde_json::from_slice(&event.payload).unwrap_or_default();
    let (documents, engines) = (M::default(), event.engines());
    let due = request.now || is_due(documents.tables(), engines).await.map_err(EventFailure::new)?;
    if !due {
        event.found_nothing();
        return Ok(Bytes::from_static(b"{}"));
    }
    let mut options = AuditOptions { repairs: !request.dry_run, ..AuditOptions::FULL };
    if let Some(seconds) = request.wait_seconds {
        options.wait = Duration::from_secs(seconds);
    }
    let shapes = M::shapes(event.access().clone());
    let step = |step| {
        if let Step::Repaired { differences } = step {
            tracing::info!(differences, "differences between the tables and search were repaired");
        }
    };
    let audited = tokio::select! {
        audited = audit_system(&documents, &shapes, engines, options, Some(event.deadline), step) => audited,
        // The next call resumes it.
        () = winding_down(engines) => Ok(Vec::new()),
    };
    let audited = audited.map_err(EventFailure::new)?;
    if !audited.is_empty() && audited.iter().all(|audit| audit.ended == Ended::Finished) {
        event.report_audit(totals(&audited));
    }
    Ok(Bytes::from_static(b"{}"))
}

/// Whether an audit is to be started or resumed: some generation has no full one that began within a day.
async fn is_due(system: &'static System, engines: &Engines) -> Result<bool, Fault> {
    let state = DynamoState::new(engines, system);
    let since = engines.clock.micros().saturating_sub(after(0, DAY));
    let written = state.generations().await?.map(|generations| generations.written).unwrap_or_default();
    for generation in written.iter().filter(|generation| generation.is_filled()) {
        if last_full_audit(&state, system, generation).await?.is_none_or(|started| started <= since) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Completes when the process is about to end.
async fn winding_down(engines: &Engines) {
    while !engines.is_winding_down() {
        sleep(Duration::from_millis(250)).await;
    }
}

fn totals(audited: &[GenerationAudit]) -> Audit {
    let tables = || audited.iter().flat_map(|audit| &audit.tables);
    Audit {
        documents: tables().map(|table| table.documents).sum(),
        differences: tables().map(TableAudit::differences).sum(),
        missing_shapes: tables().map(TableAudit::missing_shapes).sum(),
    }
}
