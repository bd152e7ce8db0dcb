//! The rebuild of a system's index, the first index, and the rollback to the old index. The state is the config item,
//! and each step changes it only if nothing else has changed it since. A call that was stopped at any point resumes
//! with the next call.

use std::time::Duration;

use table::Engines;
use table::schema::System;

use crate::audit::{AuditEnd, AuditOptions, AuditPurpose, AuditStep, GenerationAudit, audit_one, end_rebuild_audit};
use crate::documents::{Documents, Shapes};
use crate::engines::{DynamoState, Production};
use crate::fill::{Share, scan_tables};
use crate::generation::{Generation, Generations, Phase, index_name, write_alias};
use crate::group::after;
use crate::mapping::index_body;
use crate::ports::{Fault, Index, Ports, State, Time};

/// An operator's order about a rebuild.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rebuild {
    pub goal: Goal,
    /// Whether another rebuild begins if none is under way.
    pub begins: bool,
    /// Whether the old indexes are not written any more while the new one is filled, since they are lost or have a
    /// mapping that the code does not write. Readers then search the old index in its last state. A rebuild goes on as it
    /// was begun, and an order that contradicts this is refused.
    pub replaces: bool,
    /// How long the mirror writes nothing before the new index is published: longer than an invocation can live.
    pub pause: Duration,
    /// Whether the new index serves even if items of it are in quarantine.
    pub accepts_quarantine: bool,
    /// How long a state must last to be a difference in the audit of the new index, before it serves. `None` stands for
    /// no audit. A short time does no harm: a write that is on its way is repaired in vain.
    pub audit: Option<Duration>,
    /// For how long a step is tried again after a passing fault.
    pub patience: Duration,
}

/// For how long each step of an operator's command is tried again while an engine does not respond or refuses requests
/// for now: the creation of an index, its filling, its audit, the move of the alias, a deletion.
pub const PATIENCE: Duration = Duration::from_mins(90);

/// The pause before a step is tried again.
const RETRY_INTERVAL: Duration = Duration::from_secs(5);

/// The time after which another fault counts as that of another outage.
const OUTAGE_GAP: Duration = Duration::from_mins(10);

impl Rebuild {
    /// The order that creates an index while no other is written and no batch runs. There is nothing to wait for, and the
    /// index serves even with items in quarantine, since there is no older one to keep.
    pub const WITHOUT_PAUSE: Self = Self {
        goal: Goal::Serve,
        begins: false,
        replaces: false,
        pause: Duration::ZERO,
        accepts_quarantine: true,
        audit: None,
        patience: Duration::ZERO,
    };
}

/// The state that an order leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Goal {
    /// The new index serves, and the old one is kept.
    Serve,
    /// The old index is deleted after the new one serves.
    Finish,
    /// The old index serves again, and the new one is kept.
    RollBack,
    /// The new index, which does not serve, is deleted.
    Cancel,
}

/// A step of a rebuild that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// A step has failed with this reason, and is tried again for so long.
    Retrying { reason: String, left: Duration },
    /// The index exists, and the mirror writes nothing.
    Paused,
    /// From now on the stream function writes the index.
    Published,
    /// A page of a table was written.
    Scanned { table: &'static str, items: usize },
    /// The index is filled, and is compared with the tables.
    Filled,
    /// A step of its audit was made.
    Auditing(AuditStep),
    /// The index has every document.
    Audited,
    /// The readers' alias names the index.
    Serving,
    /// The other index is not written any more.
    Released,
    /// An index that is not written any more was deleted.
    Dropped,
}

/// The next step of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Creates an index, and pauses the mirror if another index is written.
    Begin,
    /// Pauses the mirror again after an operator resumed the rebuild.
    Pause,
    /// Publishes the created index after the pause.
    Publish,
    /// Fills the index, and audits it.
    Fill,
    /// Moves the readers' alias to the audited index.
    Swap,
    /// Prepares to fill and audit the kept index, which was rolled back, once more.
    RefillKept,
    /// Prepares to move the readers' alias back to the kept index.
    PrepareRollback,
    /// Stops writing the kept index.
    Release,
    /// Stops writing the index that does not serve.
    Abandon,
    /// Deletes an index that is not written any more.
    Drop,
}

