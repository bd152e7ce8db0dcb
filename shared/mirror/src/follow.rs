//! What follows from an answer: settling and stamping.

use std::borrow::Cow;

use futures::StreamExt;
use futures::stream;

use crate::batch::{Batch, brief};
use crate::build::{Content, Write};
use crate::context::Context;
use crate::documents::Documents;
use crate::fold::Presence;
use crate::group::Group;
use crate::item::{Item, presence, rev_value};
use crate::lines::Versioning;
use crate::ports::{Fault, Index, Items, Ports, Time};
use crate::quarantine::{Code, Poison};
use crate::repair::RepairOutcome;
use crate::report::Outcome;
use crate::rules::Rules;
use crate::settle::Settlement;
use crate::stamp::stamp;
use crate::tasks::{Finished, Poisoned, Settle, Stamp};

/// How many items are read or stamped at once.
pub(crate) const AT_ONCE: usize = 8;

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
        let mut open: Vec<_> = settles.iter().copied().zip(versions).collect();
        open.retain(|(settle, version)| !self.settled_by_version(*settle, *version));
        let (context, groups) = (&self.context, &self.groups);
        let reads: Vec<_> = open.iter().map(|(settle, _)| read(context, groups, settle.group)).collect();
        let items: Vec<_> = stream::iter(reads).buffered(AT_ONCE).collect().await;
        for ((settle, version), item) in open.into_iter().zip(items) {
            match item {
                Ok(item) => self.settled::<R>(settle, version, item),
                Err(fault) if self.again(&fault) => self.tasks.settles.push(settle),
                Err(fault) => self.fail(settle.group, &fault),
            }
        }
    }

    /// Whether the document's version alone decides, so that the item need not be read.
    fn settled_by_version(&mut self, settle: Settle, version: Option<u64>) -> bool {
        let Settle { group, target, own, hides, .. } = settle;
        let Some(version) = version else { return false };
        if own == Some(version) {
            match hides {
                Some(_) => self.close(group),
                None => self.finish(settle, Some(version)),
            }
            return true;
        }
        if hides == Some(version) {
            let tombstone = Write::tombstone(group, target, version, Versioning::ExternalGte);
            self.tasks.writes.push_back(Write { hides, ..tombstone });
            return true;
        }
        false
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
        self.repaired(group, || RepairOutcome::from(settlement));
        match settlement {
            // Neither is there, as the refused write would have it.
            Settlement::Done => self.finish(settle, version.or(settle.own)),
            Settlement::Tombstone(version) => {
                self.tasks.writes.push_back(Write::tombstone(group, target, version, Versioning::ExternalGte));
            }
            Settlement::Index(version) => {
                let item = item.map(Item::into_string).unwrap_or_default();
                let content = Content::Item(Cow::Owned(item), versioning);
                self.tasks.writes.push_back(Write::index(group, target, version, content));
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
                Ok(Given::Asked { changed }) => {
                    self.note(task.group, Outcome::Stamped);
                    if !changed {
                        self.repaired(task.group, || RepairOutcome::Overtaken);
                    }
                    if task.settle {
                        self.open_settles(task.group);
                    }
                    self.close(task.group);
                }
                Ok(Given::Poison(poison)) => {
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

    /// Has a document brought to its item.
    pub(crate) fn repair(&mut self, settle: Settle) {
        self.tasks.settles.push(settle);
        self.reopen(settle.group, 1);
    }

    pub(crate) fn open_settles(&mut self, group: usize) {
        let targets = self.context.targets.len();
        self.tasks.settles.extend((0..targets).map(|target| Settle {
            group,
            target,
            own: None,
            repair: false,
            hides: None,
        }));
        self.reopen(group, targets);
    }

    /// Notes what a repair has come to; of a batch nothing is noted.
    pub(crate) fn repaired(&mut self, group: usize, outcome: impl FnOnce() -> RepairOutcome) {
        if let Some(Group { repaired: Some(repaired), .. }) = self.groups.get_mut(group) {
            *repaired = outcome();
        }
    }

    fn reopen(&mut self, group: usize, tasks: usize) {
        if let Some(group) = self.groups.get_mut(group) {
            group.open += tasks;
        }
    }
}

/// What came of asking for a stamp.
enum Given {
    /// The stamp was sent. `changed` says whether it was written, or the item had changed before.
    Asked { changed: bool },
    /// No revision can be given.
    Poison(Poison),
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
    let poison = |rev, code, reason: &str| {
        let (reason, evidence) = (brief(reason).to_owned(), group.evidence.clone().into_owned());
        Given::Poison(Poison { rev, code, reason, evidence, of_content: false })
    };
    let Some(rev) = stamp(context.ports.time().micros(), old, task.above) else {
        let rev = (task.above.max(old.map(|old| old.number())).unwrap_or_default() | 1).saturating_add(1);
        return Ok(poison(rev, Code::RevisionsExhausted, "no valid revision is left above what was seen"));
    };
    match context.ports.items().stamp(table, key, seen, rev).await {
        Ok(changed) => Ok(Given::Asked { changed }),
        // At the revision that it should have: above every state that was seen.
        Err(fault) if fault.poison => {
            Ok(poison(rev.number(), Code::Unfit, &format!("no revision can be set: {fault}")))
        }
        Err(fault) => Err(fault),
    }
}

pub(crate) fn no_item() -> Fault {
    Fault::lasting("mirror", "the group has no item")
}
