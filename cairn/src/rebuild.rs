//! `cairn rebuild`: fills a new index beside the one that serves, and lets it serve.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use clap::{Args, Subcommand};
use local::{Progress, Served};
use mirror::{Generation, Generations, Goal, Phase, Preview, Rebuild as Order, RebuildProgress, RepairedEntity};
use serde_json::json;
use table::Engines;

use crate::executions::Executions;
use crate::exit::TO_DO;
use crate::failure::Failure;
use crate::filling::{FILLING, Filling};
use crate::retrying::Retrying;
use crate::running;
use crate::show::Show;
use crate::target::Target;

#[derive(Debug, Args)]
pub struct Rebuild {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Create a new index, fill it from the tables while the old one serves, and move search to it. An interrupted
    /// rebuild resumes.
    Start(Start),
    /// Print the indexes of a system and the state of its rebuild.
    Status(Target),
    /// Stop a rebuild after its present page, until `resume`.
    Pause(Target),
    /// Resume a rebuild that was paused.
    Resume(Start),
    /// Delete the new index, which does not serve.
    Cancel(End),
    /// Move search back to the old index.
    Rollback(Target),
    /// Delete the old index, after which there is no way back.
    Finish(End),
    /// Rebuild the documents of one entity in place, in every index that is written.
    Entity(Entity),
}

#[derive(Debug, Args)]
struct End {
    #[command(flatten)]
    target: Target,
    /// Only print the indexes that would be deleted.
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Args)]
struct Entity {
    #[command(flatten)]
    target: Target,
    /// The name of the entity, such as `geozone`.
    entity: String,
}

#[derive(Debug, Args)]
struct Start {
    #[command(flatten)]
    target: Target,
    /// Do not write the old index any more while the new one is filled. Search then shows its last state. Needed if the
    /// old index is lost, or its mapping is older than that of the release before. A command that resumes the rebuild
    /// does not need it.
    #[arg(long)]
    replace: bool,
    /// Let the new index serve although items of it are in quarantine.
    #[arg(long)]
    accept_quarantine: bool,
    /// Do not compare the new index with the tables before it serves.
    #[arg(long)]
    skip_audit: bool,
    /// Let functions of the deployment fill and compare the new index, and show their progress. If the command is
    /// interrupted, they go on, and the same command shows their progress again.
    #[arg(long)]
    in_cloud: bool,
    /// Delete the old index as soon as the new one serves.
    #[arg(long)]
    finish: bool,
    /// How long to write both indexes after the new one serves, before the old one is deleted, with `--finish`.
    #[arg(long, value_name = "MINUTES", default_value_t = 0, requires = "finish")]
    keep_minutes: u64,
}

/// The stage of the progress bar after [`FILLING`].
const COMPARING: &str = "comparing";

/// How long a difference must last in the audit of the new index. Until then a write may be on its way.
const AUDIT_WAIT: Duration = Duration::from_secs(5);

impl Rebuild {
    pub async fn run(self) -> Result<ExitCode, Failure> {
        let show = Show::new();
        let outcome = self.command.run(&show.progress()).await;
        show.clear();
        let (text, code) = outcome?;
        println!("{text}");
        Ok(code)
    }
}

impl Command {
    /// Returns what the command prints, and its exit code.
    async fn run(self, progress: &Progress) -> Result<(String, ExitCode), Failure> {
        let text = match self {
            Self::Start(start) => start.run(progress, true).await?,
            Self::Resume(start) => {
                let order = start.order(false)?;
                let (engines, served) = start.open().await?;
                // Without a rebuild, the order that follows might undo a rollback.
                if !mirror::resume_rebuild(served.system, &engines, order).await.map_err(Failure::new)? {
                    let name = &start.target.system;
                    let reason =
                        format!("No rebuild of {name} is paused. `cairn rebuild status {name}` shows its state.");
                    return Err(Failure::new(reason));
                }
                start.run(progress, false).await?
            }
            Self::Cancel(end) => return end.run(Goal::Cancel, progress).await,
            Self::Rollback(target) => reach(&target, Goal::RollBack, progress).await?,
            Self::Finish(end) => return end.run(Goal::Finish, progress).await,
            Self::Entity(entity) => entity.run(progress).await?,
            Self::Pause(target) => {
                let (engines, served) = target.open().await?;
                let paused = mirror::pause_rebuild(served.system, &engines).await.map_err(Failure::new)?;
                printed(&paused, target.json)
            }
            Self::Status(target) => {
                let (engines, served) = target.open().await?;
                let state = mirror::generations(served.system, &engines).await.map_err(Failure::new)?;
                let none = || Failure::new(format!("{} has no index yet.", target.system));
                printed(&state.ok_or_else(none)?, target.json)
            }
        };
        Ok((text, ExitCode::SUCCESS))
    }
}