/// Carries out an order. Returns the config item after it.
pub(crate) async fn rebuild_index(
    documents: &impl Documents,
    shapes: &impl Shapes,
    engines: &Engines,
    order: Rebuild,
    progress: impl Fn(Progress) + Sync,
) -> Result<Generations, Fault> {
    let system = documents.tables();
    let ports = Production::new(engines, system, shapes, None)?;
    let alias = engines.config.search_name(system.name);
    rebuild(&ports, documents, &alias, order, &progress).await
}

/// Stops the rebuild that is under way after its present page, until an operator resumes it.
pub async fn pause_rebuild(system: &'static System, engines: &Engines) -> Result<Generations, Fault> {
    pause(&DynamoState::new(engines, system)).await
}

/// Resumes a rebuild that an operator has paused, with the next order.
pub async fn resume_rebuild(system: &'static System, engines: &Engines) -> Result<(), Fault> {
    let state = DynamoState::new(engines, system);
    loop {
        match state.generations().await? {
            Some(config) if config.rebuild_paused => {
                if state.publish(&Generations { rebuild_paused: false, ..config.next() }).await? {
                    return Ok(());
                }
            }
            _ => return Ok(()),
        }
    }
}

/// Stops writing every index, so that the next order creates one from the tables. It must not be called while an
/// invocation may run, since there is no pause.
pub async fn abandon_indexes(system: &'static System, engines: &Engines) -> Result<(), Fault> {
    abandon(&DynamoState::new(engines, system)).await
}

pub(crate) async fn abandon(state: &impl State) -> Result<(), Fault> {
    while let Some(config) = state.generations().await?.filter(|config| !config.written.is_empty()) {
        let Generations { alias, last, mut dropping, written, planned, .. } = config.clone();
        dropping.extend(written.into_iter().chain(planned).map(|generation| generation.index));
        let epoch = config.epoch + 1;
        if state.publish(&Generations { epoch, last, dropping, ..Generations::none(&alias) }).await? {
            break;
        }
    }
    Ok(())
}

pub(crate) async fn pause(state: &impl State) -> Result<Generations, Fault> {
    loop {
        let Some(config) = state.generations().await?.filter(Generations::is_rebuilding) else {
            return Err(refused("no rebuild is under way"));
        };
        if config.rebuild_paused {
            return Ok(config);
        }
        let paused = Generations { rebuild_paused: true, mirror_paused: false, ..config.next() };
        if state.publish(&paused).await? {
            return Ok(paused);
        }
    }
}

pub(crate) async fn rebuild<P: Ports, D: Documents>(
    ports: &P,
    documents: &D,
    alias: &str,
    order: Rebuild,
    progress: &(impl Fn(Progress) + Sync),
) -> Result<Generations, Fault> {
    let mut course = Course::of(order);
    let (mut first_fault, mut last_fault) = (0, None);
    loop {
        let made = match decide(ports, documents, alias, order, &mut course).await {
            Ok(Decided::Reached(config)) => return Ok(config),
            Ok(Decided::Step(step, config)) => {
                let replaces = config.replaces;
                let taken = take_step(ports, documents, config, (step, order), progress).await;
                taken.map(|()| course.took(step, replaces))
            }
            Err(fault) => Err(fault),
        };
        let Err(fault) = made else { continue };
        let now = ports.time().micros();
        if last_fault.is_none_or(|last| after(last, OUTAGE_GAP) <= now) {
            first_fault = now;
        }
        last_fault = Some(now);
        let left = after(first_fault, order.patience).saturating_sub(now);
        let left = Duration::from_micros(u64::try_from(left).unwrap_or_default());
        if !fault.passing || left.is_zero() {
            return Err(fault);
        }
        progress(Progress::Retrying { reason: fault.to_string(), left });
        ports.time().wait(RETRY_INTERVAL).await;
    }
}

/// What a call has done so far for an order.
#[derive(Debug)]
pub(crate) struct Course {
    /// Whether it begins a rebuild if none is under way.
    pub(crate) begins: bool,
    /// The index of the rebuild that it carries out.
    index: Option<String>,
}

