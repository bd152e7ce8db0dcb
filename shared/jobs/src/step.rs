//! The steps of a job.

use serde::Serialize;
use serde_json::Value;
use table::Action;
use web::Problem;

use crate::{Counts, Job, RowFault};

/// A step: the writes of one transaction, and the state of the job after it.
#[derive(Debug)]
pub struct Step {
    /// At most 98, less those that release the slots of a job which ends. None may be on the job or its due row.
    pub actions: Vec<Action>,
    pub checkpoint: Value,
    pub counts: Counts,
    pub then: Then,
    /// The faults that the step has found in rows.
    pub faults: Vec<RowFault>,
    /// Whether the job begins again, so that the faults so far no longer count.
    pub restarts: bool,
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
        Ok(Self { actions, checkpoint, counts, then, faults: Vec::new(), restarts: false, looks: None })
    }

    /// A step that changes neither the checkpoint nor the counts.
    pub fn end<Kind, Details>(job: &Job<Kind, Details>, then: Then) -> Self {
        let (checkpoint, counts) = (job.checkpoint.clone(), job.counts);
        Self { actions: Vec::new(), checkpoint, counts, then, faults: Vec::new(), restarts: false, looks: None }
    }

    pub fn fail<Kind, Details>(job: &Job<Kind, Details>, reason: impl Into<String>) -> Self {
        Self::end(job, Then::Fail(reason.into()))
    }

    pub fn with_faults(self, faults: Vec<RowFault>) -> Self {
        Self { faults, ..self }
    }

    pub fn with_counts(self, counts: Counts) -> Self {
        Self { counts, ..self }
    }

    pub fn restart(self) -> Self {
        Self { restarts: true, ..self }
    }

    pub(crate) fn after_looks(self, looks: u32) -> Self {
        Self { looks: Some(looks), ..self }
    }
}
