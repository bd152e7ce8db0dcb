//! `cairn audit`: compares a system's tables with its indexes, and repairs what differs.

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use clap::Args;
use local::{Progress, Served};
use mirror::{AuditOptions, AuditPurpose, AuditStep, Audited, DifferenceKind, Fault, Finding, TableAudit};
use serde_json::{Value, json};
use table::Engines;
use table::schema::Table;

use crate::exit::TO_DO;
use crate::failure::Failure;
use crate::show::Show;
use crate::target::Target;
use crate::time::time;

#[derive(Debug, Args)]
pub struct Audit {
    #[command(flatten)]
    target: Target,
    /// Only report what differs.
    #[arg(long)]
    dry_run: bool,
    /// Compare only this table, such as `parks`.
    #[arg(long, value_name = "NAME")]
    table: Option<String>,
    /// Print the results of the last full audit, and compare nothing.
    #[arg(long, conflicts_with_all = ["dry_run", "table", "wait"])]
    last: bool,
    /// Seconds for which a difference must last, more than a write takes to be searchable [default: 60, or 2 on this
    /// machine].
    #[arg(long, value_name = "SECONDS")]
    wait: Option<u64>,
}

/// The waits on AWS, where a batch may be retried for a while, and on one machine.
const WAIT: Duration = Duration::from_secs(60);
const WAIT_LOCALLY: Duration = Duration::from_secs(2);

const ITEMS: &str = "items";
const DOCUMENTS: &str = "documents";
const LOOKS: &str = "differences";

/// The table of documents whose ids fit no table.
const NO_TABLE: &str = "?";

impl Audit {
    /// Runs the audit, or resumes one that was interrupted. The exit code says whether anything is left to do.
    pub async fn run(self) -> Result<ExitCode, Failure> {
        let (engines, served) = self.target.open().await?;
        let last = mirror::last_audits(served.system, &engines).await.map_err(Failure::new)?;
        let (results, fault) = if self.last {
            if last.is_empty() && !self.target.json {
                println!("No audit of {} has ended yet.", served.system.name);
            }
            (last, None)
        } else {
            self.compare(served, &engines, &last).await?
        };
        for (generation, result) in &results {
            if self.target.json {
                println!("{}", as_json(generation, result));
            } else if result.table != NO_TABLE || !result.findings.is_empty() {
                print!("{}", printed(generation, result));
            }
        }
        // The results of the other indexes were printed above.
        if let Some(fault) = fault {
            return Err(Failure::new(fault));
        }
        let left: u64 = results.iter().map(|(_, result)| result.left()).sum();
        Ok(if left == 0 { ExitCode::SUCCESS } else { ExitCode::from(TO_DO) })
    }

    async fn compare(
        &self,
        served: &'static Served,
        engines: &Arc<Engines>,
        last: &[(String, TableAudit)],
    ) -> Result<(Vec<(String, TableAudit)>, Option<Fault>), Failure> {
        let only = self.table.as_deref().map(|name| table(served, name)).transpose()?;
        let purpose = match (only, self.dry_run) {
            (Some(table), dry_run) => AuditPurpose::Table { table, repairs: !dry_run },
            (None, true) => AuditPurpose::DryRun,
            (None, false) => AuditPurpose::Daily,
        };
        let wait = if engines.config.signs_search() { WAIT } else { WAIT_LOCALLY };
        let options =
            AuditOptions { purpose, wait: self.wait.map_or(wait, Duration::from_secs), ..AuditOptions::DAILY };
        let totals = Totals::of(last, only);
        let show = Show::new();
        let stages = Stages { progress: show.progress(), totals, done: AtomicU64::new(0), stage: Mutex::default() };
        let stages = Arc::new(stages);
        let listener = Arc::clone(&stages);
        let audited = (served.audit)(Arc::clone(engines), options, Box::new(move |step| listener.step(step))).await;
        stages.finish();
        show.clear();
        let Audited { generations, fault } = audited.map_err(Failure::new)?;
        let results = generations.into_iter().flat_map(|audit| {
            let generation = audit.generation;
            audit.tables.into_iter().map(move |table| (generation.clone(), table))
        });
        Ok((results.collect(), fault))
    }
}

/// The numbers of the last audit, from which the progress bars take their lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Totals {
    items: Option<u64>,
    documents: Option<u64>,
}

impl Totals {
    /// Sums up the results of every table, or of only one. A number is `None` if nothing was counted.
    fn of(last: &[(String, TableAudit)], only: Option<&Table>) -> Self {
        let tables = last.iter().map(|(_, result)| result);
        let tables = tables.filter(|result| only.is_none_or(|only| only.name == result.table));
        let (items, documents) =
            tables.fold((0, 0), |(items, documents), table| (items + table.items, documents + table.documents));
        let some = |total| Some(total).filter(|total| *total > 0);
        Self { items: some(items), documents: some(documents) }
    }
}

/// The progress bars of an audit, one at a time.
struct Stages {
    progress: Progress,
    totals: Totals,
    done: AtomicU64,
    stage: Mutex<Option<&'static str>>,
}

