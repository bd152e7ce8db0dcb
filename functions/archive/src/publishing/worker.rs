//! The worker of runs: one step at a time, by the phase of the checkpoint.

use ::jobs::{Step, Then, Worker};
use table::Access;
use web::Problem;

use super::check::{self, Reading};
use super::checkpoint::{Checkpoint, End};
use super::run_step::{RunWork, step};
use super::{group, matching, number, retire, settle, switch, undo, write};
use crate::access::{ONE, PUBLISH_STEP};
use crate::item::Collection;
use crate::jobs::{ArchiveJobs, Lease};
use crate::keys::{CollectionKey, PostRunKey};
use crate::runs::{Phase, Run};
use crate::schema::ARCHIVE;

/// The leases without progress after which a run that readers do not see is undone.
const MAX_LEASES: u32 = 10;

/// The reason of a run that makes no progress.
const NO_PROGRESS: &str = "no-progress";

/// Works on a run.
#[derive(Default)]
pub struct Publish {
    /// The run as it was begun, and its collection. Only the job's steps change the run.
    setting: Option<Setting>,
    reading: Option<Reading>,
}

/// What a run works with.
#[derive(Clone)]
pub struct Setting {
    pub run: Run,
    pub collection: Collection,
}

impl Worker<ArchiveJobs> for Publish {
    async fn step(&mut self, access: &Access, lease: &Lease) -> Result<Step, Problem> {
        let mut checkpoint: Checkpoint = lease.job.checkpoint()?;
        if self.setting.is_none() {
            self.setting = Some(Setting::load(access, lease).await?);
        }
        let Self { setting: Some(setting), reading } = self else {
            return Err(Problem::internal("a run has no setting"));
        };
        let work = RunWork { post: lease.group, lease, run: &setting.run, collection: &setting.collection };
        if lease.leases > MAX_LEASES {
            let (leases, phase) = (lease.leases - 1, checkpoint.phase);
            tracing::error!(post.id = %work.post, run = work.run.run.0, leases, ?phase, "a run makes no progress");
            if phase.is_cancellable() {
                checkpoint.undo(End::Failed(NO_PROGRESS.to_owned()));
                return step(&work, checkpoint, Vec::new(), Then::Continue);
            }
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
            if self.setting.is_none() {
                self.setting = Some(Setting::load(access, lease).await?);
            }
            let Some(setting) = &self.setting else { return Err(Problem::internal("a run has no setting")) };
            let work = RunWork { post: lease.group, lease, run: &setting.run, collection: &setting.collection };
            checkpoint.undo(End::Cancelled);
            return step(&work, checkpoint, Vec::new(), Then::Continue);
        }
        self.step(access, lease).await
    }

    fn discard(&mut self) {
        *self = Self::default();
    }
}

impl Setting {
    async fn load(access: &Access, lease: &Lease) -> Result<Self, Problem> {
        let key = PostRunKey { post: lease.group, run: lease.job.details.run };
        let run = access.table(&PUBLISH_STEP, &ARCHIVE).get_consistent(key).await?;
        let run: Run = run.ok_or_else(|| Problem::internal("a job has no run"))?.read()?;
        let key = CollectionKey { collection: run.collection_id };
        let collection = access.table(&ONE, &ARCHIVE).get_consistent(key).await?;
        let collection = collection.ok_or_else(|| Problem::internal("the post of a run has no collection"))?.read()?;
        Ok(Self { run, collection })
    }
}