impl End {
    /// Returns what the command prints, and its exit code.
    async fn run(self, goal: Goal, progress: &Progress) -> Result<(String, ExitCode), Failure> {
        if !self.dry_run {
            return Ok((reach(&self.target, goal, progress).await?, ExitCode::SUCCESS));
        }
        let (engines, served) = self.target.open().await?;
        let preview = mirror::preview_rebuild(served.system, &engines, goal).await.map_err(Failure::new)?;
        let code = if preview == Preview::default() { ExitCode::SUCCESS } else { ExitCode::from(TO_DO) };
        Ok((previewed(&preview, self.target.json), code))
    }
}

impl Entity {
    async fn run(self, progress: &Progress) -> Result<String, Failure> {
        let (engines, served) = self.target.open().await?;
        let total = served.count_items(&engines).await;
        let filling = Arc::new(Filling::new(progress.clone(), total));
        let listener = Arc::clone(&filling);
        progress.started(FILLING);
        let scanned = Box::new(move |items| listener.scanned(items));
        let repaired = (served.repair_entity)(engines, self.entity.clone(), scanned).await;
        let repaired = repaired.map_err(Failure::new)?.ok_or_else(|| {
            Failure::new(format!("{} has no searchable entity `{}`.", served.system.name, self.entity))
        })?;
        filling.finished();
        let RepairedEntity { items, quarantined, failed, reasons } = repaired;
        if failed > 0 {
            let reasons = reasons.join("\n");
            return Err(Failure::new(format!(
                "{failed} of {items} items could not be repaired:\n{reasons}\nRun the command again once the cause is \
                 removed."
            )));
        }
        Ok(if self.target.json {
            format!("{:#}", json!({ "items": items, "quarantined": quarantined }))
        } else {
            format!("{items} items compared, {quarantined} of them in quarantine")
        })
    }
}

impl Start {
    fn order(&self, begins: bool) -> Result<Order, Failure> {
        Ok(Order {
            goal: Goal::Serve,
            begins,
            replaces: self.replace,
            wait: running::wait(&self.target.state.folder)?,
            accepts_quarantine: self.accept_quarantine,
            audit: (!self.skip_audit).then_some(AUDIT_WAIT),
            patience: mirror::PATIENCE,
        })
    }

    /// Opens the system. If functions are to carry out the order, it fails unless the deployment has them.
    async fn open(&self) -> Result<(Arc<Engines>, &'static Served), Failure> {
        if !self.in_cloud {
            return self.target.open().await;
        }
        let (engines, served, executions) = open_in_cloud(&self.target).await?;
        executions.running().await?;
        Ok((engines, served))
    }

    async fn run(self, progress: &Progress, begins: bool) -> Result<String, Failure> {
        let order = self.order(begins)?;
        let Self { target, in_cloud, finish, keep_minutes, .. } = self;
        let carried_out = if in_cloud {
            carry_out_in_cloud(&target, order, progress).await
        } else {
            carry_out(&target, order, progress).await
        };
        if !finish {
            return Ok(printed(&carried_out?, target.json));
        }
        // Once the new index serves, the same command would begin another rebuild.
        let state = carried_out.map_err(|failure| {
            let name = &target.system;
            Failure::new(format!(
                "{failure}\nIf the new index serves, `cairn rebuild finish {name}` completes the rebuild."
            ))
        })?;
        if state.of(Phase::Kept).is_some() && keep_minutes > 0 {
            progress.note(format!("Both indexes are written for {keep_minutes} minutes."));
            tokio::time::sleep(Duration::from_secs(60 * keep_minutes)).await;
        }
        reach(&target, Goal::Finish, progress).await
    }
}

/// Carries out an order that needs nothing but its goal. Returns what the command prints.
async fn reach(target: &Target, goal: Goal, progress: &Progress) -> Result<String, Failure> {
    let order = Order {
        goal,
        begins: false,
        replaces: false,
        wait: Duration::ZERO,
        accepts_quarantine: false,
        audit: None,
        patience: mirror::PATIENCE,
    };
    Ok(printed(&carry_out(target, order, progress).await?, target.json))
}

