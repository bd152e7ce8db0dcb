//! A job in the hands of a run: its steps, for as long as it is its turn.

use std::fmt;
use std::time::Duration;

use table::{Access, Error};
use tokio::time::{Instant, timeout_at};
use web::Problem;

use crate::lease::Commit;
use crate::worker::AnyWorker;
use crate::{JobOf, Jobs, Lease, Step, Then, Workers, file};

/// What must be left of a run's time to start a step: this, or twice the time of the job's slowest step.
const MIN_STEP_TIME: Duration = Duration::from_secs(2);

/// The end of a run's time, and of a lease, which is kept for giving the job back. A step that is still under way then is
/// dropped.
const RELEASE_TIME: Duration = Duration::from_millis(1500);

/// The length of a turn, unless one step takes longer.
const TURN: Duration = Duration::from_secs(1);

/// How often a step is repeated, because other writers changed what it had read, before the job fails in this run. The
/// next run tries again.
const MAX_CONFLICTS: u64 = 10;

/// A leased job with its worker.
pub(crate) struct Active<J: Jobs> {
    lease: Lease<J>,
    worker: Box<dyn AnyWorker<J>>,
    /// How often in a row the transaction of its step failed.
    conflicts: u64,
    slowest: Duration,
}

/// How a turn ended.
#[derive(Debug)]
pub(crate) enum Turned<J: Jobs> {
    More(Box<Active<J>>),
    /// The job has ended, waits, or was given back. This is its last known state.
    Over(Box<JobOf<J>>),
}

/// Whether a run that may last until then has time for a step.
pub(crate) fn has_time(access: &Access, until: Instant) -> bool {
    has_time_for(access, until, MIN_STEP_TIME)
}

fn has_time_for(access: &Access, until: Instant, step: Duration) -> bool {
    until.saturating_duration_since(Instant::now()) >= step + RELEASE_TIME && !access.engines().is_winding_down()
}

/// Works on a job until it has ended or waits, or until this time. Returns the job as it is then.
pub(crate) async fn carry_on<J: Workers>(
    access: &Access,
    lease: Lease<J>,
    until: Instant,
) -> Result<JobOf<J>, Problem> {
    let mut active = Active::new(lease);
    loop {
        match active.turn(access, until).await? {
            Turned::More(more) => active = *more,
            Turned::Over(job) => return Ok(*job),
        }
    }
}

impl<J: Workers> Active<J> {
    pub fn new(lease: Lease<J>) -> Self {
        let worker = J::worker(lease.job.kind);
        Self { lease, worker, conflicts: 0, slowest: Duration::ZERO }
    }

    /// Works for about a second. Gives the job back if there is no time for another step.
    pub async fn turn(mut self, access: &Access, until: Instant) -> Result<Turned<J>, Problem> {
        let began = Instant::now();
        while self.lease.job.is_open() {
            if self.conflicts == MAX_CONFLICTS {
                self.suspend(access).await?;
                return Err(Problem::conflict());
            }
            if !has_time_for(access, until, MIN_STEP_TIME.max(self.slowest * 2)) {
                return Ok(Turned::Over(Box::new(self.suspend(access).await?)));
            }
            if began.elapsed() >= TURN {
                return Ok(Turned::More(Box::new(self)));
            }
            let start = Instant::now();
            let last = until.min(self.lease.ends());
            let last = last.checked_sub(RELEASE_TIME).unwrap_or(last);
            let Ok(attempt) = timeout_at(last, self.step(access)).await else {
                return Ok(Turned::Over(Box::new(self.lease.abandon(access).await?)));
            };
            self.slowest = self.slowest.max(start.elapsed());
            match attempt {
                Ok((Commit::Done, Then::Wait(_))) | Ok((Commit::Lost, _)) => break,
                Ok((Commit::Done | Commit::CancelRequested, _)) => self.conflicts = 0,
                Err(Attempt::Conflict) => {
                    self.worker.discard();
                    self.conflicts += 1;
                    tokio::time::sleep(Duration::from_millis(fastrand::u64(0..50 * self.conflicts))).await;
                }
                Err(Attempt::Failed(problem)) => {
                    // The next run need not wait for the end of the lease. Whether the transaction was carried out may
                    // not be known.
                    if let Err(error) = self.lease.abandon(access).await {
                        tracing::warn!(%error, "a failed job keeps its lease until the end of it");
                    }
                    return Err(problem);
                }
            }
        }
        Ok(Turned::Over(Box::new(self.lease.job)))
    }

    async fn step(&mut self, access: &Access) -> Result<(Commit, Then), Attempt> {
        let Self { lease, worker, .. } = self;
        let step: Step = if lease.job.cancel_requested {
            worker.cancel(access, lease).await?
        } else if lease.job.waits_for_file() {
            file::look(access, lease).await?
        } else {
            worker.step(access, lease).await?
        };
        let then = step.then.clone();
        match lease.commit(access, step).await {
            Ok(commit) => Ok((commit, then)),
            Err(Error::ConditionFailed(_) | Error::Conflict) => Err(Attempt::Conflict),
            Err(error) => Err(Attempt::Failed(error.into())),
        }
    }

    /// Stores what the worker has read beyond the checkpoint, and gives the job back.
    pub async fn suspend(mut self, access: &Access) -> Result<JobOf<J>, Error> {
        match self.worker.suspend(access, &self.lease).await {
            Ok(Some(step)) => match self.lease.commit(access, step).await {
                Ok(Commit::Lost) => return Ok(self.lease.job),
                Ok(Commit::Done | Commit::CancelRequested) => {}
                Err(error) => tracing::warn!(%error, "what was read beyond the checkpoint is read again"),
            },
            Ok(None) => {}
            Err(problem) => tracing::warn!(%problem, "what was read beyond the checkpoint is read again"),
        }
        self.lease.release(access).await?;
        Ok(self.lease.job)
    }
}

impl<J: Jobs> fmt::Debug for Active<J> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lease.fmt(formatter)
    }
}

/// Why a step was not written.
enum Attempt {
    /// Other writers have changed what it had read.
    Conflict,
    Failed(Problem),
}

impl From<Problem> for Attempt {
    fn from(problem: Problem) -> Self {
        Self::Failed(problem)
    }
}