impl Course {
    pub(crate) fn of(order: Rebuild) -> Self {
        Self { begins: order.begins, index: None }
    }

    /// Notes that a step was taken, by a rebuild that replaced an index or not. A rebuild that was resumed is not followed
    /// by another one. An index that an earlier one left is no rebuild.
    pub(crate) fn took(&mut self, step: Step, replaced: bool) {
        if step != Step::Drop || replaced {
            self.begins = false;
        }
    }
}

/// What is to be done for an order.
pub(crate) enum Decided {
    /// The goal is reached.
    Reached(Generations),
    /// A step, from this config item.
    Step(Step, Generations),
}

/// Decides on the next step of an order.
pub(crate) async fn decide<P: Ports, D: Documents>(
    ports: &P,
    documents: &D,
    alias: &str,
    order: Rebuild,
    course: &mut Course,
) -> Result<Decided, Fault> {
    let config = ports.state().generations().await?.unwrap_or_else(|| Generations::none(alias));
    // Another command may have cancelled the rebuild between two steps. This one begins no other.
    if course.index.as_ref().is_some_and(|index| !config.has(index)) {
        return Err(refused("the rebuild was cancelled"));
    }
    let Some(mut step) = config.step(order, course.begins).map_err(refused)? else {
        return Ok(Decided::Reached(config));
    };
    let resumes_drop = step == Step::Drop && config.replaces && order.replaces && course.begins;
    if resumes_drop && is_serving_lost(ports, &config).await? {
        step = Step::Begin;
    }
    if order.goal == Goal::Serve && matches!(step, Step::Pause | Step::Publish | Step::Fill | Step::Swap) {
        course.index = config.unfinished().map(|generation| generation.index.clone());
    }
    if matches!(step, Step::Begin | Step::Pause | Step::Publish) {
        let (replaces, remedy) = match step {
            Step::Begin => (order.replaces, "add `--replace`"),
            _ => (config.replaces, "cancel the rebuild, and start it with `--replace`"),
        };
        check_mappings(&config, documents, replaces, remedy)?;
    }
    Ok(Decided::Step(step, config))
}

/// Takes a step of an order. If another call was faster, it has no effect.
pub(crate) async fn take_step<P: Ports, D: Documents>(
    ports: &P,
    documents: &D,
    config: Generations,
    (step, order): (Step, Rebuild),
    progress: &(impl Fn(Progress) + Sync),
) -> Result<(), Fault> {
    let before = config.clone();
    let taken = make_step(ports, documents, config, (step, order), progress).await;
    match step {
        Step::Fill | Step::Swap => explained(ports, &before, taken).await,
        _ => taken,
    }
}

async fn make_step<P: Ports, D: Documents>(
    ports: &P,
    documents: &D,
    config: Generations,
    (step, order): (Step, Rebuild),
    progress: &(impl Fn(Progress) + Sync),
) -> Result<(), Fault> {
    match step {
        Step::Begin => begin(ports, documents, config, order, progress).await?,
        Step::Fill => {
            fill(ports, documents, &config, progress).await?;
            compare(ports, documents, &config, (order, None), progress).await?;
        }
        Step::Swap => swap(ports, &config, progress).await?,
        Step::Publish => publish_after_pause(ports, config, order, progress).await?,
        Step::Drop => drop_index(ports, config, progress).await?,
        Step::Pause => {
            ports.state().publish(&Generations { mirror_paused: true, ..config.next() }).await?;
        }
        Step::RefillKept | Step::PrepareRollback | Step::Release | Step::Abandon => {
            let next = changed(&config, step);
            if ports.state().publish(&next).await? && step == Step::Release {
                progress(Progress::Released);
            }
        }
    }
    Ok(())
}

/// Whether the index that serves does not exist any more.
async fn is_serving_lost<P: Ports>(ports: &P, config: &Generations) -> Result<bool, Fault> {
    match config.of(Phase::Serving) {
        Some(serving) => Ok(!ports.index().exists(&serving.index).await?),
        None => Ok(true),
    }
}

