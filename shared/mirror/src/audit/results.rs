//! The results of the last full audits, which the state table keeps for each generation, and which of them were
//! reported. An operator's audit and that of a rebuild count as the daily audit does.

use std::time::Duration;

use table::Engines;
use table::schema::System;
use web::Audit;

use super::filled::filled;
use super::findings::{NO_TABLE, TableAudit};
use super::options::AuditPurpose;
use super::progress::{AuditPhase, AuditProgress, Notes, saved_progress};
use super::run::result_name;
use crate::engines::DynamoState;
use crate::fill::searchable;
use crate::generation::Generation;
use crate::group::after;
use crate::ports::{Fault, Ports, State, Time};

/// The results of a full audit of a generation that were not reported yet.
#[derive(Debug)]
struct UnreportedAudit {
    generation: String,
    ended: i64,
    tables: Vec<TableAudit>,
}

/// The last full audit of a generation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LastAudit {
    /// When it began, in microseconds. `None` if a table was never compared by one.
    pub(crate) started: Option<i64>,
    /// When it ended, in microseconds.
    pub(crate) ended: Option<i64>,
    /// The number of its findings that need an operator.
    pub(crate) left: u64,
}

/// How long an audit has not ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Overdue {
    /// The last one ended this number of hours ago.
    Ended { hours: i64 },
    /// None has ended, since the first one began this number of hours ago.
    NeverEnded { hours: i64 },
}

/// The name of the note that says when the last reported audit of a generation ended.
const REPORTED: &str = "reported";

/// The age of the last audit from which the alarm `audit is overdue` is raised.
const OVERDUE: Duration = Duration::from_hours(26);

/// Returns the results of the last full audit of each table, with the generation's index.
pub async fn last_audits(system: &'static System, engines: &Engines) -> Result<Vec<(String, TableAudit)>, Fault> {
    let state = DynamoState::new(engines, system);
    let mut last = Vec::new();
    for generation in state.generations().await?.into_iter().flat_map(|generations| generations.written) {
        let results = last_results(&state, system, &generation).await?;
        last.extend(results.into_iter().map(|result| (generation.index.clone(), result)));
    }
    Ok(last)
}

/// Returns the last full audit of a generation.
pub(crate) async fn last_full_audit(
    state: &impl State,
    system: &'static System,
    generation: &Generation,
) -> Result<LastAudit, Fault> {
    let last = last_results(state, system, generation).await?;
    let is_whole = is_whole(system, &last);
    Ok(LastAudit {
        started: last.iter().map(|table| table.started).min().filter(|_| is_whole),
        ended: last.iter().filter_map(|table| table.ended).min().filter(|_| is_whole),
        left: last.iter().map(TableAudit::left).sum(),
    })
}

/// Returns since when the next audit of a generation is overdue, if it is.
pub(crate) async fn overdue_audit(
    state: &impl State,
    generation: &Generation,
    last: &LastAudit,
    now_micros: i64,
) -> Result<Option<Overdue>, Fault> {
    let next = saved_progress(state, &generation.index, AuditPurpose::Daily).await?;
    Ok(last.overdue_given(next.as_ref(), now_micros))
}

impl LastAudit {
    /// Returns whether the next one is overdue: one that is under way and began a short time ago is not, since a platform
    /// on one machine audits only while it runs. Without an earlier one, it is overdue if it began long ago.
    fn overdue_given(&self, next: Option<&AuditProgress>, now_micros: i64) -> Option<Overdue> {
        let hours = |since: i64| (now_micros - since) / 3_600_000_000;
        let Some(ended) = self.ended else {
            let begun = next.filter(|next| next.phase != AuditPhase::Finished)?.first_started();
            return is_overdue(begun, now_micros).then(|| Overdue::NeverEnded { hours: hours(begun) });
        };
        let is_in_time = |next: &AuditProgress| next.is_under_way(now_micros) && !is_overdue(next.started, now_micros);
        let is_late = is_overdue(ended, now_micros) && !next.is_some_and(is_in_time);
        is_late.then(|| Overdue::Ended { hours: hours(ended) })
    }
}

fn is_overdue(since: i64, now_micros: i64) -> bool {
    after(since, OVERDUE) <= now_micros
}