async fn carry_out(target: &Target, order: Order, progress: &Progress) -> Result<Generations, Failure> {
    let (engines, served) = target.open().await?;
    let total = if order.goal == Goal::Serve { served.count_items(&engines).await } else { None };
    let steps = Steps::new(progress, order.wait, total);
    let state = (served.rebuild)(engines, order, Box::new(move |step| steps.show(step))).await;
    state.map_err(|fault| {
        let name = served.system.name;
        Failure::new(format!("{fault}\n`cairn rebuild status {name}` shows the state of the rebuild."))
    })
}

/// Opens a system of a deployment, with the executions of its functions.
async fn open_in_cloud(target: &Target) -> Result<(Arc<Engines>, &'static Served, Executions), Failure> {
    if !running::is_deployment() {
        return Err(Failure::new("`--in-cloud` needs a deployment: set its variables as docs/deploying.md says."));
    }
    let (engines, served) = target.open().await?;
    let executions = Executions::of(served.system.name, &engines.config).await?;
    Ok((engines, served, executions))
}

/// Carries out an order by the functions of a deployment, as far as these can, and then the rest of it.
async fn carry_out_in_cloud(target: &Target, order: Order, progress: &Progress) -> Result<Generations, Failure> {
    let (engines, served, executions) = open_in_cloud(target).await?;
    let rest = Order { begins: false, ..order };
    let state = mirror::generations(served.system, &engines).await.map_err(Failure::new)?;
    // No function may delete an index.
    if state.is_some_and(|state| !state.is_rebuilding() && !state.dropping.is_empty()) {
        carry_out(target, rest, progress).await?;
    }
    let input = json!({
        "begin": order.begins,
        "replace": order.replaces,
        "acceptQuarantine": order.accepts_quarantine,
        "skipAudit": order.audit.is_none(),
    });
    let execution = executions.running_or_new(&input).await?;
    progress.note(format!("Functions carry it out: {execution}"));
    let total = served.count_items(&engines).await;
    let mut watched = Watched::default();
    while !executions.has_ended(&execution).await? {
        // The rebuild does not depend on what is shown of it.
        if let Ok(seen) = mirror::rebuild_progress(served.system, &engines).await {
            watched.show(&seen, total, order.wait, progress);
        }
        tokio::time::sleep(WATCH_INTERVAL).await;
    }
    carry_out(target, rest, progress).await
}

/// How often the progress of functions is read.
const WATCH_INTERVAL: Duration = Duration::from_secs(5);

/// What was shown of the progress of functions.
#[derive(Debug, Default)]
struct Watched {
    published: bool,
    filling: bool,
    comparing: bool,
}

impl Watched {
    fn show(&mut self, seen: &RebuildProgress, total: Option<u64>, wait: Duration, progress: &Progress) {
        let RebuildProgress { generations, documents, compared } = seen;
        if generations.of(Phase::Published).is_some() && !std::mem::replace(&mut self.published, true) {
            show_published(wait, progress);
        }
        let Some(documents) = *documents else { return };
        if !std::mem::replace(&mut self.filling, true) {
            progress.started(FILLING);
        }
        let Some(compared) = *compared else {
            return progress.advanced(FILLING, documents, total.map(|total| total.max(documents)));
        };
        if !std::mem::replace(&mut self.comparing, true) {
            progress.finished(FILLING, format!("{documents} documents"));
            progress.started(COMPARING);
        }
        // The items are read, then the documents.
        progress.advanced(COMPARING, compared, total.map(|total| (2 * total).max(compared)));
    }
}

/// The steps of a rebuild, shown on the progress.
struct Steps {
    progress: Progress,
    wait: Duration,
    retrying: Retrying,
    filling: Filling,
    compared: AtomicU64,
    total: Option<u64>,
}

impl Steps {
    fn new(progress: &Progress, wait: Duration, total: Option<u64>) -> Self {
        Self {
            progress: progress.clone(),
            wait,
            retrying: Retrying::new(progress.clone()),
            filling: Filling::new(progress.clone(), total),
            compared: AtomicU64::default(),
            total,
        }
    }

