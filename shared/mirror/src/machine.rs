//! The state machine of a group: the tasks that it starts with, and the tasks that follow from the result of each. It
//! does no IO. The batch carries out the tasks.

use std::borrow::Cow;

use table::never;

use crate::fold::{Decision, Presence, decide};
use crate::generation::{TargetId, Targets};
use crate::group::{Group, GroupKey};
use crate::item::{Item, presence, rev_value};
use crate::lines::Versioning;
use crate::quarantine::{Code, Poison};
use crate::report::{Outcome, RepairOutcome};
use crate::settle::{self, Resolution};
use crate::task::{Blame, Clear, Compare, Content, Event, Quarantine, Refused, Settle, Stamp, Task, Write};

/// How often a key is settled in each generation before its records are reported. Only a key that changes all the time
/// needs so many rounds.
const MAX_ROUNDS: usize = 10;

/// OpenSearch remembers the version of a deleted document for `index.gc_deletes`, a minute by default.
const UNSETTLED: &str = "the key did not settle: it keeps changing, or OpenSearch still remembers a deleted document; \
                         try again in a minute";

impl<'a> Group<'a> {
    /// Starts the group in one generation.
    pub(crate) fn start(&mut self, target: TargetId, targets: &Targets) -> Vec<Task<'a>> {
        let tasks = match self.initial_poison() {
            Some(_) if self.was_removed() => {
                self.outcome = Outcome::Ignored;
                self.clear(target, self.highest())
            }
            Some(poison) => self.quarantine(target, poison),
            None => self.process_images(target, targets),
        };
        self.open += tasks.len();
        tasks
    }

    /// Starts a repair in one generation. The item of a key that cannot have a document goes to quarantine instead.
    pub(crate) fn start_repair(&mut self, target: TargetId) -> Vec<Task<'a>> {
        let tasks = match self.initial_poison() {
            Some(poison) if self.item().is_some() => {
                vec![Task::Examine(Quarantine { group: self.id, target, poison })]
            }
            Some(poison) => self.quarantine(target, poison),
            None => vec![Task::Settle(Settle { repair: true, ..Settle::new(self.id, target) })],
        };
        self.open += tasks.len();
        tasks
    }

    /// Ends a task. Returns the tasks that follow.
    pub(crate) fn on(&mut self, event: Event<'a>, targets: &Targets) -> Vec<Task<'a>> {
        let Some(open) = self.open.checked_sub(1) else {
            never!("a task has ended of a group without open tasks: {event:?}");
            self.fail("more tasks have ended than were started");
            return Vec::new();
        };
        let tasks = match event {
            Event::Written(write) => self.written(&write),
            Event::Conflict(write) => self.conflict(&write),
            Event::Rejected { write, code, reason, blame } => self.rejected(write, code, reason, blame),
            Event::ShapeRefused { refused, now } => self.shape_refused(refused, now),
            Event::Marker { refused, is_open } => self.marker_found(refused, is_open),
            Event::Version(settle, version) => self.version(settle, version),
            Event::Item(compare, item) => self.item_read(compare, item, targets),
            Event::Stamped { stamp, written } => self.stamped(&stamp, written, targets),
            Event::Unstampable { rev, code, reason } => self.unstampable(rev, code, &reason, targets),
            Event::Examined(quarantine, item) => examined(quarantine, item),
            Event::Quarantined(quarantine) => self.quarantined(&quarantine, targets),
            Event::Cleared => Vec::new(),
            Event::Failed(reason) => self.failed_by(&reason),
        };
        self.open = open + tasks.len();
        tasks
    }

    /// Returns the tasks that the images require. Unknown event names make no difference, so that no stale document
    /// stays visible. A generation that takes no images gets the item instead. It gets every tombstone: one that is above
    /// an item is found when the index is filled, and the item is stamped.
    fn process_images(&self, target: TargetId, targets: &Targets) -> Vec<Task<'a>> {
        let Some(fold) = self.fold else { return Vec::new() };
        let settle = || vec![Task::Settle(Settle::new(self.id, target))];
        let tombstone = |version| Task::Write(Write::tombstone(self.id, target, version, Versioning::External));
        // The item is stamped once, for all generations.
        let stamp = |above| {
            let seen = self.image.and_then(|image| image.rev).map(Cow::Borrowed);
            let stamp = Stamp { group: self.id, seen, above, settle: self.scanned };
            (target == TargetId::FIRST).then_some(Task::Stamp(stamp))
        };
        match (decide(fold), self.image) {
            (Decision::Index(version), Some(image)) if targets[target].takes_images => {
                let content = Content::Item(Cow::Borrowed(image.text), Versioning::External);
                vec![Task::Write(Write::index(self.id, target, version, content))]
            }
            (Decision::Index(_), Some(_)) | (Decision::Settle, _) => settle(),
            (Decision::Index(_), None) => {
                never!("a group without an image has an item to index");
                // The table and the index decide.
                settle()
            }
            (Decision::Tombstone(version), _) => vec![tombstone(version)],
            (Decision::Stamp { above }, _) => stamp(above).into_iter().collect(),
            (Decision::TombstoneAndStamp { version, above }, _) => {
                stamp(Some(above)).into_iter().chain([tombstone(version)]).collect()
            }
        }
    }

    /// Returns the reason why the group goes to quarantine before any of its records is applied, if there is one.
    fn initial_poison(&self) -> Option<Poison> {
        let (code, reason) = match (&self.key, self.record_error) {
            (GroupKey::Unknown { .. }, _) => (Code::UnknownKey, "the key fits no template of its table".to_owned()),
            (GroupKey::Record | GroupKey::Item { .. }, Some(record_error)) => {
                (Code::UnknownRecord, record_error.to_string())
            }
            (GroupKey::Item { identity, .. }, None) => {
                (Code::KeyTooLong, identity.key.check_length().err()?.to_string())
            }
            (GroupKey::Record, None) => return None,
        };
        Some(self.poison_of_evidence(self.highest(), code, reason, true))
    }

    /// Whether its item was deleted and each of its records can be read. If its key can have no document, nothing is left
    /// to put aside.
    fn was_removed(&self) -> bool {
        self.record_error.is_none() && self.fold.is_some_and(|fold| fold.last == Presence::Absent)
    }

    fn written(&mut self, write: &Write<'a>) -> Vec<Task<'a>> {
        match write.hides {
            // The marker is at the revision of the poison, and is kept.
            Some(_) => Vec::new(),
            None => self.clear(write.target, write.version),
        }
    }

    fn conflict(&mut self, write: &Write<'a>) -> Vec<Task<'a>> {
        self.note(Outcome::Superseded);
        let own = Some(write.version);
        vec![Task::Settle(Settle { own, hides: write.hides, ..Settle::new(self.id, write.target) })]
    }

    fn rejected(&mut self, write: Write<'a>, code: Code, reason: String, blame: Blame) -> Vec<Task<'a>> {
        // A document that alone is too large stays so, whichever request has it. For another refusal of a request, the
        // stream record of the item will show whether the document is at fault, and the repair changes nothing.
        if blame == Blame::Request && code != Code::TooLarge && self.repaired.is_some() {
            return self.failed_by(&format!("the bulk request was {reason}"));
        }
        let evidence = match write.content {
            Content::Tombstone(_) => return self.failed_by(&format!("a tombstone was refused: {reason}")),
            Content::Item(Cow::Borrowed(_), _) => self.evidence.clone().into_owned(),
            Content::Item(Cow::Owned(item), _) => item,
        };
        // A repair would have replaced a document at the same revision, which may be wrong and must not stay.
        let of_content = blame == Blame::Content || self.repaired.is_some();
        self.quarantine(write.target, Poison { rev: write.version, code, reason, evidence, of_content })
    }

    /// Handles a shape that S3 refuses. It becomes poison once its deadline has passed.
    fn shape_refused(&mut self, refused: Refused<'a>, now: i64) -> Vec<Task<'a>> {
        if self.refusal_deadline.is_some_and(|until| until <= now) {
            self.rejected(refused.write, Code::Unfit, refused.reason, Blame::Content)
        } else {
            vec![Task::FindMarker(refused)]
        }
    }

    /// Handles the result of a marker's look-up. An item that is in quarantine already does not wait again. Other
    /// records are reported.
    fn marker_found(&mut self, refused: Refused<'a>, is_open: bool) -> Vec<Task<'a>> {
        if is_open {
            self.rejected(refused.write, Code::Unfit, refused.reason, Blame::Content)
        } else {
            self.failed_by(&refused.reason)
        }
    }

    /// Handles the version of a document. If the version alone decides, the item is not read.
    fn version(&mut self, settle: Settle, version: Option<u64>) -> Vec<Task<'a>> {
        let Settle { target, own, hides, .. } = settle;
        match version {
            Some(version) if own == Some(version) => match hides {
                Some(_) => Vec::new(),
                None => self.clear(target, version),
            },
            // Another release, whose code differs, has indexed this revision. If that release cleared the marker, a
            // tombstone at the same revision would hide its valid document without a marker. A stamp gives the item a
            // revision that no document has yet.
            Some(version) if hides == Some(version) => {
                let seen = Some(Cow::Owned(format!(r#"{{"N":"{version}"}}"#)));
                vec![Task::Stamp(Stamp { group: self.id, seen, above: Some(version), settle: false })]
            }
            _ => vec![Task::Compare(Compare { settle, version })],
        }
    }

    fn item_read(&mut self, compare: Compare, item: Option<Item>, targets: &Targets) -> Vec<Task<'a>> {
        let Compare { settle, version } = compare;
        self.rounds += 1;
        if self.rounds > MAX_ROUNDS * targets.ids().count() {
            return self.failed_by(UNSETTLED);
        }
        let seen = item.as_ref().and_then(|item| rev_value(item.as_str())).map(str::to_owned);
        let present = if item.is_some() { presence(seen.as_deref()) } else { Presence::Absent };
        // If the version that refused a write is gone, it was that of a swept tombstone, which OpenSearch remembers for a
        // while. A tombstone must still be written: another invocation that read the item before could index it.
        let version = if item.is_some() { version } else { version.or(settle.own) };
        let (resolution, versioning) = if settle.repair {
            (settle::repair(version, present), Versioning::ExternalGte)
        } else {
            (settle::settle(version, present), Versioning::External)
        };
        self.note_repair(|| RepairOutcome::from(resolution));
        match (resolution, item) {
            // If there is neither an item nor a document, a marker without a revision is obsolete.
            (Resolution::Done, _) => self.clear(settle.target, version.unwrap_or_default()),
            (Resolution::Tombstone(version), _) => {
                vec![Task::Write(Write::tombstone(self.id, settle.target, version, Versioning::ExternalGte))]
            }
            (Resolution::Index(version), Some(item)) => {
                let content = Content::Item(Cow::Owned(item.into_string()), versioning);
                vec![Task::Write(Write::index(self.id, settle.target, version, content))]
            }
            (Resolution::Index(_), None) => {
                never!("an absent item is to be indexed");
                self.failed_by("an absent item cannot be indexed")
            }
            (Resolution::Stamp { above }, _) => {
                vec![Task::Stamp(Stamp { group: self.id, seen: seen.map(Cow::Owned), above, settle: false })]
            }
        }
    }

    /// Handles a stamp. If its condition failed, the item was changed concurrently, and that change has a stream record.
    fn stamped(&mut self, stamp: &Stamp<'a>, written: bool, targets: &Targets) -> Vec<Task<'a>> {
        // The change may have the version of an older document, whose content only a repair replaces.
        let repair = self.repaired.is_some() && !written;
        // The record of the change may have been handled before an unknown record went to quarantine, so that the marker
        // stays. A task that is under way clears it.
        let is_unknown = self.record_error.is_some() && !written && self.open == 1;
        self.note(Outcome::Stamped);
        let settles = targets.ids().filter(|_| repair || stamp.settle || is_unknown);
        settles.map(|target| Task::Settle(Settle { repair, ..Settle::new(self.id, target) })).collect()
    }

    fn unstampable(&mut self, rev: u64, code: Code, reason: &str, targets: &Targets) -> Vec<Task<'a>> {
        let poison = || self.poison_of_evidence(rev, code, reason.to_owned(), false);
        targets.ids().flat_map(|target| self.quarantine(target, poison())).collect()
    }

    fn quarantined(&mut self, quarantine: &Quarantine, targets: &Targets) -> Vec<Task<'a>> {
        let Quarantine { target, poison, .. } = quarantine;
        self.note(Outcome::Quarantined);
        let (code, reason) = (poison.code, &poison.reason);
        self.note_repair(|| RepairOutcome::Quarantined { code, reason: reason.clone() });
        match (&self.key, code) {
            // No document can have such an id.
            (GroupKey::Unknown { .. } | GroupKey::Record, _) | (_, Code::KeyTooLong) => Vec::new(),
            (GroupKey::Item { .. }, Code::UnknownRecord) => self.process_images(*target, targets),
            // The version is above every older state, and below that of a later valid write.
            (GroupKey::Item { .. }, _) => {
                let version = poison.rev.saturating_sub(1);
                let tombstone = Write::tombstone(self.id, *target, version, Versioning::External);
                vec![Task::Write(Write { hides: poison.of_content.then_some(poison.rev), ..tombstone })]
            }
        }
    }

    fn failed_by(&mut self, reason: &str) -> Vec<Task<'a>> {
        self.fail(reason);
        Vec::new()
    }

    fn clear(&self, target: TargetId, upto: u64) -> Vec<Task<'a>> {
        vec![Task::Clear(Clear { group: self.id, target, upto })]
    }

    fn quarantine(&self, target: TargetId, poison: Poison) -> Vec<Task<'a>> {
        vec![Task::Quarantine(Quarantine { group: self.id, target, poison })]
    }

    fn poison_of_evidence(&self, rev: u64, code: Code, reason: String, of_content: bool) -> Poison {
        Poison { rev, code, reason, evidence: self.evidence.clone().into_owned(), of_content }
    }

    fn note(&mut self, outcome: Outcome) {
        self.outcome = self.outcome.max(outcome);
    }

    /// Notes the result of a repair. Has no effect in other batches.
    fn note_repair(&mut self, outcome: impl FnOnce() -> RepairOutcome) {
        if let Some(repaired) = &mut self.repaired {
            *repaired = outcome();
        }
    }
}

/// Handles the item of a key that can have no document. If it does not exist, nothing is left to put aside, and its
/// marker is obsolete.
fn examined<'a>(quarantine: Quarantine, item: Option<Item>) -> Vec<Task<'a>> {
    let Quarantine { group, target, poison } = quarantine;
    let marked = item.map(|item| {
        // As of a record, the revision is 0 if there is no valid one.
        let rev = presence(rev_value(item.as_str())).number().unwrap_or_default();
        let poison = Poison { rev, evidence: item.into_string(), ..poison };
        Task::Quarantine(Quarantine { group, target, poison })
    });
    marked.into_iter().collect()
}

#[cfg(test)]
mod tests;
