//! The steps of a job.

use futures::FutureExt;
use futures::future::BoxFuture;
use serde::Serialize;
use serde_json::Value;
use table::{Access, Action};
use web::Problem;

use crate::{Counts, Jobs, Lease, RowFault};

/// What a kind of job does. A worker lives for as long as a run works on the job, so it may keep what it has read beyond
/// the checkpoint. A new worker at the same checkpoint must come to the same end.
pub trait Worker<J: Jobs>: Send {
    /// Returns the next step. What it does outside the transaction, such as storing an object, must be repeatable: a step
    /// is repeated if a run dies before its transaction.
    fn step(&mut self, access: &Access, lease: &Lease<J>) -> impl Future<Output = Result<Step, Problem>> + Send;

    /// Returns the last step of a cancelled job.
    fn cancel(&mut self, _access: &Access, lease: &Lease<J>) -> impl Future<Output = Result<Step, Problem>> + Send {
        let step = Step::end(lease, Then::Cancel);
        async move { Ok(step) }
    }

    /// Returns a step that stores what was read beyond the checkpoint, before the run gives the job back.
    fn suspend(
        &mut self,
        _access: &Access,
        _lease: &Lease<J>,
    ) -> impl Future<Output = Result<Option<Step>, Problem>> + Send {
        async { Ok(None) }
    }

    /// Drops what the last step has read, because its transaction failed.
    fn discard(&mut self) {}
}

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
    pub fn end<J: Jobs>(lease: &Lease<J>, then: Then) -> Self {
        let (checkpoint, counts) = (lease.job.checkpoint.clone(), lease.job.counts);
        Self { actions: Vec::new(), checkpoint, counts, then, faults: Vec::new(), restarts: false, looks: None }
    }

    pub fn fail<J: Jobs>(lease: &Lease<J>, reason: impl Into<String>) -> Self {
        Self::end(lease, Then::Fail(reason.into()))
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

/// A worker of any kind of job.
pub trait AnyWorker<J: Jobs>: Send {
    fn step<'a>(&'a mut self, access: &'a Access, lease: &'a Lease<J>) -> BoxFuture<'a, Result<Step, Problem>>;
    fn cancel<'a>(&'a mut self, access: &'a Access, lease: &'a Lease<J>) -> BoxFuture<'a, Result<Step, Problem>>;
    fn suspend<'a>(
        &'a mut self,
        access: &'a Access,
        lease: &'a Lease<J>,
    ) -> BoxFuture<'a, Result<Option<Step>, Problem>>;
    fn discard(&mut self);
}

impl<J: Jobs, W: Worker<J>> AnyWorker<J> for W {
    fn step<'a>(&'a mut self, access: &'a Access, lease: &'a Lease<J>) -> BoxFuture<'a, Result<Step, Problem>> {
        Worker::step(self, access, lease).boxed()
    }

    fn cancel<'a>(&'a mut self, access: &'a Access, lease: &'a Lease<J>) -> BoxFuture<'a, Result<Step, Problem>> {
        Worker::cancel(self, access, lease).boxed()
    }

    fn suspend<'a>(
        &'a mut self,
        access: &'a Access,
        lease: &'a Lease<J>,
    ) -> BoxFuture<'a, Result<Option<Step>, Problem>> {
        Worker::suspend(self, access, lease).boxed()
    }

    fn discard(&mut self) {
        Worker::discard(self);
    }
}
