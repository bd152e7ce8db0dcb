//! What does the work of a system's jobs.

use futures::FutureExt;
use futures::future::BoxFuture;
use table::{Access, AccessPattern, Key};
use web::Problem;

use crate::{Jobs, Lease, Step, Then};

/// The workers of a system's jobs.
pub trait Workers: Jobs {
    /// The access patterns of [`crate::handler`]: those of finding, leasing and doing each kind of job. Empty in a system that
    /// gives its handler the patterns itself.
    const PATTERNS: &'static [&'static AccessPattern] = &[];

    fn worker(kind: Self::Kind) -> Box<dyn AnyWorker<Self>>;

    /// Settles a due row whose key is not that of a job, such as the row of an unsettled issue.
    fn settle<'a>(_access: &'a Access, _due: &'a Key) -> BoxFuture<'a, Result<(), Problem>> {
        async { Ok(()) }.boxed()
    }
}

/// What a kind of job does. A worker lives for as long as a run works on the job, so it may keep what it has read beyond
/// the checkpoint. A new worker at the same checkpoint must come to the same end.
pub trait Worker<J: Jobs>: Send {
    /// Returns the next step. What it does outside the transaction, such as storing an object, must be repeatable: a step
    /// is repeated if a run dies before its transaction.
    fn step(&mut self, access: &Access, lease: &Lease<J>) -> impl Future<Output = Result<Step, Problem>> + Send;

    /// Returns the step that ends a running job whose cancelling was requested, with [`Then::Cancel`]. A queued job ends
    /// without it.
    fn cancel(&mut self, _access: &Access, lease: &Lease<J>) -> impl Future<Output = Result<Step, Problem>> + Send {
        let step = Step::unchanged(&lease.job, Then::Cancel);
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

    /// Drops what was read beyond the checkpoint, because the transaction of the last step failed. The step is repeated. A
    /// worker that compares what it has with the checkpoint need not do anything.
    fn discard(&mut self) {}
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
