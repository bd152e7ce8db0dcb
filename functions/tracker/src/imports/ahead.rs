//! What a run of an import has read beyond its checkpoint, and the end of an import.

use std::sync::Arc;
use std::time::Duration;

use jobs::{Counts, JobId, RowFault, Step, Then};
use table::Access;
use web::Problem;

use super::records::{FileOffset, Records};
use super::seen::Seen;
use super::{ImportParams, faults};
use crate::jobs::Lease;

/// The longest time of a step, so that clients see the counts change.
pub const MAX_STEP: Duration = Duration::from_secs(1);

/// What a run has read beyond the checkpoint.
#[derive(Debug, Default)]
pub struct Ahead {
    /// The file, read up to the checkpoint.
    records: Option<Records>,
    /// What was seen before the checkpoint, and before the one that may follow it, by name.
    seen: Vec<(String, Arc<Seen>)>,
    pub pace: Pace,
}

impl Ahead {
    /// Whether the file was read up to the checkpoint.
    pub fn has_records(&self) -> bool {
        self.records.is_some()
    }

    /// The records from an offset.
    pub(super) fn records(&mut self, id: JobId, params: &ImportParams, offset: FileOffset) -> Records {
        match self.records.take() {
            Some(records) if records.offset() == offset => records,
            _ => Records::new(id.to_string(), params, offset),
        }
    }

    /// Keeps the records for the next step.
    pub fn keep(&mut self, records: Records) {
        self.records = Some(records);
    }

    /// What all records before the checkpoint have shown.
    pub(super) async fn seen(&mut self, access: &Access, params: &ImportParams) -> Result<Arc<Seen>, Problem> {
        let Some(name) = &params.seen else {
            self.seen.clear();
            return Ok(Arc::default());
        };
        if let Some(seen) = self.seen_at(name) {
            return Ok(seen);
        }
        let seen = Arc::new(Seen::load(access, name).await?);
        self.remember(name, &seen);
        Ok(seen)
    }

    /// What was seen before the checkpoint with this name, if this run knows it. It forgets what steps have stored whose
    /// checkpoints were not written.
    fn seen_at(&mut self, name: &str) -> Option<Arc<Seen>> {
        self.seen.retain(|(known, _)| known == name);
        self.seen.first().map(|(_, seen)| Arc::clone(seen))
    }

    /// Keeps what was seen for the next step. The one before stays for the case that the checkpoint is not written.
    pub fn remember(&mut self, name: &str, seen: &Arc<Seen>) {
        self.seen.push((name.to_owned(), Arc::clone(seen)));
    }
}

/// The number of records that a step writes: as many as it can in about a second.
#[derive(Clone, Copy, Debug)]
pub struct Pace(pub usize);

const MIN_RECORDS: usize = 16;
const MAX_RECORDS: usize = 1024;

impl Default for Pace {
    fn default() -> Self {
        Self(4 * MIN_RECORDS)
    }
}

impl Pace {
    /// Adapts to the time that a step took.
    pub fn adapt(&mut self, took: Duration) {
        if took > Duration::from_millis(1500) {
            self.0 = (self.0 / 2).max(MIN_RECORDS);
        } else if took < Duration::from_millis(500) {
            self.0 = (self.0 * 2).min(MAX_RECORDS);
        }
    }
}

/// The last step of an import. The faults are stored before the job has ended, which links to them.
pub async fn end(
    access: &Access,
    lease: &Lease,
    mut params: ImportParams,
    counts: Counts,
    then: Then,
    found: Vec<RowFault>,
) -> Result<Step, Problem> {
    faults::keep(access, lease.id, &mut params, &found).await?;
    faults::gather(access, lease.id, &mut params).await?;
    Ok(Step::new(Vec::new(), &params, counts, then)?.with_faults(found))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_checkpoint_names_is_known_after_any_number_of_lost_steps() {
        let mut ahead = Ahead::default();
        ahead.remember("checkpoint", &Arc::default());
        for lost in ["first", "second", "third"] {
            assert!(ahead.seen_at("checkpoint").is_some(), "before the {lost} step");
            ahead.remember(lost, &Arc::default());
        }
        assert!(ahead.seen_at("third").is_some());
        assert!(ahead.seen_at("checkpoint").is_none());
    }
}
