//! What follows from an answer: settling, stamping, quarantining, and clearing markers.

use std::borrow::Cow;

use futures::StreamExt;
use futures::stream;

use crate::batch::Batch;
use crate::build::{Content, Write};
use crate::context::Context;
use crate::documents::Documents;
use crate::fold::Presence;
use crate::group::{Group, Whose};
use crate::item::{Item, presence, rev_value};
use crate::lines::Versioning;
use crate::ports::{Fault, Index, Items, Ports, Quarantine, State, Time};
use crate::quarantine::{Code, Marker, Poison};
use crate::report::Outcome;
use crate::rules::Rules;
use crate::settle::Settlement;
use crate::stamp::stamp;
use crate::tasks::{Finished, Poisoned, Settle, Stamp, ask_fold};

/// How many items are read or stamped at once.
const AT_ONCE: usize = 8;

/// How many documents' versions are read by one request.
const VERSIONS: usize = 500;

/// A key that others keep changing is reported after as many rounds.
const ROUNDS: usize = 10;

impl<'a, P: Ports, D: Documents> Batch<'_, 'a, P, D> {
    /// Reads the documents' versions, then the items, and writes or stamps what is missing.
    pub(crate) async fn settle<R: Rules>(&mut self) {
        let mut settles = std::mem::take(&mut self.tasks.settles);
        settles.sort_by_key(|settle| settle.target);
        for of_target in settles.chunk_by(|one, other| one.target == other.target) {
            for some in of_target.chunks(VERSIONS) {
                match versions(&self.context, &self.groups, some).await {
                    Err(fault) if self.again(&fault) => self.tasks.settles.extend(some.iter().copied()),
                    Err(fault) => some.iter().for_each(|settle| self.fail(settle.group, &fault)),
                    Ok(versions) => self.settle_at::<R>(some, versions).await,
                }
            }
        }
    }

    /// The items are read after the versions: never the other way round.
    async fn settle_at<R: Rules>(&mut self, settles: &[Settle], versions: Vec<Option<u64>>) {
        let (context, groups) = (&self.context, &self.groups);
        let reads: Vec<_> = settles.iter().map(|settle| read(context, groups, settle.group)).collect();
        let items: Vec<_> = stream::iter(reads).buffered(AT_ONCE).collect().await;
        for ((settle, version), item) in settles.iter().zip(versions).zip(items) {
            match item {
                Ok(_) if version.is_some() && version == settle.own => self.finish(*settle, version),
                Ok(item) => self.settled::<R>(*settle, version, item),
                Err(fault) if self.again(&fault) => self.tasks.settles.push(*settle),
                Err(fault) => self.fail(settle.group, &fault),
            }
        }
    }

    fn settled<R: Rules>(&mut self, settle: Settle, version: Option<u64>, item: Option<Item>) {
        let Settle { group, target, .. } = settle;
        let seen = item.as_ref().and_then(|item| rev_value(item.as_str())).map(str::to_owned);
        let present = if item.is_some() { presence(seen.as_deref()) } else { Presence::Absent };
        let rounds = self.groups.get_mut(group).map(|group| {
            group.rounds += 1;
            group.rounds
        });
        if rounds.is_none_or(|rounds| rounds > ROUNDS * self.context.targets.len()) {
            return self.fail(group, &"the key would not settle");
        }
        let (settlement, versioning) = if settle.repair {
            (R::repair(version, present), Versioning::ExternalGte)
        } else {
            (R::settle(version, present), Versioning::External)
        };
        if let Some(group) = self.groups.get_mut(group).filter(|_| settle.repair) {
            group.repaired = Some(settlement);
        }
        match settlement {
            Settlement::Done => self.finish(settle, version),
            Settlement::Tombstone(version) => {
                self.tasks.writes.push_back(Write::tombstone(group, target, version, Versioning::ExternalGte));
            }
            Settlement::Index(version) => {
                let item = item.map(Item::into_string).unwrap_or_default();
                let content = Content::Item(Cow::Owned(item), versioning);
                self.tasks.writes.push_back(Write { group, target, version, content, rungs: Vec::new() });
            }
            Settlement::Stamp { above } => {
                self.tasks.stamps.push(Stamp { group, seen: seen.map(Cow::Owned), above, settle: false });
            }
        }
    }

    fn finish(&mut self, settle: Settle, version: Option<u64>) {
        let Settle { group, target, .. } = settle;
        self.tasks.finished.push(Finished { group, target, version: version.unwrap_or_default() });
    }

    /// Gives items a revision. A refused stamp is fine: whoever changed the item has a record of their own.
    pub(crate) async fn stamp(&mut self) {
        let stamps = std::mem::take(&mut self.tasks.stamps);
        let (context, groups) = (&self.context, &self.groups);
        let asked: Vec<_> = stamps.iter().map(|task| give_revision(context, groups, task)).collect();
        let answers: Vec<_> = stream::iter(asked).buffered(AT_ONCE).collect().await;
        for (task, answer) in stamps.into_iter().zip(answers) {
            match answer {
                Ok(Given::Asked) => {
                    self.note(task.group, Outcome::Stamped);
                    if task.settle {
                        self.open_settles(task.group);
                    }
                    self.close(task.group);
                }
                Ok(Given::Exhausted(poison)) => {
                    let targets = self.context.targets.len();
                    let poisoned = |target| Poisoned { group: task.group, target, poison: poison.clone() };
                    self.tasks.poisoned.extend((0..targets).map(poisoned));
                    self.reopen(task.group, targets);
                    self.close(task.group);
                }
                Err(fault) if self.again(&fault) => self.tasks.stamps.push(task),
                Err(fault) => self.fail(task.group, &fault),
            }
        }
    }

    /// Keeps the record with its reason, then marks its subject, then hides every older state.
    pub(crate) async fn quarantine<R: Rules>(&mut self) {
        for task in std::mem::take(&mut self.tasks.poisoned) {
            match keep_and_mark(&self.context, &self.groups, &task).await {
                Ok(()) => {
                    self.note(task.group, Outcome::Quarantined);
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
                let version = poison.rev.saturating_sub(1);
                self.tasks.writes.push_back(Write::tombstone(at, target, version, Versioning::External));
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

    /// Has a document brought to its item.
    pub(crate) fn repair(&mut self, settle: Settle) {
        self.tasks.settles.push(settle);
        self.reopen(settle.group, 1);
    }

    pub(crate) fn open_settles(&mut self, group: usize) {
        let targets = self.context.targets.len();
        self.tasks.settles.extend((0..targets).map(|target| Settle { group, target, own: None, repair: false }));
        self.reopen(group, targets);
    }

    fn reopen(&mut self, group: usize, tasks: usize) {
        if let Some(group) = self.groups.get_mut(group) {
            group.open += tasks;
        }
    }
}

/// What came of asking for a stamp.
enum Given {
    /// The item has a new revision, or has been changed by somebody else.
    Asked,
    Exhausted(Poison),
}

async fn versions<P: Ports, D: Documents>(
    context: &Context<'_, P, D>,
    groups: &[Group<'_>],
    settles: &[Settle],
) -> Result<Vec<Option<u64>>, Fault> {
    context.fresh()?;
    let identity = |settle: &Settle| groups.get(settle.group).and_then(Group::identity);
    let ids: Vec<&str> = settles.iter().filter_map(identity).map(|identity| &*identity.id).collect();
    let alias = settles.first().and_then(|settle| context.targets.get(settle.target)).map(|target| &*target.alias);
    let versions = context.ports.index().versions(alias.unwrap_or_default(), &ids).await?;
    if versions.len() == settles.len() {
        Ok(versions)
    } else {
        Err(Fault::lasting("search", "not one version for each document"))
    }
}

async fn read<P: Ports, D: Documents>(
    context: &Context<'_, P, D>,
    groups: &[Group<'_>],
    group: usize,
) -> Result<Option<Item>, Fault> {
    let (table, key) = groups.get(group).and_then(Group::item).ok_or_else(no_item)?;
    context.ports.items().read(table, key).await
}

async fn give_revision<P: Ports, D: Documents>(
    context: &Context<'_, P, D>,
    groups: &[Group<'_>],
    task: &Stamp<'_>,
) -> Result<Given, Fault> {
    context.fresh()?;
    let group = groups.get(task.group).ok_or_else(no_item)?;
    let (table, key) = group.item().ok_or_else(no_item)?;
    let seen = task.seen.as_deref();
    let old = match presence(seen) {
        Presence::At(rev) => Some(rev),
        Presence::Absent | Presence::Unrevised => None,
    };
    match stamp(context.ports.time().micros(), old, task.above) {
        Some(rev) => context.ports.items().stamp(table, key, seen, rev).await.map(|_| Given::Asked),
        None => Ok(Given::Exhausted(Poison {
            rev: (task.above.max(old.map(|old| old.number())).unwrap_or_default() | 1).saturating_add(1),
            code: Code::RevisionsExhausted,
            reason: "no valid revision is left above what was seen".to_owned(),
            evidence: group.evidence.clone().into_owned(),
        })),
    }
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

async fn clear<P: Ports, D: Documents>(
    context: &Context<'_, P, D>,
    groups: &[Group<'_>],
    finished: &[Finished],
) -> Result<(), Fault> {
    let Some(target) = finished.first().and_then(|finished| context.targets.get(finished.target)) else {
        return Ok(());
    };
    let state = context.ports.state();
    let open = state.open(&target.index).await?;
    if open.is_empty() {
        return Ok(());
    }
    for finished in finished {
        let Some(group) = groups.get(finished.group) else { continue };
        let name = group.subject().name();
        if open.get(&name).is_some_and(|rev| *rev <= finished.version) {
            state.clear(&target.index, &name, finished.version).await?;
        }
    }
    Ok(())
}

fn no_item() -> Fault {
    Fault::lasting("mirror", "the group has no item")
}
