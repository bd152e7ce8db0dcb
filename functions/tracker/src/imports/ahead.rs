//! What a run of an import has read beyond its checkpoint, and the end of an import.

use std::collections::VecDeque;
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
    seen: VecDeque<(String, Arc<Seen>)>,
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
        let Some(name) = &params.seen else { return Ok(Arc::default()) };
        if let Some((_, seen)) = self.seen.iter().find(|(known, _)| known == name) {
            return Ok(Arc::clone(seen));
        }
        let seen = Arc::new(Seen::load(access, name).await?);
        self.remember(name, &seen);
        Ok(seen)
    }

    /// Keeps what was seen for the next step. The one before stays for the case that the checkpoint is not written.
    pub fn remember(&mut self, name: &str, seen: &Arc<Seen>) {
        self.seen.push_back((name.to_owned(), Arc::clone(seen)));
        if self.seen.len() > 2 {
            self.seen.pop_front();
        }
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
