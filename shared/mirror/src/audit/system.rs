//! The audit of a system: of each generation that is written.

use table::Engines;
use table::schema::System;

use super::filled::filled;
use super::findings::{AuditEnd, GenerationAudit};
use super::options::AuditOptions;
use super::progress::Notes;
use super::reference::OfSystem;
use super::results::last_full_audit;
use super::run::{AuditStep, audit_generation};
use crate::documents::{Documents, Shapes};
use crate::engines::Production;
use crate::generation::Generation;
use crate::ports::{Fault, Ports, State};
use crate::readers::wrong_readers_alias;

/// Audits every generation of a system that serves or has served, or resumes an audit that was stopped.
pub(crate) async fn audit_system(
    documents: &impl Documents,
    shapes: &impl Shapes,
    engines: &Engines,
    options: AuditOptions,
    step: impl Fn(AuditStep) + Sync,
) -> Result<Audited, Fault> {
    let ports = Production::new(engines, documents.tables(), shapes, None)?;
    let mut audited = audit_generations(&ports, documents, options, None, None, &step).await?;
    if audited.generations.is_empty() && audited.fault.is_none() {
        return Err(Fault::lasting("mirror", "no index is filled yet: create the first index"));
    }
    if audited.fault.is_none() {
        audited.fault = check_readers(&ports, documents.tables()).await.err();
    }
    Ok(audited)
}

/// Checks that readers search the index that serves, which was audited.
pub(super) async fn check_readers<S: Shapes>(ports: &Production<'_, S>, system: &System) -> Result<(), Fault> {
    let Some(config) = ports.state().generations().await? else { return Ok(()) };
    let wrong = wrong_readers_alias(system, ports.state(), ports.index(), &config).await?;
    wrong.map_or(Ok(()), |wrong| Err(Fault::lasting("mirror", wrong)))
}

/// The audits of a system's generations.
#[derive(Debug)]
pub struct Audited {
    /// The audits that have ended.
    pub generations: Vec<GenerationAudit>,
    /// The first fault of an audit that has failed.
    pub fault: Option<Fault>,
}

impl Audited {
    /// Returns the audits, or the fault.
    pub(crate) fn complete(self) -> Result<Vec<GenerationAudit>, Fault> {
        self.fault.map_or(Ok(self.generations), Err)
    }
}

/// Audits each generation that is filled, the one that serves first. With `since`, those are left out whose last full
/// audit began after this time, or whose audit is under way: that of an operator, who gives no time. A fault in one
/// generation does not stop the audit of another.
pub(crate) async fn audit_generations<P: Ports, D: Documents>(
    ports: &P,
    documents: &D,
    options: AuditOptions,
    since: Option<i64>,
    until: Option<i64>,
    step: &(dyn Fn(AuditStep) + Sync),
) -> Result<Audited, Fault> {
    let (mut audited, mut visited, mut first_fault) = (Vec::new(), Vec::new(), None);
    // The generations are read before each audit, since an audit may take longer than a rebuild.
    while let Some(generation) = filled(ports).await?.into_iter().find(|one| !visited.contains(&one.index)) {
        visited.push(generation.index.clone());
        if let Some(since) = since {
            let notes = Notes { ports, generation: &generation.index, purpose: options.purpose };
            let last = last_full_audit(ports.state(), documents.tables(), &generation).await?.started;
            if last > Some(since) || notes.is_under_way().await? {
                continue;
            }
        }
        match audit_one(ports, documents, &generation, options, until, step).await {
            Ok(audit) => {
                let is_stopped = audit.ended == AuditEnd::Stopped;
                audited.push(audit);
                if is_stopped {
                    break;
                }
            }
            // An index that is dropped or filled again meanwhile needs no audit.
            Err(fault) if filled(ports).await?.iter().all(|one| one.index != generation.index) => {
                tracing::info!(generation = generation.index, %fault, "the audit of an index was left");
            }
            Err(fault) => {
                tracing::error!(generation = generation.index, %fault, "the audit of an index failed");
                first_fault.get_or_insert(fault);
            }
        }
    }
    Ok(Audited { generations: audited, fault: first_fault })
}

/// Audits one generation, whose documents must be those of its own version of the mapping.
pub(crate) async fn audit_one<P: Ports, D: Documents>(
    ports: &P,
    documents: &D,
    generation: &Generation,
    options: AuditOptions,
    until: Option<i64>,
    step: &(dyn Fn(AuditStep) + Sync),
) -> Result<GenerationAudit, Fault> {
    generation.check_mapping(documents).map_err(|reason| Fault::lasting("mirror", reason))?;
    let reference = OfSystem { documents, shapes: ports.shapes(), mapping: generation.mapping };
    audit_generation(ports, documents, &reference, generation, options, until, step).await
}
