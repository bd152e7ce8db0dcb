//! The audit: it compares the tables with the indexes that are written, while writes go on, and repairs what differs.
//!
//! It adds up digests of all items and of all documents in buckets, and looks only at the keys of buckets that differ. A
//! difference counts once two looks have seen the same state some time apart, so that a write whose record the mirror has
//! not handled yet is none. It can be stopped at any point, and resumes with the next call.

mod content;
mod digests;
mod findings;
mod look;
mod patience;
mod progress;
mod reference;
mod run;
mod schedule;

use std::time::Duration;

use table::Engines;
use table::schema::{System, Table};
use tokio::time::Instant;

use crate::documents::{Documents, Shapes};
use crate::engines::{DynamoState, Production};
use crate::fill::searchable;
use crate::generation::Generation;
use crate::ports::{Fault, Ports, State, Time};
use crate::rules::{ProductionRules, Rules};

pub use findings::{Finding, Kind, TableAudit};
#[cfg(test)]
pub(crate) use reference::{Document, Levels, Reference, Wanted};
pub(crate) use run::audit_generation;
pub use run::{Ended, Step};
pub use schedule::{AUDIT, AUDIT_MINUTES, audit_index};

use findings::NO_TABLE;
use reference::OfSystem;

/// The options of an audit.
#[derive(Clone, Copy, Debug)]
pub struct AuditOptions {
    /// Whether differences are repaired, or only reported.
    pub repairs: bool,
    /// The only table that is compared. An audit of one table is not a full one.
    pub only: Option<&'static Table>,
    /// How long a state must last to be a difference. It should exceed the time until a write is searchable.
    pub wait: Duration,
    /// How often the progress is kept. An audit that is stopped repeats at most this much.
    pub keep: Duration,
    /// How many keys may wait for a second look. They are in memory.
    pub suspects: usize,
    /// How long before the deadline a run keeps its progress and ends.
    pub reserve: Duration,
}

/// The result of an audit in one generation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GenerationAudit {
    /// The generation's index.
    pub generation: String,
    /// Whether the audit has ended, or the next call resumes it.
    pub ended: Ended,
    pub tables: Vec<TableAudit>,
}

impl AuditOptions {
    /// The options of a full audit.
    pub const FULL: Self = Self {
        repairs: true,
        only: None,
        wait: Duration::from_secs(60),
        keep: Duration::from_mins(4),
        suspects: 10_000,
        reserve: Duration::from_mins(2),
    };
}

/// Audits every generation of a system that serves or has served.
pub async fn audit(
    documents: &impl Documents,
    shapes: &impl Shapes,
    engines: &Engines,
    options: AuditOptions,
    deadline: Option<Instant>,
    step: impl Fn(Step) + Sync,
) -> Result<Vec<GenerationAudit>, Fault> {
    let system: &'static System = documents.tables();
    let ports = Production::new(engines, system, shapes, deadline)?;
    let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
    let until = left.map(|left| after(ports.time().micros(), left.saturating_sub(options.reserve)));
    audit_generations::<ProductionRules, _, _>(&ports, documents, options, until, &step).await
}

pub(crate) async fn audit_generations<R: Rules, P: Ports, D: Documents>(
    ports: &P,
    documents: &D,
    options: AuditOptions,
    until: Option<i64>,
    step: &(impl Fn(Step) + Sync),
) -> Result<Vec<GenerationAudit>, Fault> {
    let written = ports.state().generations().await?.map(|generations| generations.written).unwrap_or_default();
    if written.is_empty() {
        return Err(Fault::lasting("mirror", "no index is published yet: create the first index"));
    }
    let mut audited = Vec::new();
    // An index that is being filled lacks documents until then.
    for generation in written.iter().filter(|generation| generation.is_filled()) {
        generation.check_mapping(documents).map_err(|reason| Fault::lasting("mirror", reason))?;
        let reference = OfSystem { documents, shapes: ports.shapes(), mapping: generation.mapping };
        let result =
            audit_generation::<R, _, _, _>(ports, documents, &reference, generation, options, until, step).await?;
        audited.push(result);
    }
    Ok(audited)
}

/// Returns the results of the last audit of each table that has ended, with the generation's index.
pub async fn last_audits(system: &'static System, engines: &Engines) -> Result<Vec<(String, TableAudit)>, Fault> {
    let state = DynamoState::new(engines, system);
    let mut last = Vec::new();
    for generation in state.generations().await?.into_iter().flat_map(|generations| generations.written) {
        let results = last_of_generation(&state, system, &generation).await?;
        last.extend(results.into_iter().map(|result| (generation.index.clone(), result)));
    }
    Ok(last)
}

pub(crate) async fn last_of_generation(
    state: &impl State,
    system: &'static System,
    generation: &Generation,
) -> Result<Vec<TableAudit>, Fault> {
    let mut last = Vec::new();
    for table in searchable(system).map(|table| table.name).chain([NO_TABLE]) {
        let note = state.note(&generation.index, &run::result_name(table)).await?;
        // A result that another release wrote in another form counts as none.
        last.extend(note.and_then(|note| serde_json::from_str(&note.text).ok()));
    }
    Ok(last)
}

/// Adds a duration to a time in microseconds.
fn after(micros: i64, time: Duration) -> i64 {
    micros.saturating_add(i64::try_from(time.as_micros()).unwrap_or(i64::MAX))
}
