//! Putting groups into quarantine: keeping the record, marking its subject, hiding older states; and clearing markers.

use std::collections::HashMap;

use futures::StreamExt;
use futures::stream;

use crate::batch::Batch;
use crate::build::Write;
use crate::context::Context;
use crate::documents::Documents;
use crate::follow::{AT_ONCE, no_item};
use crate::group::{Group, Whose};
use crate::lines::Versioning;
use crate::ports::{Fault, Ports, Quarantine, State, Time};
use crate::quarantine::{Code, Marker};
use crate::repair::RepairOutcome;
use crate::report::Outcome;
use crate::rules::Rules;
use crate::tasks::{Finished, Poisoned, ask_fold};

impl<'a, P: Ports, D: Documents> Batch<'_, 'a, P, D> {
    /// Decides what a refused shape means. It is poison once its record has waited long enough, or where its item is in
    /// quarantine already: nobody waits for it twice. Else its record is reported.
    pub(crate) async fn weigh_refusals(&mut self) {
        let mut refused = std::mem::take(&mut self.tasks.refused);
        refused.sort_by_key(|(write, _)| write.target);
        for of_target in refused.chunk_by(|one, other| one.0.target == other.0.target) {
            let open = open_of(&self.context, &self.groups, of_target).await;
            for (write, reason) in of_target {
                let now = self.context.ports.time().micros();
                let Some(group) = self.groups.get(write.group) else { continue };
                let lasts = group.refusable_until.is_some_and(|until| until <= now);
                match &open {
                    Ok(open) if lasts || open.contains_key(&group.subject().name()) => {
                        self.poison(write, Code::Unfit, reason, true);
                    }
                    Ok(_) => {
                        self.tally.refused = true;
                        self.fail(write.group, reason);
                    }
                    Err(fault) => self.fail(write.group, fault),
                }
            }
        }
    }

    /// Keeps each record with its reason, then marks its subject, then hides every older state.
    pub(crate) async fn quarantine<R: Rules>(&mut self) {
        let tasks = std::mem::take(&mut self.tasks.poisoned);
        let (context, groups) = (&self.context, &self.groups);
        let requests: Vec<_> = tasks.iter().map(|task| keep_and_mark(context, groups, task)).collect();
        let answers: Vec<_> = stream::iter(requests).buffered(AT_ONCE).collect().await;
        for (task, answer) in tasks.into_iter().zip(answers) {
            match answer {
                Ok(()) => {
                    self.note(task.group, Outcome::Quarantined);
                    let (code, reason) = (task.poison.code, &task.poison.reason);
                    self.repaired(task.group, || RepairOutcome::Quarantined { code, reason: reason.clone() });
                    self.hide::<R>(&task);
                    self.close(task.group);
                }
                Err(fault) if self.again(&fault) => self.tasks.poisoned.push(task),
                Err(fault) => self.fail(task.group, &fault),
            }
        }
    }

    fn hide<R: Rules>(&mut self, task: &Poisoned) {
        let Poisoned { group: at, target, ref poison } = *task;
        let Some(group) = self.groups.get_mut(at) else { return };
        match (&group.whose, poison.code) {
            // It has no document, and can have none.
            (Whose::Unplaced { .. } | Whose::Record, _) | (_, Code::KeyTooLong) => {}
            (Whose::Item { .. }, Code::UnknownRecord) => {
                group.open += ask_fold::<R>(&mut self.tasks, group, at, target);
            }
            // Above every older state, and below the cured one.
            (Whose::Item { .. }, _) => {
                let tombstone = Write::tombstone(at, target, poison.rev.saturating_sub(1), Versioning::External);
                let hides = poison.of_content.then_some(poison.rev);
                self.tasks.writes.push_back(Write { hides, ..tombstone });
                group.open += 1;
            }
        }
    }

    /// Clears markers that a version at or above theirs has overtaken, each in its generation only.
    pub(crate) async fn clear(&mut self) {
        let mut finished = std::mem::take(&mut self.tasks.finished);
        finished.sort_by_key(|finished| finished.target);
        for of_target in finished.chunk_by(|one, other| one.target == other.target) {
            match clear(&self.context, &self.groups, of_target).await {
                Ok(()) => of_target.iter().for_each(|finished| self.close(finished.group)),
                Err(fault) if self.again(&fault) => self.tasks.finished.extend(of_target.iter().copied()),
                Err(fault) => of_target.iter().for_each(|finished| self.fail(finished.group, &fault)),
            }
        }
    }
}

/// The open markers of these writes' items, all of one generation.
async fn open_of<P: Ports, D: Documents>(
    context: &Context<'_, P, D>,
    groups: &[Group<'_>],
    writes: &[(Write<'_>, String)],
) -> Result<HashMap<String, u64>, Fault> {
    let target = writes.first().and_then(|(write, _)| context.targets.get(write.target)).ok_or_else(no_item)?;
    let name = |(write, _): &(Write<'_>, String)| Some(groups.get(write.group)?.subject().name());
    let mut names: Vec<String> = writes.iter().filter_map(name).collect();
    names.sort_unstable();
    names.dedup();
    context.ports.state().open(&target.index, &names).await
}

async fn keep_and_mark<P: Ports, D: Documents>(
    context: &Context<'_, P, D>,
    groups: &[Group<'_>],
    task: &Poisoned,
) -> Result<(), Fault> {
    context.fresh()?;
    let Poisoned { group, target, poison } = task;
    let (Some(group), Some(target)) = (groups.get(*group), context.targets.get(*target)) else {
        return Err(no_item());
    };
    let subject = group.subject();
    let object = poison.object(&target.index);
    context.ports.quarantine().keep(&object, poison.body(&target.index, &subject)).await?;
    let since = context.ports.time().micros();
    let marker = Marker { subject, rev: poison.rev, code: poison.code, reason: poison.reason.clone(), object, since };
    context.ports.state().mark(&target.index, &marker).await
}

/// Looks up the markers of these groups and no others: a batch must not get slower with what else is in quarantine.
async fn clear<P: Ports, D: Documents>(
    context: &Context<'_, P, D>,
    groups: &[Group<'_>],
    finished: &[Finished],
) -> Result<(), Fault> {
    let Some(target) = finished.first().and_then(|finished| context.targets.get(finished.target)) else {
        return Ok(());
    };
    let state = context.ports.state();
    let version = |finished: &Finished| Some((groups.get(finished.group)?.subject().name(), finished.version));
    let mut written: Vec<(String, u64)> = finished.iter().filter_map(version).collect();
    // Of several versions of a key the highest counts.
    written.sort_unstable_by(|one, other| other.cmp(one));
    written.dedup_by(|one, other| one.0 == other.0);
    let names: Vec<String> = written.iter().map(|(name, _)| name.clone()).collect();
    let open = state.open(&target.index, &names).await?;
    written.retain(|(name, version)| open.get(name).is_some_and(|rev| rev <= version));
    let clears: Vec<_> = written.iter().map(|(name, version)| state.clear(&target.index, name, *version)).collect();
    let cleared: Vec<_> = stream::iter(clears).buffered(AT_ONCE).collect().await;
    cleared.into_iter().collect()
}
