//! The tasks of a group, and the events that end them. Each task ends with exactly one event.

use std::borrow::Cow;
use std::collections::VecDeque;

use crate::documents::DetailLevel;
use crate::generation::TargetId;
use crate::group::{GroupId, Groups};
use crate::item::Item;
use crate::lines::Versioning;
use crate::quarantine::{Code, Poison};

/// A step in handling a group. The batch carries it out.
#[derive(Debug, PartialEq)]
pub(crate) enum Task<'a> {
    Write(Write<'a>),
    Settle(Settle),
    Compare(Compare),
    Stamp(Stamp<'a>),
    FindMarker(Refused<'a>),
    /// Reads the item of a key that can have no document. If it exists, it goes to quarantine at its revision.
    Examine(Quarantine),
    Quarantine(Quarantine),
    Clear(Clear),
}

/// One operation on one generation's index.
#[derive(Debug, PartialEq)]
pub(crate) struct Write<'a> {
    pub(crate) group: GroupId,
    pub(crate) target: TargetId,
    pub(crate) version: u64,
    pub(crate) content: Content<'a>,
    /// The detail level of each of its shapes, lowered with each refusal.
    pub(crate) levels: Vec<(&'static str, DetailLevel)>,
    /// The revision of the poison that this tombstone hides. If the document has that revision, the item is stamped.
    pub(crate) hides: Option<u64>,
}

#[derive(Debug, PartialEq)]
pub(crate) enum Content<'a> {
    /// The document that the item in this DynamoDB JSON maps to.
    Item(Cow<'a, str>, Versioning),
    Tombstone(Versioning),
}

/// Reads the version of the document.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Settle {
    pub(crate) group: GroupId,
    pub(crate) target: TargetId,
    /// The version that was refused. If the document has this version, an earlier delivery wrote it.
    pub(crate) own: Option<u64>,
    /// Whether the document is written even if its version equals the item's.
    pub(crate) repair: bool,
    /// The revision of the poison whose tombstone was refused. If the document has that revision, the item is stamped.
    pub(crate) hides: Option<u64>,
}

/// Reads the item and compares it with the version of the document. The version is part of the task, so the item is
/// always read after it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Compare {
    pub(crate) settle: Settle,
    pub(crate) version: Option<u64>,
}

/// Stamps the item, if it still has the revision that was seen.
#[derive(Debug, PartialEq)]
pub(crate) struct Stamp<'a> {
    pub(crate) group: GroupId,
    /// The value of `rev` as it was read, in DynamoDB JSON.
    pub(crate) seen: Option<Cow<'a, str>>,
    pub(crate) above: Option<u64>,
    /// Whether every generation is settled afterwards. If not, the stamp's own stream record does the indexing.
    pub(crate) settle: bool,
}

/// A write whose shape S3 refuses, with the reason. The next step depends on whether the item is in quarantine already.
#[derive(Debug, PartialEq)]
pub(crate) struct Refused<'a> {
    pub(crate) write: Write<'a>,
    pub(crate) reason: String,
}

/// Keeps the record with the reason, then marks the group's subject.
#[derive(Debug, PartialEq)]
pub(crate) struct Quarantine {
    pub(crate) group: GroupId,
    pub(crate) target: TargetId,
    pub(crate) poison: Poison,
}

/// Clears the subject's marker, unless it has a higher revision than this one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Clear {
    pub(crate) group: GroupId,
    pub(crate) target: TargetId,
    pub(crate) upto: u64,
}