/// Returns the result of a step that fills an index or lets it serve. If it failed since the index was deleted by hand,
/// the fault says so.
pub(crate) async fn explained<P: Ports, T>(
    ports: &P,
    config: &Generations,
    taken: Result<T, Fault>,
) -> Result<T, Fault> {
    match taken {
        Ok(taken) => Ok(taken),
        Err(fault) => Err(deletion(ports, config).await.unwrap_or(fault)),
    }
}

/// Returns the fault that says that the index which is filled, or is about to serve, was deleted by hand. Returns `None`
/// if it exists, or if that cannot be known.
async fn deletion<P: Ports>(ports: &P, config: &Generations) -> Option<Fault> {
    let wanted = config.unfinished()?;
    if ports.index().exists(&wanted.index).await.ok()? {
        return None;
    }
    // Another command may have cancelled the rebuild, and deleted it.
    let present = ports.state().generations().await.ok()??;
    let is_wanted = present.has(&wanted.index);
    let what_to_do = match present.phases().is_rolling_back() {
        true => "start a rebuild with `--replace`",
        false => "cancel the rebuild and start it again",
    };
    is_wanted.then(|| refused(format_args!("{} was deleted: {what_to_do}", wanted.index)))
}

/// Checks that the code writes each index that is written once the new one is published. A rebuild that was refused
/// later would leave the mirror paused.
fn check_mappings(config: &Generations, documents: &impl Documents, replaces: bool, remedy: &str) -> Result<(), Fault> {
    for generation in config.written.iter().filter(|_| !replaces) {
        generation
            .check_mapping(documents)
            .map_err(|reason| refused(format_args!("{reason}. This code cannot write it until then: {remedy}")))?;
    }
    config.planned.iter().try_for_each(|planned| planned.check_mapping(documents)).map_err(refused)
}

/// Creates an index under a name that was never used. Before the very first index no batch was handled, so there is no
/// pause.
async fn begin<P: Ports, D: Documents>(
    ports: &P,
    documents: &D,
    config: Generations,
    order: Rebuild,
    progress: &impl Fn(Progress),
) -> Result<(), Fault> {
    let mapping = documents.mapping();
    let mut number = config.last;
    let mut unpublished = Vec::new();
    let index = loop {
        number += 1;
        let index = index_name(&config.alias, number);
        // An index that exists already, even one without a config item, may have any content.
        if ports.index().create(&index, &index_body(mapping, &write_alias(&index))?).await? {
            break index;
        }
        unpublished.push(index);
    };
    let generation = Generation { index, mapping: mapping.version, phase: Phase::Filling };
    // After a cancelled rebuild nothing is written either, but earlier batches were handled in an index that is dropped.
    let is_first = config.written.is_empty() && config.dropping.is_empty();
    let replaces = order.replaces && !config.written.is_empty();
    let mut next = Generations { last: number, rebuild_paused: false, replaces, ..config.next() };
    if is_first {
        next.written.push(generation);
    } else {
        next.planned = Some(generation);
        next.mirror_paused = true;
        // Orders that created them have not published them, and cannot any more. Before the first index, they may be of
        // an earlier deployment.
        next.dropping.extend(unpublished);
    }
    // If another order was faster, the next step continues that one. The next rebuild deletes this index.
    if ports.state().publish(&next).await? {
        progress(if is_first { Progress::Published } else { Progress::Paused });
    }
    Ok(())
}

/// Waits until no invocation from before the pause lives, and publishes the index. Without the wait, an invocation that
/// had received an older image could write it to the new index after another one had handled the item's delete in the
/// old index alone.
async fn publish_after_pause<P: Ports>(
    ports: &P,
    config: Generations,
    order: Rebuild,
    progress: &impl Fn(Progress),
) -> Result<(), Fault> {
    let mut next = Generations { mirror_paused: false, planned: None, ..config.next() };
    if next.replaces {
        next.dropping.extend(next.written.drain(..).map(|generation| generation.index));
    }
    next.written.extend(config.planned);
    if !order.pause.is_zero() {
        ports.time().wait(order.pause).await;
    }
    if ports.state().publish(&next).await? {
        progress(Progress::Published);
    }
    Ok(())
}