    fn show(&self, step: mirror::Progress) {
        let progress = &self.progress;
        match step {
            mirror::Progress::Retrying { reason, left } => self.retrying.show(&reason, left),
            mirror::Progress::Published => show_published(self.wait, progress),
            mirror::Progress::Scanned { items, .. } => self.filling.scanned(items),
            mirror::Progress::Filled => {
                self.filling.finished();
                self.compared.store(0, Ordering::SeqCst);
                progress.note("The new index is compared with the tables.");
            }
            mirror::Progress::Auditing(step) => {
                let read = step.read() as u64;
                let compared = self.compared.fetch_add(read, Ordering::SeqCst) + read;
                progress.started(COMPARING);
                // The items are read, then the documents.
                progress.advanced(COMPARING, compared, self.total.map(|total| (2 * total).max(compared)));
            }
            mirror::Progress::Audited => {
                progress.finished(COMPARING, "compared");
                progress.note("The new index has every document.");
            }
            mirror::Progress::Serving => progress.note("Search uses the index."),
            mirror::Progress::Released => progress.note("The old index is not written any more."),
            mirror::Progress::Dropped => progress.note("An index was deleted."),
        }
    }
}

fn show_published(wait: Duration, progress: &Progress) {
    progress
        .note(format!("A new index was created, and is written from now on. It is filled in {} s.", wait.as_secs()));
}

/// Returns the state as text or as JSON.
fn printed(state: &Generations, json: bool) -> String {
    if json { format!("{:#}", described(state)) } else { listed(state).trim_end().to_owned() }
}

/// Returns what an order would end as text or as JSON.
fn previewed(preview: &Preview, json: bool) -> String {
    let Preview { released, deleted } = preview;
    if json {
        return format!("{:#}", json!({ "dryRun": true, "released": released, "deleted": deleted }));
    }
    let kept = released.iter().filter(|index| !deleted.contains(index));
    let kept = kept.map(|index| format!("{index}  would not be written any more"));
    let lines: Vec<_> = deleted.iter().map(|index| format!("{index}  would be deleted")).chain(kept).collect();
    if lines.is_empty() { "No index would be deleted.".to_owned() } else { lines.join("\n") }
}

/// Returns a line for each index.
fn listed(state: &Generations) -> String {
    let lines = state
        .written
        .iter()
        .map(|Generation { index, mapping, phase }| format!("{index}  {:<9} mapping {mapping}\n", phase.name()));
    let dropping = state.dropping.iter().map(|index| format!("{index}  dropping\n"));
    let paused = state.rebuild_paused.then(|| "The rebuild is paused.\n".to_owned());
    lines.chain(dropping).chain(paused).collect()
}

fn described(state: &Generations) -> serde_json::Value {
    let indexes = state.written.iter().map(
        |Generation { index, mapping, phase }| json!({ "index": index, "phase": phase.name(), "mapping": mapping }),
    );
    let dropping = state.dropping.iter().map(|index| json!({ "index": index, "phase": "dropping" }));
    json!({
        "indexes": indexes.chain(dropping).collect::<Vec<_>>(),
        "rebuilding": state.is_rebuilding(),
        "paused": state.rebuild_paused,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generation(number: u32, phase: Phase) -> Generation {
        Generation { index: format!("parks-{number:06}"), mapping: number, phase }
    }

    fn state() -> Generations {
        let written = vec![generation(1, Phase::Serving), generation(2, Phase::Filling)];
        Generations {
            written,
            dropping: vec!["parks-000003".to_owned()],
            rebuild_paused: true,
            ..Generations::default()
        }
    }

    #[test]
    fn each_index_is_listed_with_its_phase() {
        let expected = "parks-000001  serving   mapping 1\nparks-000002  filling   mapping 2\n\
                        parks-000003  dropping\nThe rebuild is paused.\n";
        assert_eq!(listed(&state()), expected);
    }

    #[test]
    fn dry_run_names_each_index_with_its_end() {
        let preview = |released: &[&str], deleted: &[&str]| {
            let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
            previewed(&Preview { released: texts(released), deleted: texts(deleted) }, false)
        };
        let expected = "a  would be deleted\nc  would be deleted\nb  would not be written any more";
        assert_eq!(preview(&["a", "b"], &["a", "c"]), expected);
        assert_eq!(preview(&[], &[]), "No index would be deleted.");
    }

    #[test]
    fn json_has_each_index_with_its_phase() {
        let expected = json!({
            "indexes": [
                { "index": "parks-000001", "phase": "serving", "mapping": 1 },
                { "index": "parks-000002", "phase": "filling", "mapping": 2 },
                { "index": "parks-000003", "phase": "dropping" },
            ],
            "rebuilding": true, "paused": true,
        });
        assert_eq!(described(&state()), expected);
    }
}
