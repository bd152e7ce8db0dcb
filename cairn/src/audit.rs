//! `cairn audit`: compares a system's tables with its indexes, and repairs what differs.

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use clap::Args;
use jiff::Timestamp;
use local::{Progress, Served};
use mirror::{AuditOptions, Finding, Kind, Step, TableAudit};
use serde_json::{Value, json};
use table::Engines;
use table::schema::Table;

use crate::exit::TO_DO;
use crate::failure::Failure;
use crate::show::Show;
use crate::target::Target;

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
    /// Print the results of the last audit, and compare nothing.
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

impl Audit {
    /// Runs the audit, or resumes one that was interrupted. The exit code says whether anything is left to do.
    pub async fn run(self) -> Result<ExitCode, Failure> {
        let (engines, served) = self.target.open().await?;
        let last = mirror::last_audits(served.system, &engines).await.map_err(Failure::new)?;
        let results = if self.last {
            if last.is_empty() && !self.target.json {
                println!("No audit of {} has ended yet.", served.system.name);
            }
            last
        } else {
            let total = |count: fn(&TableAudit) -> u64| Some(last.iter().map(|(_, table)| count(table)).sum());
            let totals = Totals {
                items: total(|table| table.items).filter(|total| *total > 0),
                documents: total(|table| table.documents).filter(|total| *total > 0),
            };
            self.compare(served, &engines, totals).await?
        };
        for (generation, result) in &results {
            if self.target.json {
                println!("{}", as_json(generation, result));
            } else if result.table != "?" || !result.findings.is_empty() {
                print(generation, result);
            }
        }
        let left: u64 = results.iter().map(|(_, result)| result.left()).sum();
        Ok(if left == 0 { ExitCode::SUCCESS } else { ExitCode::from(TO_DO) })
    }

    async fn compare(
        &self,
        served: &'static Served,
        engines: &Arc<Engines>,
        totals: Totals,
    ) -> Result<Vec<(String, TableAudit)>, Failure> {
        let wait = if engines.config.signs_search() { WAIT } else { WAIT_LOCALLY };
        let options = AuditOptions {
            repairs: !self.dry_run,
            only: self.table.as_deref().map(|name| table(served, name)).transpose()?,
            wait: self.wait.map_or(wait, Duration::from_secs),
            ..AuditOptions::FULL
        };
        let show = Show::new();
        let stages = Stages { progress: show.progress(), totals, done: AtomicU64::new(0), stage: Mutex::default() };
        let stages = Arc::new(stages);
        let listener = Arc::clone(&stages);
        let audited = (served.audit)(Arc::clone(engines), options, Box::new(move |step| listener.step(step))).await;
        stages.finish();
        show.clear();
        let audited = audited.map_err(Failure::new)?;
        Ok(audited
            .into_iter()
            .flat_map(|audit| {
                let generation = audit.generation;
                audit.tables.into_iter().map(move |table| (generation.clone(), table))
            })
            .collect())
    }
}

/// The numbers of the last audit, from which the progress bars take their lengths.
#[derive(Clone, Copy, Debug)]
struct Totals {
    items: Option<u64>,
    documents: Option<u64>,
}

/// The progress bars of an audit, one at a time.
struct Stages {
    progress: Progress,
    totals: Totals,
    done: AtomicU64,
    stage: Mutex<Option<&'static str>>,
}

impl Stages {
    fn step(&self, step: Step) {
        let (stage, more, total) = match step {
            Step::Items { items, again: false, .. } => (ITEMS, items, self.totals.items),
            Step::Documents { documents, again: false } => (DOCUMENTS, documents, self.totals.documents),
            Step::Items { items, again: true, .. } => (LOOKS, items, None),
            Step::Documents { documents, again: true } => (LOOKS, documents, None),
            Step::Waiting { .. } | Step::Repaired { .. } => (LOOKS, 0, None),
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

fn print(generation: &str, result: &TableAudit) {
    let TableAudit { table, items, documents, busy, .. } = result;
    let ended = result.ended.map(|ended| format!("  {}", time(ended))).unwrap_or_default();
    let state = if result.findings.is_empty() { ", equal" } else { "" };
    let busy = if *busy > 0 { format!(", {busy} change all the time") } else { String::new() };
    println!("{generation}  {table}{ended}  {items} items, {documents} documents{busy}{state}");
    for (kind, finding) in &result.findings {
        println!("  {}", line(*kind, finding));
    }
}

fn line(kind: Kind, finding: &Finding) -> String {
    let Finding { found, repaired, left, examples } = finding;
    let name = kind.name();
    let more = if *found > examples.len() as u64 { ", …" } else { "" };
    format!("{name}: {found} found, {repaired} repaired, {left} left: {}{more}", examples.join(", "))
}

fn time(micros: i64) -> String {
    Timestamp::from_microsecond(micros).map_or_else(|_| micros.to_string(), |time| format!("{time:.0}"))
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
    use super::*;

    #[test]
    fn line_of_a_finding_has_its_first_documents() {
        let finding = Finding { found: 2, repaired: 1, left: 1, examples: vec!["a#1".to_owned()] };
        assert_eq!(line(Kind::Lost, &finding), "lost: 2 found, 1 repaired, 1 left: a#1, …");
    }
}