/// Reports the sums of the full audits that were not reported yet, if there are any. Returns whether it did. Nothing is
/// reported while the audit of a generation is overdue, so that the alarm is raised.
pub(crate) async fn report_audits<P: Ports>(
    ports: &P,
    system: &'static System,
    report: impl FnOnce(Audit),
) -> Result<bool, Fault> {
    let audits = unreported_audits(ports, system).await?;
    if audits.is_empty() {
        return Ok(false);
    }
    report(totals(&audits));
    // After a crash they are reported once more.
    for UnreportedAudit { generation, ended, .. } in &audits {
        let notes = Notes { ports, generation, purpose: AuditPurpose::Daily };
        notes.replace(REPORTED, ended.to_string()).await?;
    }
    Ok(true)
}

async fn unreported_audits<P: Ports>(ports: &P, system: &'static System) -> Result<Vec<UnreportedAudit>, Fault> {
    let (state, mut unreported) = (ports.state(), Vec::new());
    for generation in filled(ports).await? {
        let tables = last_results(state, system, &generation).await?;
        // Results of which only some are written are those of two audits.
        let ended = tables.iter().filter_map(|table| table.ended).min().filter(|_| is_whole(system, &tables));
        let is_recent = |ended: &i64| !is_overdue(*ended, ports.time().micros());
        let Some(ended) = ended.filter(is_recent) else { return Ok(Vec::new()) };
        let note = state.note(&generation.index, REPORTED).await?;
        let reported: Option<i64> = note.and_then(|note| note.text.parse().ok());
        if reported < Some(ended) {
            unreported.push(UnreportedAudit { generation: generation.index, ended, tables });
        }
    }
    Ok(unreported)
}

fn totals(audits: &[UnreportedAudit]) -> Audit {
    let tables = || audits.iter().flat_map(|audit| &audit.tables);
    Audit {
        documents: tables().map(|table| table.documents).sum(),
        differences: tables().map(TableAudit::alarming).sum(),
        missing_shapes: tables().map(TableAudit::missing_shapes).sum(),
    }
}

pub(crate) async fn last_results(
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

/// Whether there is a result of each table, and one of the documents whose ids fit no table.
fn is_whole(system: &'static System, results: &[TableAudit]) -> bool {
    results.len() > searchable(system).count()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::progress::AuditPhase;
    use super::*;

    #[test]
    fn audit_is_overdue_26_hours_after_the_end_of_the_last_one() {
        let hours = |hours: i64| hours * 3_600_000_000;
        let last = LastAudit { ended: Some(hours(1)), ..LastAudit::default() };
        assert_eq!(
            (last.overdue_given(None, hours(27) - 1), last.overdue_given(None, hours(27))),
            (None, Some(Overdue::Ended { hours: 26 }))
        );
        assert_eq!(LastAudit::default().overdue_given(None, hours(100)), None);
    }

    #[test]
    fn audit_that_is_under_way_is_overdue_26_hours_after_its_start_or_once_it_is_silent() {
        let hours = |hours: i64| hours * 3_600_000_000;
        let last = LastAudit { ended: Some(hours(1)), ..LastAudit::default() };
        let ended = |hours: i64| Some(Overdue::Ended { hours });
        let overdue = |last: LastAudit, started: i64, saved: i64, phase: AuditPhase| {
            let next = AuditProgress {
                started: hours(started),
                first_started: None,
                repairs: true,
                only: None,
                phase,
                slot: None,
                buckets: None,
                compared: Vec::new(),
                saved: hours(saved),
                tables: BTreeMap::new(),
            };
            last.overdue_given(Some(&next), hours(50))
        };
        let phase = AuditPhase::DigestDocuments { after: None };
        assert_eq!(overdue(last, 25, 50, phase.clone()), None);
        assert_eq!(
            (overdue(last, 24, 50, phase.clone()), overdue(last, 25, 49, phase.clone())),
            (ended(49), ended(49))
        );
        assert_eq!(overdue(last, 1, 1, AuditPhase::Finished), ended(49));
        // The first audit fails again and again.
        let none = LastAudit::default();
        assert_eq!(overdue(none, 25, 49, phase.clone()), None);
        assert_eq!(overdue(none, 24, 50, phase), Some(Overdue::NeverEnded { hours: 26 }));
        assert_eq!(overdue(none, 1, 1, AuditPhase::Finished), None);
    }
}
