//! The audit of a system: of each generation that is written, and its last results.

use table::Engines;
use table::schema::System;
use tokio::time::Instant;

use super::findings::{GenerationAudit, NO_TABLE, TableAudit};
use super::options::AuditOptions;
use super::reference::OfSystem;
use super::run::{Step, audit_generation, result_name};
use super::time::after;
use crate::documents::{Documents, Shapes};
use crate::engines::{DynamoState, Production};
use crate::fill::searchable;
use crate::generation::Generation;
use crate::ports::{Fault, Ports, State, Time};
use crate::rules::{ProductionRules, Rules};

/// Audits every generation of a system that serves or has served.
pub(crate) async fn audit_system(
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
    let until = left.map(|left| after(ports.time().micros(), left.saturating_sub(options.reserve().min(left / 2))));
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
        audited.push(audit_one::<R, _, _>(ports, documents, generation, options, until, step).await?);
    }
    Ok(audited)
}

/// Audits one generation, whose documents must be those of its own version of the mapping.
pub(crate) async fn audit_one<R: Rules, P: Ports, D: Documents>(
    ports: &P,
    documents: &D,
    generation: &Generation,
    options: AuditOptions,
    until: Option<i64>,
    step: &(impl Fn(Step) + Sync),
) -> Result<GenerationAudit, Fault> {
    generation.check_mapping(documents).map_err(|reason| Fault::lasting("mirror", reason))?;
    let reference = OfSystem { documents, shapes: ports.shapes(), mapping: generation.mapping };
    audit_generation::<R, _, _, _>(ports, documents, &reference, generation, options, until, step).await
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

/// Returns when the last audit began that compared every table with a generation and repaired what differed, in
/// microseconds. `None` if a table was never compared so.
pub(crate) async fn last_full_audit(
    state: &impl State,
    system: &'static System,
    generation: &Generation,
) -> Result<Option<i64>, Fault> {
    let last = last_of_generation(state, system, generation).await?;
    let full: Vec<i64> = last.iter().filter(|table| table.full && table.repairs).map(|table| table.started).collect();
    // One result is that of documents whose ids fit no table.
    let is_whole = full.len() > searchable(system).count();
    Ok(full.into_iter().min().filter(|_| is_whole))
}

pub(crate) async fn last_of_generation(
    state: &impl State,
    system: &'static System,
    generation: &Generation,
) -> Result<Vec<TableAudit>, Fault> {
    let mut last = Vec::new();
    for table in searchable(system).map(|table| table.name).chain([NO_TABLE]) {
        let note = state.note(&generation.index, &result_name(table)).await?;
        // A result that another release wrote in another form counts as none.
        last.extend(note.and_then(|note| serde_json::from_str(&note.text).ok()));
    }
    Ok(last)
}
