//! How far a run has come, as its job stores it.

use serde::{Deserialize, Serialize};

use crate::names::{PostStatus, RecordId, RunNumber};
use crate::register::{Code, Problems};
use crate::runs::{Phase, Totals};

/// Where the next step of a run resumes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Checkpoint {
    pub phase: Phase,
    /// The status of the post before the run.
    pub before: Option<PostStatus>,
    /// The chunks of rows that are stored.
    pub chunks: u32,
    /// The chunks of households that are stored.
    pub household_chunks: u32,
    pub totals: Totals,
    pub problems: Problems,
    /// The problem for which no row of the file is published.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fatal: Option<Code>,
    /// The id of row 1. Row `n` has the id `first_id + n - 1`, also where rows between were skipped.
    pub first_id: Option<RecordId>,
    /// The next chunk of the phase, or the next record to delete.
    pub next: u32,
    /// How often the run has looked in this phase for what it waits for.
    pub looks: u32,
    /// When the run stops waiting until search holds its records, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settles_until: Option<i64>,
    /// Whether search did not hold all records in time.
    pub search_lag: bool,
    /// Whether the run has stored the first open days of the records that are gone. An earlier version has not.
    pub has_gone_days: bool,
    /// The run that readers saw before.
    pub last: Option<Retired>,
    /// Why the run is undone.
    pub end: Option<End>,
}

/// A run whose records are deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Retired {
    pub run: RunNumber,
    /// Absent for a run that has not taken ids.
    pub first_id: Option<RecordId>,
    pub rows: u32,
    /// Whether search has held all records of the run. If search then holds none of them, it has received their
    /// deletions. Checkpoints of earlier versions lack this.
    #[serde(default)]
    pub was_in_search: bool,
}

/// Why a run is undone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum End {
    /// The file was only checked.
    Checked,
    Cancelled,
    Failed(String),
}

impl Checkpoint {
    /// The first step of a run of a post with this status.
    pub fn new(before: PostStatus) -> Self {
        Self { before: Some(before), ..Self::default() }
    }

    /// Moves on to the first step of a phase.
    pub fn enter(&mut self, phase: Phase) {
        (self.phase, self.next, self.looks) = (phase, 0, 0);
    }

    /// Whether no step of the run has read its file yet.
    pub fn has_not_begun(&self) -> bool {
        self.phase == Phase::Checking && self.chunks == 0
    }

    /// Moves on to undoing.
    pub fn undo(&mut self, end: End) {
        self.enter(Phase::Undoing);
        self.end = Some(end);
    }

    /// Returns the id of a row.
    pub fn id_of(&self, row: u32) -> Option<RecordId> {
        id_of(self.first_id?, row)
    }
}

/// Returns the id of a row of the run whose first row has this id. Rows are counted from 1.
pub fn id_of(first: RecordId, row: u32) -> Option<RecordId> {
    RecordId::new(first.number() + u64::from(row.checked_sub(1)?))
}