/// Writes every item of the tables to the new index.
async fn fill<P: Ports, D: Documents>(
    ports: &P,
    documents: &D,
    config: &Generations,
    progress: &(impl Fn(Progress) + Sync),
) -> Result<(), Fault> {
    let Some(generation) = config.of(Phase::Filling) else { return Ok(()) };
    generation.check_mapping(documents).map_err(refused)?;
    let scanned = |table, items| progress(Progress::Scanned { table, items });
    scan_tables(ports, documents, generation, Share::WHOLE, &scanned).await
}

/// Compares the filled index with the tables, and publishes that it has every document. `until` is the time at which the
/// comparison stops, in microseconds. Returns whether it has ended.
pub(crate) async fn compare<P: Ports, D: Documents>(
    ports: &P,
    documents: &D,
    config: &Generations,
    (order, until): (Rebuild, Option<i64>),
    progress: &(impl Fn(Progress) + Sync),
) -> Result<bool, Fault> {
    let Some(generation) = config.of(Phase::Filling) else { return Ok(true) };
    ports.index().refresh(&generation.index).await?;
    progress(Progress::Filled);
    if let Some(wait) = order.audit {
        let options = AuditOptions { purpose: AuditPurpose::Rebuild, wait, ..AuditOptions::DAILY };
        let step = |step| progress(Progress::Auditing(step));
        let audited = audit_one(ports, documents, generation, options, until, &step).await?;
        if audited.ended == AuditEnd::Stopped {
            return Ok(false);
        }
        check_audit(&audited)?;
    } else {
        end_rebuild_audit(ports, &generation.index).await?;
    }
    check_quarantine(ports, generation, order).await?;
    if ports.state().publish(&changed(config, Step::Fill)).await? {
        progress(Progress::Audited);
    }
    Ok(true)
}

/// Checks that the audit of a filled index has left no difference.
fn check_audit(audited: &GenerationAudit) -> Result<(), Fault> {
    let findings = || audited.tables.iter().flat_map(|table| &table.findings);
    let left = || findings().filter(|(kind, finding)| kind.is_difference() && finding.left > 0);
    match left().next() {
        None => Ok(()),
        Some((kind, finding)) => Err(refused(format_args!(
            "{} does not serve yet: {} documents still differ from their items ({}, such as {}). Remove the cause and \
             start the rebuild again, or cancel it",
            audited.generation,
            left().map(|(_, finding)| finding.left).sum::<u64>(),
            kind.name(),
            finding.examples.join(", "),
        ))),
    }
}

/// Checks that no item of a filled index is in quarantine.
async fn check_quarantine<P: Ports>(ports: &P, generation: &Generation, order: Rebuild) -> Result<(), Fault> {
    if order.accepts_quarantine {
        return Ok(());
    }
    // One page, since there may be any number.
    match ports.state().markers_after(&generation.index, None).await?.len() {
        0 => Ok(()),
        number => Err(refused(format_args!(
            "{} does not serve yet: at least {number} of its items are in quarantine. Fix them, or accept this with \
             `--accept-quarantine`.",
            generation.index
        ))),
    }
}

/// Moves the readers' alias. The config item says so afterwards. Until then each order makes this step again.
async fn swap<P: Ports>(ports: &P, config: &Generations, progress: &impl Fn(Progress)) -> Result<(), Fault> {
    let Some(generation) = config.of(Phase::Audited) else { return Ok(()) };
    if config.has_one_index() {
        ports.index().serve(&config.alias, &generation.index).await?;
    } else {
        ports.index().swap(&config.alias, &generation.index).await?;
    }
    if ports.state().publish(&changed(config, Step::Swap)).await? {
        progress(Progress::Serving);
    }
    Ok(())
}

