//! The worker of runs: one step at a time, by the phase of the checkpoint.

use ::jobs::{Step, Then, Worker};
use table::Access;
use web::Problem;

use super::check::{self, Reading};
use super::checkpoint::{Checkpoint, End};
use super::chunk::RunFiles;
use super::run_step::{RunWork, step};
use super::{group, matching, number, retire, settle, switch, undo, write};
use crate::access::PUBLISH_STEP;
use crate::hidden;
use crate::jobs::{ArchiveJobs, Lease};
use crate::keys::PostRunKey;
use crate::runs::{Phase, Run};
use crate::schema::ARCHIVE;

/// The leases without progress after which a run that readers do not see is undone.
const MAX_LEASES: u32 = 10;

/// The reason of a run that makes no progress.
const NO_PROGRESS: &str = "no-progress";

/// Works on a run.
#[derive(Default)]
pub struct Publish {
    /// The run as it was begun. Only the job's steps change it.
    run: Option<Run>,
    reading: Option<Reading>,
}

impl Worker<ArchiveJobs> for Publish {
    async fn step(&mut self, access: &Access, lease: &Lease) -> Result<Step, Problem> {
        let mut checkpoint: Checkpoint = lease.job.checkpoint()?;
        if self.run.is_none() {
            self.run = load(access, lease).await?;
        }
        let Self { run: Some(run), reading } = self else {
            return end_without_run(access, lease, &checkpoint).await;
        };
        let work = RunWork { post: lease.group, lease, run };
        if lease.leases > MAX_LEASES {
            let (leases, phase) = (lease.leases - 1, checkpoint.phase);
            tracing::error!(post.id = %work.post, run = work.run.run.0, leases, ?phase, "a run makes no progress");
            if phase.is_cancellable() {
                checkpoint.undo(End::Failed(NO_PROGRESS.to_owned()));
                return step(&work, checkpoint, Vec::new(), Then::Continue);
            }
        }
        if checkpoint.has_not_begun() && waits(access, &work).await? {
            checkpoint.looks += 1;
            let pause = settle::pause(checkpoint.looks);
            return step(&work, checkpoint, Vec::new(), Then::Wait(pause));
        }
        match checkpoint.phase {
            Phase::Checking => check::step_check(access, &work, reading, checkpoint).await,
            Phase::Matching => {
                *reading = None;
                matching::step_match(access, &work, checkpoint).await
            }
            Phase::Numbering => number::step_number(access, &work, checkpoint).await,
            Phase::Writing => write::step_write(access, &work, checkpoint).await,
            Phase::Grouping => group::step_group(access, &work, checkpoint).await,
            Phase::Settling => settle::step_settle(access, &work, checkpoint).await,
            Phase::Switching => switch::step_switch(access, &work, checkpoint).await,
            Phase::Retiring => retire::step_retire(access, &work, checkpoint).await,
            Phase::Undoing => undo::step_undo(access, &work, checkpoint).await,
            Phase::Ended => Ok(Step::unchanged(&lease.job, Then::Succeed)),
        }
    }

    /// Undoes the run. A run that readers see already is not undone: its job goes on.
    async fn cancel(&mut self, access: &Access, lease: &Lease) -> Result<Step, Problem> {
        let mut checkpoint: Checkpoint = lease.job.checkpoint()?;
        if checkpoint.phase.is_cancellable() {
            if self.run.is_none() {
                self.run = load(access, lease).await?;
            }
            let Some(run) = &self.run else { return end_without_run(access, lease, &checkpoint).await };
            let work = RunWork { post: lease.group, lease, run };
            checkpoint.undo(End::Cancelled);
            return step(&work, checkpoint, Vec::new(), Then::Continue);
        }
        self.step(access, lease).await
    }

    fn discard(&mut self) {
        *self = Self::default();
    }
}

/// Whether the job of an earlier run still deletes what that one has replaced. A run that only checks its file needs not
/// wait for it.
async fn waits(access: &Access, work: &RunWork<'_>) -> Result<bool, Problem> {
    Ok(!work.run.dry_run && hidden::has_other(access, work.post, work.run.run).await?)
}

/// Returns the end of a job without its run, whose work files only the job knows. Once readers see the run, its post
/// may be deleted while the job waits for search. Before that, the run must be there.
async fn end_without_run(access: &Access, lease: &Lease, checkpoint: &Checkpoint) -> Result<Step, Problem> {
    let (post, run) = (lease.group, lease.job.details.run);
    let then = if matches!(checkpoint.phase, Phase::Retiring | Phase::Ended) {
        Then::Cancel
    } else {
        tracing::error!(post.id = %post, run = run.0, "the run of a job is not there; the job ends");
        Then::Succeed
    };
    retire::delete_work(&RunFiles::new(access, post, run), checkpoint).await?;
    let hidden: Vec<_> = std::iter::once(run).chain(checkpoint.last.map(|last| last.run)).collect();
    let shown: Vec<_> = hidden.into_iter().map(|run| (run, None)).collect();
    Step::new(vec![hidden::update(post, &shown)], checkpoint, lease.job.counts, then)
}

/// Reads the run of a job. None if the post was deleted with its runs.
async fn load(access: &Access, lease: &Lease) -> Result<Option<Run>, Problem> {
    let key = PostRunKey { post: lease.group, run: lease.job.details.run };
    let run = access.table(&PUBLISH_STEP, &ARCHIVE).get_consistent(key).await?;
    Ok(run.map(|run| run.read()).transpose()?)
}
