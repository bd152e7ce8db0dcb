//! What is to be done for the groups of a batch, and what each group asks for at first.

use std::borrow::Cow;
use std::collections::VecDeque;

use crate::build::{Content, Write};
use crate::fold::Decision;
use crate::group::{Group, Whose};
use crate::lines::Versioning;
use crate::quarantine::{Code, Poison};
use crate::rules::Rules;

#[derive(Debug, Default)]
pub(crate) struct Tasks<'a> {
    pub(crate) writes: VecDeque<Write<'a>>,
    pub(crate) settles: Vec<Settle>,
    pub(crate) stamps: Vec<Stamp<'a>>,
    /// Writes whose shape S3 refuses, with what it says.
    pub(crate) refused: Vec<(Write<'a>, String)>,
    pub(crate) poisoned: Vec<Poisoned>,
    pub(crate) finished: Vec<Finished>,
}

/// The document's version and the item are to be read, and decide.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settle {
    pub(crate) group: usize,
    pub(crate) target: usize,
    /// The version that was refused: if it is the document's, it was written already.
    pub(crate) own: Option<u64>,
    /// Whether the document is brought to the item even where their versions are equal.
    pub(crate) repair: bool,
    /// The revision of the poison whose tombstone was refused. A document at that very revision is hidden.
    pub(crate) hides: Option<u64>,
}

/// The item is to be given a revision, if it still has the one that was seen.
#[derive(Debug)]
pub(crate) struct Stamp<'a> {
    pub(crate) group: usize,
    /// The value of `rev` as it was read, in DynamoDB JSON.
    pub(crate) seen: Option<Cow<'a, str>>,
    pub(crate) above: Option<u64>,
    /// Whether every generation is settled afterwards. If not, the stamp's own stream record does the indexing.
    pub(crate) settle: bool,
}

#[derive(Debug)]
pub(crate) struct Poisoned {
    pub(crate) group: usize,
    pub(crate) target: usize,
    pub(crate) poison: Poison,
}

/// The generation has this version of the key, or a higher one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finished {
    pub(crate) group: usize,
    pub(crate) target: usize,
    pub(crate) version: u64,
}

impl Tasks<'_> {
    pub(crate) fn is_empty(&self) -> bool {
        self.writes.is_empty()
            && self.settles.is_empty()
            && self.stamps.is_empty()
            && self.refused.is_empty()
            && self.poisoned.is_empty()
            && self.finished.is_empty()
    }
}

/// Adds what a group asks for in one generation, and returns how many tasks that is.
pub(crate) fn ask<'a, R: Rules>(tasks: &mut Tasks<'a>, group: &Group<'a>, at: usize, target: usize) -> usize {
    if let Some(poison) = poison_of(group) {
        tasks.poisoned.push(Poisoned { group: at, target, poison });
        return 1;
    }
    ask_fold::<R>(tasks, group, at, target)
}

/// The same for what its images say, understood or not: by them alone nothing stale stays visible.
pub(crate) fn ask_fold<'a, R: Rules>(tasks: &mut Tasks<'a>, group: &Group<'a>, at: usize, target: usize) -> usize {
    let Some(fold) = group.fold else { return 0 };
    let tombstone = |version| Write::tombstone(at, target, version, Versioning::External);
    // One for all generations.
    let mut stamp = |above| {
        let seen = group.image.and_then(|image| image.rev).map(Cow::Borrowed);
        tasks.stamps.extend((target == 0).then_some(Stamp { group: at, seen, above, settle: group.scanned }));
        usize::from(target == 0)
    };
    match R::decide(fold) {
        Decision::Index(version) => {
            let item = Cow::Borrowed(group.image.map(|image| image.text).unwrap_or_default());
            tasks.writes.push_back(Write::index(at, target, version, Content::Item(item, Versioning::External)));
            1
        }
        Decision::Tombstone(version) => {
            tasks.writes.push_back(tombstone(version));
            1
        }
        Decision::Stamp { above } => stamp(above),
        Decision::TombstoneAndStamp { version, above } => {
            let stamps = stamp(Some(above));
            tasks.writes.push_back(tombstone(version));
            stamps + 1
        }
        Decision::Settle => {
            tasks.settles.push(Settle { group: at, target, own: None, repair: false, hides: None });
            1
        }
    }
}

/// Why a group cannot be followed at all.
fn poison_of(group: &Group<'_>) -> Option<Poison> {
    let (code, reason) = match (&group.whose, group.strange) {
        (Whose::Unplaced { .. }, _) => (Code::UnknownKey, "the key fits no template of its table".to_owned()),
        (Whose::Record | Whose::Item { .. }, Some(strange)) => (Code::UnknownRecord, strange.to_string()),
        (Whose::Item { identity, .. }, None) => (Code::KeyTooLong, identity.key.check_length().err()?.to_string()),
        (Whose::Record, None) => return None,
    };
    Some(Poison { rev: group.highest(), code, reason, evidence: group.evidence.clone().into_owned(), of_content: true })
}