/// Deletes an index, and what the state table has about it.
async fn drop_index<P: Ports>(ports: &P, config: Generations, progress: &impl Fn(Progress)) -> Result<(), Fault> {
    let mut next = config.next();
    let (Some(index), Some(serving)) = (next.dropping.pop(), config.of(Phase::Serving)) else {
        return Err(refused("no index serves, so none can be deleted"));
    };
    ports.index().delete(&config.alias, &serving.index, &index).await?;
    ports.state().forget(&index).await?;
    // A rebuild that replaces an index ends with its deletion.
    next.replaces &= !next.dropping.is_empty();
    if ports.state().publish(&next).await? {
        progress(Progress::Dropped);
    }
    Ok(())
}

/// Returns the config item after a step that changes phases.
fn changed(config: &Generations, step: Step) -> Generations {
    let mut next = config.next();
    for generation in &mut next.written {
        generation.phase = match (step, generation.phase) {
            (Step::Fill, Phase::Filling) | (Step::PrepareRollback, Phase::Kept) => Phase::Audited,
            (Step::Swap, Phase::Audited) => Phase::Serving,
            (Step::Swap, Phase::Serving) => Phase::Kept,
            (Step::RefillKept, Phase::Kept) => Phase::Filling,
            (_, phase) => phase,
        };
    }
    if matches!(step, Step::Release | Step::Abandon) {
        let (serving, others) = next.written.into_iter().partition(|generation| generation.phase == Phase::Serving);
        next.written = serving;
        let others: Vec<Generation> = others;
        next.dropping.extend(others.into_iter().chain(next.planned.take()).map(|generation| generation.index));
        next.mirror_paused = false;
        next.rebuild_paused = false;
        next.replaces = false;
    }
    next
}

/// The positions of the generations by phase. Generations are listed by age.
struct Phases {
    serving: Option<usize>,
    filling: Option<usize>,
    audited: Option<usize>,
    kept: Option<usize>,
}

pub(crate) type Next = Result<Option<Step>, String>;

impl Generations {
    /// Whether an index was created that does not serve yet.
    pub fn is_rebuilding(&self) -> bool {
        self.planned.is_some() || self.phases().filling.is_some() || self.phases().is_advancing()
    }

    /// Returns the index that is created, filled or about to serve.
    fn unfinished(&self) -> Option<&Generation> {
        self.planned.as_ref().or(self.of(Phase::Filling)).or(self.of(Phase::Audited))
    }

    /// Whether an index is written, or is to be published.
    fn has(&self, index: &str) -> bool {
        self.written.iter().chain(&self.planned).any(|generation| generation.index == index)
    }

    /// Whether no index but one is there, so that no reader can search two.
    pub(crate) fn has_one_index(&self) -> bool {
        self.written.len() == 1 && self.dropping.is_empty()
    }

    fn phases(&self) -> Phases {
        let at = |phase| self.written.iter().position(|generation| generation.phase == phase);
        Phases {
            serving: at(Phase::Serving),
            filling: at(Phase::Filling),
            audited: at(Phase::Audited),
            kept: at(Phase::Kept),
        }
    }

    /// Returns the next step towards a goal, or `None` if it is reached. The error says why it cannot be reached.
    pub(crate) fn step(&self, order: Rebuild, begins: bool) -> Next {
        match order.goal {
            Goal::Serve => self.to_serve(begins, order.replaces),
            Goal::Finish => self.to_finish(),
            Goal::RollBack => self.to_roll_back(),
            Goal::Cancel => self.to_cancel(),
        }
    }

    fn to_serve(&self, begins: bool, replaces: bool) -> Next {
        let phases = self.phases();
        if self.rebuild_paused {
            return Err("the rebuild is paused: resume or cancel it".to_owned());
        }
        // Without an index that serves there is nothing left to replace.
        if replaces && !self.replaces && self.is_rebuilding() && phases.serving.is_some() {
            return Err(
                "this rebuild was begun without `--replace`: go on without it, or cancel the rebuild".to_owned()
            );
        }
        if self.planned.is_some() {
            return Ok(Some(if self.mirror_paused { Step::Publish } else { Step::Pause }));
        }
        if self.written.is_empty() {
            return Ok(Some(Step::Begin));
        }
        if phases.is_advancing() {
            return Ok(Some(Step::Swap));
        }
        if phases.filling.is_some() {
            return Ok(Some(Step::Fill));
        }
        // The other steps need an index that may be lost. A rebuild that replaces an index ends with its deletion.
        if begins && replaces && !self.replaces {
            return Ok(Some(Step::Begin));
        }
        if phases.is_rolling_back() {
            return Ok(Some(Step::Swap));
        }
        if !self.dropping.is_empty() {
            return Ok(Some(Step::Drop));
        }
        if phases.was_rolled_back() {
            return Ok(Some(Step::RefillKept));
        }
        match self.of(Phase::Kept) {
            Some(kept) if begins => Err(format!("{} is still kept: finish or roll back first", kept.index)),
            _ => Ok(begins.then_some(Step::Begin)),
        }
    }

