//! What a batch tells Lambda, and the ledger that shows that nothing was lost.

use crate::quarantine::Code;
use crate::settle::Resolution;

/// The places, in the batch, of the first and the last record of a group that was not handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unhandled {
    pub first: usize,
    pub last: usize,
}

/// What became of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// Its document, or tombstone, was written.
    Applied,
    /// The index had a higher version, or a later record of the batch says more.
    Superseded,
    /// Its item was given a revision, whose own record does the indexing.
    Stamped,
    Quarantined,
}

/// What a repair has done to a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RepairOutcome {
    /// The document was written at this revision of its item.
    Written(u64),
    /// The item is not to be found in its present state: a tombstone was written at its revision.
    Hidden(u64),
    /// The item is gone: a tombstone was written at this version.
    Deleted(u64),
    /// The item was given a revision above its document, whose own stream record brings the document.
    Stamped,
    /// The item was changed meanwhile: the stream record of that change brings the document.
    Overtaken,
    /// The document cannot be written.
    Quarantined { code: Code, reason: String },
    /// The document is what its item says already, or there is neither.
    Nothing,
}

impl From<Resolution> for RepairOutcome {
    fn from(settlement: Resolution) -> Self {
        match settlement {
            Resolution::Index(version) => Self::Written(version),
            Resolution::Done => Self::Nothing,
            Resolution::Stamp { .. } => Self::Stamped,
            Resolution::Tombstone(version) => Self::Deleted(version),
        }
    }
}

impl RepairOutcome {
    /// What is written of the item is a tombstone.
    pub(crate) fn hide(&mut self) {
        if let Self::Written(version) = *self {
            *self = Self::Hidden(version);
        }
    }
}

/// Every record of a batch, counted once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    pub records: usize,
    pub applied: usize,
    pub superseded: usize,
    pub stamped: usize,
    pub quarantined: usize,
    /// Of keys that are never searchable.
    pub ignored: usize,
    /// From the checkpoint on: they come again.
    pub reported: usize,
}

/// Where the batch has to begin again: at the first record of the first group that was not handled.
pub fn report(unhandled: impl Iterator<Item = Unhandled>) -> Option<usize> {
    unhandled.map(|group| group.first).min()
}

/// Lambda's answer: `{"batchItemFailures":[{"itemIdentifier":"{sequence number}"}]}`, or none of them.
pub(crate) fn answer(sequence: Option<&str>) -> String {
    match sequence {
        // Sequence numbers are digits.
        Some(sequence) => format!(r#"{{"batchItemFailures":[{{"itemIdentifier":"{sequence}"}}]}}"#),
        None => r#"{"batchItemFailures":[]}"#.to_owned(),
    }
}

impl Ledger {
    pub(crate) fn count(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Applied => self.applied += 1,
            Outcome::Superseded => self.superseded += 1,
            Outcome::Stamped => self.stamped += 1,
            Outcome::Quarantined => self.quarantined += 1,
        }
    }

    /// Whether every record is in exactly one class. If not, one was passed over: a fault of ours.
    pub fn adds_up(&self) -> bool {
        let classes = self.applied + self.superseded + self.stamped + self.quarantined + self.ignored + self.reported;
        classes == self.records
    }
}
