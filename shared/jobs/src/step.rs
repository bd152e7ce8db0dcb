//! The steps of a job.

use serde::Serialize;
use serde_json::Value;
use table::Action;
use web::Problem;

use crate::{Counts, Job, RowFault};

/// A step: the writes of one transaction, and the state of the job after it.
#[derive(Clone, Debug)]
pub struct Step {
    /// At most 98, since the transaction has two more actions: on the job and on its due row. The last step of a job has room
    /// for one less for each slot of the job.
    pub actions: Vec<Action>,
    pub checkpoint: Value,
    pub counts: Counts,
    pub then: Then,
    /// The faults that the step has found in rows.
    pub faults: Vec<RowFault>,
    /// Whether the faults of earlier steps are dropped, because the job reads its file again.
    pub drops_faults: bool,
    /// Whether its work was done before the transaction, which only counts it. Such a step is also written if the job is to
    /// be cancelled.
    pub only_counts: bool,
    /// How often a worker has looked for the job's file, if it has looked again.
    pub(crate) looks: Option<u32>,
}

/// What follows a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Then {
    Continue,
    /// The next step is due in this number of seconds.
    Wait(u64),
    Succeed,
    /// The job has failed, for this reason.
    Fail(String),
    Cancel,
}

impl Step {
    pub fn new(actions: Vec<Action>, checkpoint: &impl Serialize, counts: Counts, then: Then) -> Result<Self, Problem> {
        let checkpoint = serde_json::to_value(checkpoint).map_err(Problem::internal)?;
        Ok(Self::at(checkpoint, actions, counts, then))
    }

    /// A step that writes nothing, and keeps the checkpoint and the counts.
    pub fn unchanged<Kind, Details>(job: &Job<Kind, Details>, then: Then) -> Self {
        Self::at(job.checkpoint.clone(), Vec::new(), job.counts, then)
    }

    fn at(checkpoint: Value, actions: Vec<Action>, counts: Counts, then: Then) -> Self {
        let faults = Vec::new();
        Self { actions, checkpoint, counts, then, faults, drops_faults: false, only_counts: false, looks: None }
    }

    pub fn fail<Kind, Details>(job: &Job<Kind, Details>, reason: impl Into<String>) -> Self {
        Self::unchanged(job, Then::Fail(reason.into()))
    }

    pub fn with_faults(self, faults: Vec<RowFault>) -> Self {
        Self { faults, ..self }
    }

    pub fn without_earlier_faults(self) -> Self {
        Self { drops_faults: true, ..self }
    }

    pub fn that_only_counts(self) -> Self {
        Self { only_counts: true, ..self }
    }

    pub(crate) fn after_looks(self, looks: u32) -> Self {
        Self { looks: Some(looks), ..self }
    }
}