/// The end of a task.
#[derive(Debug)]
pub(crate) enum Event<'a> {
    /// OpenSearch has stored the write.
    Written(Write<'a>),
    /// OpenSearch has an equal or a higher version.
    Conflict(Write<'a>),
    /// The document cannot be indexed.
    Rejected { write: Write<'a>, code: Code, reason: String, blame: Blame },
    /// S3 refuses only the shape of this document. `now` is in microseconds since 1970-01-01T00:00:00Z.
    ShapeRefused { refused: Refused<'a>, now: i64 },
    /// The marker of the item was looked up.
    Marker { refused: Refused<'a>, is_open: bool },
    /// The version of the document was read. `None` if there is no document.
    Version(Settle, Option<u64>),
    /// The item was read. `None` if there is no item.
    Item(Compare, Option<Item>),
    /// The stamp was sent. It is not written if the item has changed since it was read.
    Stamped { stamp: Stamp<'a>, written: bool },
    /// The item cannot be stamped, at this revision or at any.
    Unstampable { rev: u64, code: Code, reason: String },
    /// The item of a key that can have no document was read. `None` if there is no item.
    Examined(Quarantine, Option<Item>),
    /// The record is kept and its subject marked.
    Quarantined(Quarantine),
    /// There is no marker at or below the revision any more.
    Cleared,
    /// The task cannot be carried out now.
    Failed(String),
}

/// The cause of a rejection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blame {
    /// The document is at fault. One at its revision in the index is stale.
    Content,
    /// The bulk request of this single write was refused. That proves nothing about a document in the index.
    Request,
}

/// Tasks that wait, by kind.
#[derive(Debug, Default)]
pub(crate) struct Tasks<'a> {
    pub(crate) writes: VecDeque<Write<'a>>,
    /// The writes that follow from other tasks, and those to be sent again. They come before all others, so that a group
    /// whose handling has begun does not wait for the rest of the batch.
    pub(crate) first_writes: Vec<Write<'a>>,
    pub(crate) settles: Vec<Settle>,
    pub(crate) compares: Vec<Compare>,
    pub(crate) stamps: Vec<Stamp<'a>>,
    pub(crate) refused: Vec<Refused<'a>>,
    pub(crate) examines: Vec<Quarantine>,
    pub(crate) quarantines: Vec<Quarantine>,
    pub(crate) clears: Vec<Clear>,
}

impl Task<'_> {
    pub(crate) fn group(&self) -> GroupId {
        match self {
            Self::Write(write) | Self::FindMarker(Refused { write, .. }) => write.group,
            Self::Settle(settle) | Self::Compare(Compare { settle, .. }) => settle.group,
            Self::Stamp(stamp) => stamp.group,
            Self::Examine(quarantine) | Self::Quarantine(quarantine) => quarantine.group,
            Self::Clear(clear) => clear.group,
        }
    }
}

impl<'a> Write<'a> {
    pub(crate) const fn index(group: GroupId, target: TargetId, version: u64, content: Content<'a>) -> Self {
        Self { group, target, version, content, levels: Vec::new(), hides: None }
    }

    pub(crate) const fn tombstone(group: GroupId, target: TargetId, version: u64, versioning: Versioning) -> Self {
        Self::index(group, target, version, Content::Tombstone(versioning))
    }
}

impl Settle {
    pub(crate) const fn new(group: GroupId, target: TargetId) -> Self {
        Self { group, target, own: None, repair: false, hides: None }
    }
}

impl<'a> Tasks<'a> {
    /// Adds a task with which a group starts.
    pub(crate) fn start(&mut self, task: Task<'a>) {
        match task {
            Task::Write(write) => self.writes.push_back(write),
            other => self.push(other),
        }
    }

    /// Adds a task that follows from another one, or that is to be carried out again.
    pub(crate) fn push(&mut self, task: Task<'a>) {
        match task {
            Task::Write(write) => self.first_writes.push(write),
            Task::Settle(settle) => self.settles.push(settle),
            Task::Compare(compare) => self.compares.push(compare),
            Task::Stamp(stamp) => self.stamps.push(stamp),
            Task::FindMarker(refused) => self.refused.push(refused),
            Task::Examine(quarantine) => self.examines.push(quarantine),
            Task::Quarantine(quarantine) => self.quarantines.push(quarantine),
            Task::Clear(clear) => self.clears.push(clear),
        }
    }

    /// Returns the number of tasks that have an item which was read from a table.
    pub(crate) fn items_read(&self, groups: &Groups<'_>) -> usize {
        let refused = self.refused.iter().map(|refused| &refused.write);
        let writes = self.writes.iter().chain(&self.first_writes).chain(refused);
        let to_write = writes.filter(|write| matches!(write.content, Content::Item(Cow::Owned(_), _))).count();
        // The quarantine keeps the item of a group that was settled.
        let to_keep = self.quarantines.iter().filter(|quarantine| groups[quarantine.group].rounds > 0).count();
        to_write + to_keep
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.writes.is_empty()
            && self.first_writes.is_empty()
            && self.settles.is_empty()
            && self.compares.is_empty()
            && self.stamps.is_empty()
            && self.refused.is_empty()
            && self.examines.is_empty()
            && self.quarantines.is_empty()
            && self.clears.is_empty()
    }
}