    fn to_finish(&self) -> Next {
        let phases = self.phases();
        if self.is_rebuilding() || phases.was_rolled_back() || phases.is_rolling_back() {
            return Err("the new index does not serve: start the rebuild again, or cancel it".to_owned());
        }
        Ok(if phases.kept.is_some() { Some(Step::Release) } else { self.to_drop() })
    }

    fn to_roll_back(&self) -> Next {
        let phases = self.phases();
        if phases.is_rolling_back() {
            Ok(Some(Step::Swap))
        } else if self.is_rebuilding() {
            Err("the new index does not serve yet: cancel the rebuild".to_owned())
        } else if phases.was_rolled_back() {
            Ok(None)
        } else if phases.kept.is_some() {
            Ok(Some(Step::PrepareRollback))
        } else {
            Err("the old index is not written any more: rebuild with the former code".to_owned())
        }
    }

    fn to_cancel(&self) -> Next {
        let phases = self.phases();
        if phases.is_rolling_back() {
            Ok(Some(Step::Swap))
        } else if self.is_rebuilding() || phases.was_rolled_back() {
            Ok(Some(Step::Abandon))
        } else if phases.kept.is_some() {
            Err("the new index serves: roll back first, or finish the rebuild".to_owned())
        } else {
            Ok(self.to_drop())
        }
    }

    /// Without an index that serves, none is deleted, since readers may still search it.
    fn to_drop(&self) -> Option<Step> {
        (!self.dropping.is_empty() && self.phases().serving.is_some()).then_some(Step::Drop)
    }
}

impl Phases {
    /// Whether the readers' alias moves to a newer index, or to the first.
    fn is_advancing(&self) -> bool {
        self.audited.is_some() && self.audited > self.serving
    }

    /// Whether the readers' alias moves to the older index.
    fn is_rolling_back(&self) -> bool {
        self.audited.is_some() && self.audited < self.serving
    }

    /// Whether the older index serves again.
    fn was_rolled_back(&self) -> bool {
        self.kept > self.serving
    }
}

pub(crate) fn refused(reason: impl ToString) -> Fault {
    Fault::lasting("mirror", reason)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::audit::{DifferenceKind, Finding, TableAudit};

    fn audited(kind: DifferenceKind, left: u64) -> GenerationAudit {
        let finding = Finding { found: 2, repaired: 2 - left, left, examples: vec!["a#1".to_owned()] };
        let table = TableAudit {
            table: "trees".to_owned(),
            started: 0,
            ended: Some(1),
            full: true,
            repairs: true,
            items: 2,
            documents: 2,
            busy: 0,
            findings: BTreeMap::from([(kind, finding)]),
        };
        GenerationAudit { generation: "toy-000002".to_owned(), ended: AuditEnd::Finished, tables: vec![table] }
    }

    #[test]
    fn index_with_any_difference_that_is_left_does_not_serve() {
        for kind in DifferenceKind::ALL {
            assert!(check_audit(&audited(kind, 0)).is_ok());
            assert_eq!(check_audit(&audited(kind, 1)).is_err(), kind.is_difference(), "{kind:?}");
        }
        let refused = check_audit(&audited(DifferenceKind::Unmarked, 1)).unwrap_err();
        let expected = "toy-000002 does not serve yet: 1 documents still differ from their items (not in quarantine, \
                        such as a#1). Remove the cause and start the rebuild again, or cancel it";
        assert_eq!(refused.reason, expected);
    }
}
