//! The rebuild of a system's index, the first index, and the rollback to the old index. The state is the config item,
//! and each step changes it only if nothing else has changed it since. A call that was stopped at any point resumes
//! with the next call.

mod next_step;
mod order;
mod steps;

use std::time::Duration;

use table::Engines;
use table::schema::System;

pub(crate) use self::next_step::Step;
pub(crate) use self::order::refused;
pub use self::order::{Goal, PATIENCE, Preview, Progress, Rebuild};
pub(crate) use self::steps::{compare, explained, take_step};
use crate::documents::{Documents, Shapes};
use crate::engines::{DynamoState, Production};
use crate::generation::{Generations, Phase};
use crate::group::after;
use crate::ports::{Fault, Index, Ports, State, Time};

/// The pause before a step is tried again.
const RETRY_INTERVAL: Duration = Duration::from_secs(5);

/// The time after which another fault counts as that of another outage.
const OUTAGE_GAP: Duration = Duration::from_mins(30);

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

/// Resumes a rebuild that an operator has paused, with the next order. Returns false if no rebuild is
/// paused or under way.
///
/// Fails without a change if the order that follows would be refused.
pub async fn resume_rebuild(system: &'static System, engines: &Engines, order: Rebuild) -> Result<bool, Fault> {
    let state = DynamoState::new(engines, system);
    loop {
        match state.generations().await? {
            Some(config) if config.rebuild_paused => {
                let resumed = Generations { rebuild_paused: false, ..config.next() };
                resumed.step(order, order.begins).map_err(|reason| Fault::lasting("mirror", reason))?;
                if state.publish(&resumed).await? {
                    return Ok(true);
                }
            }
            config => return Ok(config.is_some_and(|config| config.is_rebuilding())),
        }
    }
}

/// Returns what an order with this goal would end, without carrying it out. Fails if the goal cannot be reached.
pub async fn preview_rebuild(system: &'static System, engines: &Engines, goal: Goal) -> Result<Preview, Fault> {
    let config = DynamoState::new(engines, system).generations().await?.unwrap_or_default();
    config.preview(Rebuild { goal, ..Rebuild::WITHOUT_WAIT }).map_err(refused)
}

/// Stops writing every index, so that the next order creates one from the tables.
pub async fn abandon_indexes(system: &'static System, engines: &Engines) -> Result<(), Fault> {
    abandon(&DynamoState::new(engines, system)).await
}

pub(crate) async fn abandon(state: &impl State) -> Result<(), Fault> {
    while let Some(config) = state.generations().await?.filter(|config| !config.written.is_empty()) {
        let Generations { alias, last, mut dropping, written, .. } = config.clone();
        dropping.extend(written.into_iter().map(|generation| generation.index));
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
        let paused = Generations { rebuild_paused: true, ..config.next() };
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
    // Another command may have cancelled the rebuild between two steps. This one begins no other, and the next one finds
    // what is to be done.
    if course.index.as_ref().is_some_and(|index| !config.has(index)) {
        return Err(Fault::lasting("mirror", "the rebuild was cancelled"));
    }
    let Some(mut step) = config.step(order, course.begins).map_err(refused)? else {
        return Ok(Decided::Reached(config));
    };
    let resumes_drop = step == Step::Drop && config.replaces && order.replaces && course.begins;
    if resumes_drop && is_serving_lost(ports, &config).await? {
        step = Step::Begin;
    }
    if order.goal == Goal::Serve && matches!(step, Step::AwaitBatches | Step::Fill | Step::Swap) {
        course.index = config.unfinished().map(|generation| generation.index.clone());
    }
    if step == Step::Begin && !order.replaces {
        check_mappings(&config, documents)?;
    }
    Ok(Decided::Step(step, config))
}

/// Whether the index that serves does not exist any more.
async fn is_serving_lost<P: Ports>(ports: &P, config: &Generations) -> Result<bool, Fault> {
    match config.of(Phase::Serving) {
        Some(serving) => Ok(!ports.index().exists(&serving.index).await?),
        None => Ok(true),
    }
}

/// Checks that the code writes each index that is written beside the new one.
fn check_mappings(config: &Generations, documents: &impl Documents) -> Result<(), Fault> {
    config.written.iter().try_for_each(|generation| {
        let checked = generation.check_mapping(documents);
        checked
            .map_err(|reason| refused(format_args!("{reason}. This code cannot write it until then: add `--replace`")))
    })
}