impl Stages {
    fn step(&self, step: AuditStep) {
        let (stage, more, total) = match step {
            AuditStep::Items { items, again: false, .. } => (ITEMS, items, self.totals.items),
            AuditStep::Documents { documents, again: false } => (DOCUMENTS, documents, self.totals.documents),
            AuditStep::Items { items, again: true, .. } => (LOOKS, items, None),
            AuditStep::Documents { documents, again: true } => (LOOKS, documents, None),
            AuditStep::Waiting { .. } | AuditStep::Repaired { .. } => (LOOKS, 0, None),
        };
        let mut present = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        if *present != Some(stage) {
            self.end(*present);
            self.progress.started(stage);
            self.done.store(0, Ordering::Relaxed);
            *present = Some(stage);
        }
        let more = more as u64;
        let done = self.done.fetch_add(more, Ordering::Relaxed) + more;
        self.progress.advanced(stage, done, total.map(|total| total.max(done)));
    }

    fn finish(&self) {
        let mut present = self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        self.end(present.take());
    }

    fn end(&self, stage: Option<&'static str>) {
        if let Some(stage) = stage {
            self.progress.finished(stage, format!("{} compared", self.done.load(Ordering::Relaxed)));
        }
    }
}

fn table(served: &Served, name: &str) -> Result<&'static Table, Failure> {
    let tables = || served.system.tables.iter().copied().filter(|table| table.is_searchable());
    tables().find(|table| table.name == name).ok_or_else(|| {
        let names: Vec<&str> = tables().map(|table| table.name).collect();
        Failure::new(format!("`{name}` is not a searchable table.\nUse one of: {}.", names.join(", ")))
    })
}

fn printed(generation: &str, result: &TableAudit) -> String {
    let TableAudit { table, items, documents, busy, .. } = result;
    let table = if table == NO_TABLE { "(no table)" } else { table };
    let ended = result.ended.map(|ended| format!("  {}", time(ended))).unwrap_or_default();
    let state = if result.findings.is_empty() { ", equal" } else { "" };
    let busy = if *busy > 0 { format!(", {busy} not compared") } else { String::new() };
    let head = format!("{generation}  {table}{ended}  {items} items, {documents} documents{busy}{state}\n");
    let lines = result.findings.iter().map(|(kind, finding)| format!("  {}\n", line(*kind, finding)));
    head + &lines.collect::<String>()
}

fn line(kind: DifferenceKind, finding: &Finding) -> String {
    let Finding { found, repaired, left, reason, examples } = finding;
    let name = kind.name();
    let more = if *found > examples.len() as u64 { ", …" } else { "" };
    let reason = reason.as_ref().map(|reason| format!(" ({reason})")).unwrap_or_default();
    format!("{name}: {found} found, {repaired} repaired, {left} left: {}{more}{reason}", examples.join(", "))
}

fn as_json(generation: &str, result: &TableAudit) -> Value {
    json!({
        "generation": generation,
        "table": result.table,
        "started": time(result.started),
        "ended": result.ended.map(time),
        "full": result.full,
        "repairs": result.repairs,
        "items": result.items,
        "documents": result.documents,
        "busy": result.busy,
        "left": result.left(),
        "findings": result.findings,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn result(table: &str, items: u64) -> TableAudit {
        TableAudit {
            table: table.to_owned(),
            started: 0,
            ended: None,
            full: true,
            repairs: true,
            rebuild: false,
            items,
            documents: items + 1,
            busy: 0,
            findings: BTreeMap::new(),
        }
    }

    fn finding(found: u64) -> Finding {
        Finding { found, repaired: 1, left: found - 1, reason: None, examples: vec!["a#1".to_owned()] }
    }

    #[test]
    fn line_of_a_finding_has_its_first_documents() {
        assert_eq!(line(DifferenceKind::Lost, &finding(2)), "lost: 2 found, 1 repaired, 1 left: a#1, …");
        let failed = Finding { reason: Some("S3 is away".to_owned()), ..finding(2) };
        assert_eq!(line(DifferenceKind::Lost, &failed), "lost: 2 found, 1 repaired, 1 left: a#1, … (S3 is away)");
    }

    #[test]
    fn documents_without_a_table_are_printed_as_such() {
        let findings = BTreeMap::from([(DifferenceKind::Ghost, finding(1))]);
        let equal = TableAudit { busy: 3, ..result("parks", 7) };
        let ghosts = TableAudit { findings, documents: 1, ..result("?", 0) };
        assert_eq!(
            printed("parks-000001", &equal),
            "parks-000001  parks  7 items, 8 documents, 3 not compared, equal\n"
        );
        let expected = "parks-000001  (no table)  0 items, 1 documents\n  ghost: 1 found, 1 repaired, 0 left: a#1\n";
        assert_eq!(printed("parks-000001", &ghosts), expected);
    }

    #[test]
    fn totals_of_one_table_are_those_of_that_table_only() {
        let (parks, others) = (::parks::schema::PARKS.name, result("others", 5));
        let last = [result(parks, 7), result(parks, 2), others].map(|result| ("parks-000001".to_owned(), result));
        assert_eq!(Totals::of(&last, None), Totals { items: Some(14), documents: Some(17) });
        let one = Totals::of(&last, Some(&::parks::schema::PARKS));
        assert_eq!(one, Totals { items: Some(9), documents: Some(11) });
        assert_eq!(Totals::of(&[], None), Totals { items: None, documents: None });
    }
}
