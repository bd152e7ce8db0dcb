//! The response of a batch to Lambda, and the ledger that shows that no record was lost.

use crate::quarantine::Code;
use crate::settle::Resolution;

/// The positions in the batch of the first and the last record of a group that was not handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unhandled {
    pub first: usize,
    pub last: usize,
}

/// The outcome of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// Its item was deleted, and its key can have no document.
    Ignored,
    /// Its document or tombstone was written.
    Applied,
    /// The index had a higher version, or a later record of the batch has the same key.
    Superseded,
    /// Its item was stamped, and the stream record of the stamp will index it.
    Stamped,
    Quarantined,
}

/// The outcome of a repair for one document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RepairOutcome {
    /// The document was written at this revision of its item.
    Written(u64),
    /// The item is hidden from search in its present state. A tombstone was written at its revision.
    Hidden(u64),
    /// The item does not exist. A tombstone was written at this version.
    Deleted(u64),
    /// The item was stamped above its document. The stream record of the stamp will index it.
    Stamped,
    /// The document cannot be written.
    Quarantined { code: Code, reason: String },
    /// There was nothing to repair: neither the item nor a document exists.
    Nothing,
}

impl From<Resolution> for RepairOutcome {
    fn from(resolution: Resolution) -> Self {
        match resolution {
            Resolution::Index(version) => Self::Written(version),
            Resolution::Done => Self::Nothing,
            Resolution::Stamp { .. } => Self::Stamped,
            Resolution::Tombstone(version) => Self::Deleted(version),
        }
    }
}

impl RepairOutcome {
    /// Notes that a tombstone is written for the item.
    pub(crate) fn hide(&mut self) {
        if let Self::Written(version) = *self {
            *self = Self::Hidden(version);
        }
    }
}

/// The counts of a batch's records. Every record is counted once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    pub records: usize,
    pub applied: usize,
    pub superseded: usize,
    pub stamped: usize,
    pub quarantined: usize,
    /// Records of keys that are never searchable, and deletes of keys that can have no document.
    pub ignored: usize,
    /// Records from the checkpoint on, which Lambda delivers again.
    pub reported: usize,
}

/// Returns the checkpoint of the batch: the first record of the first group that was not handled.
pub fn report(unhandled: impl Iterator<Item = Unhandled>) -> Option<usize> {
    unhandled.map(|group| group.first).min()
}

/// Returns the response to Lambda: `{"batchItemFailures":[{"itemIdentifier":"{sequence number}"}]}`, or an empty list.
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
            Outcome::Ignored => self.ignored += 1,
            Outcome::Applied => self.applied += 1,
            Outcome::Superseded => self.superseded += 1,
            Outcome::Stamped => self.stamped += 1,
            Outcome::Quarantined => self.quarantined += 1,
        }
    }

    /// Whether every record is in exactly one class. If not, the mirror has a bug.
    pub fn adds_up(&self) -> bool {
        let classes = self.applied + self.superseded + self.stamped + self.quarantined + self.ignored + self.reported;
        classes == self.records
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ledger_adds_up_only_if_each_record_is_in_one_class() {
        let ledger =
            Ledger { records: 21, applied: 1, superseded: 2, stamped: 3, quarantined: 4, ignored: 5, reported: 6 };
        assert!(ledger.adds_up());
        for wrong in
            [Ledger { records: 20, ..ledger }, Ledger { applied: 2, ..ledger }, Ledger { reported: 5, ..ledger }]
        {
            assert!(!wrong.adds_up(), "{wrong:?}");
        }
    }
}
