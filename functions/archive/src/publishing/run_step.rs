//! A step of a run, which each phase returns.

use std::cmp::Reverse;

use ::jobs::{Counts, Step, Then};
use table::{Action, Changes};
use web::Problem;

use super::checkpoint::Checkpoint;
use super::chunk;
use crate::jobs::Lease;
use crate::keys::PostRunKey;
use crate::names::{PlaceId, PostId};
use crate::record::{Event, visible_from};
use crate::register::Severity;
use crate::runs::{Phase, Run};
use crate::schema::ARCHIVE;

/// A step of a run in the making.
pub struct RunWork<'a> {
    pub post: PostId,
    pub lease: &'a Lease,
    pub run: &'a Run,
}

impl RunWork<'_> {
    /// The place within which the file's place texts are preferred.
    pub fn within(&self) -> Option<PlaceId> {
        self.run.place_id
    }

    /// Returns the first day on which the public may see a record with these events. All steps go by what the run has noted
    /// at its start, since the collection may change meanwhile.
    pub fn visible_from(&self, events: &[Event]) -> Option<u32> {
        self.run.closed_years.as_ref().and_then(|closed| visible_from(events, closed))
    }
}

/// Returns a step that moves the run on to this checkpoint. If the phase changes, the run's item changes with it.
pub fn step(work: &RunWork<'_>, checkpoint: Checkpoint, actions: Vec<Action>, then: Then) -> Result<Step, Problem> {
    step_with(work, checkpoint, actions, then, |_| {})
}

/// [`step`] with another change of the run.
pub fn step_with(
    work: &RunWork<'_>,
    checkpoint: Checkpoint,
    mut actions: Vec<Action>,
    then: Then,
    change: impl FnOnce(&mut Run),
) -> Result<Step, Problem> {
    let before: Checkpoint = work.lease.job.checkpoint()?;
    if before.phase != checkpoint.phase {
        let mut run = Run { phase: checkpoint.phase, first_id: checkpoint.first_id, ..work.run.clone() };
        run.last_id = checkpoint.id_of(checkpoint.totals.rows);
        run.totals = checkpoint.totals;
        run.totals.errors = checkpoint.problems.count(Severity::Error);
        run.totals.warnings = checkpoint.problems.count(Severity::Warning);
        run.problems = checkpoint.problems.first().to_vec();
        run.problems.sort_by_key(|problem| Reverse(problem.severity));
        change(&mut run);
        let key = PostRunKey { post: work.post, run: run.run };
        actions.push(Action::update(&ARCHIVE, key, Changes::between(work.run, &run)?));
    }
    let rows = u64::from(checkpoint.totals.rows);
    let done = match checkpoint.phase {
        Phase::Checking | Phase::Matching | Phase::Numbering => 0,
        Phase::Writing => rows.min(u64::from(checkpoint.next) * chunk::ROWS as u64),
        _ => rows,
    };
    Step::new(actions, &checkpoint, Counts::new(rows, done), then)
}

/// Returns bytes in lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the bytes of a SHA-256 in lower-case hex. What is not one gives other bytes, which match nothing.
pub fn unhex(text: &str) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
        let pair = std::str::from_utf8(pair).unwrap_or_default();
        *byte = u8::from_str_radix(pair, 16).unwrap_or_default();
    }
    bytes
}
