//! The lease of a job: the job and its due row, as the last write of this run left them.

use std::time::Duration;

use table::{Access, Action, Changes, Condition, Error};

use tokio::time::Instant;

use crate::due::{self, Due, acquire_due, at_time, in_seconds, lease_end, position};
use crate::job::MAX_FAULTS;
use crate::{JobId, JobOf, Jobs, Status, Step, Then};

/// A run takes a shorter lease for this long, so that its steps can end. Such a lease lets another run begin in the
/// meantime, as a test or a machine alone may want it.
const MIN_LEASE: Duration = Duration::from_secs(10);

/// The right to a job until a time. Before that time, only a request that cancels the job writes it, and the event of the
/// file for which the job waits. Both make the next write of this run fail.
#[derive(Debug)]
pub struct Lease<J: Jobs> {
    pub group: J::Group,
    pub id: JobId,
    pub job: JobOf<J>,
    /// How many leases, this one included, have followed the last step. A worker that dies or fails leaves the job to the next
    /// lease, so a high number says that the job makes no progress.
    pub leases: u32,
    /// Where the due row is listed.
    position: String,
    /// Where a transaction moves it that is under way, or whose outcome is not known.
    next: Option<String>,
    /// When another run may acquire it.
    ends: Instant,
}

/// The outcome of the transaction of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Commit {
    Done,
    /// Another run has the lease now, or the job was deleted.
    Lost,
    /// The job is to be cancelled; the step was not written.
    CancelRequested,
}

impl<J: Jobs> Lease<J> {
    pub(crate) fn new(group: J::Group, id: JobId, job: JobOf<J>, position: String, ends: Instant) -> Self {
        Self { group, id, job, leases: 1, position, next: None, ends }
    }

    /// When another run may acquire it. A step that is still under way then is dropped: two runs must not work on a job
    /// at once, since steps also write outside of their transactions.
    pub(crate) fn ends(&self) -> Instant {
        self.ends
    }

    /// Acquires the lease of a job. None if it is not due or does not exist, or if another run was faster. The job may have
    /// ended since.
    pub async fn acquire(access: &Access, id: JobId) -> Result<Option<Self>, Error> {
        let ends = end(access);
        let Some(due) = acquire_due::<J>(access, J::due_key(id)).await? else { return Ok(None) };
        let Some(job) = load::<J>(access, &due).await? else { return Ok(None) };
        let leases = due.leases;
        Ok(Some(Self { leases, ..Self::new(group_of::<J>(&due)?, id, job, due.position, ends) }))
    }

    /// Acquires the lease of a job whose file has arrived. None if the job does not wait for it any more.
    pub(crate) async fn acquire_uploaded(access: &Access, id: JobId) -> Result<Option<Self>, Error> {
        let key = J::due_key(id);
        let Some(stored) = access.table(J::LEASE, J::TABLE).get_consistent(key.clone()).await? else {
            return Ok(None);
        };
        let due = Due::read::<J>(&stored)?;
        let group = group_of::<J>(&due)?;
        let Some(before) = load::<J>(access, &due).await?.filter(JobOf::<J>::waits_for_file) else { return Ok(None) };
        let (ends, until) = (end(access), position(&J::group_name(&group), &lease_end(access)));
        let job = JobOf::<J> { status: Status::Running, ..before.clone() };
        let is_queued = Condition::Equals("status", table::item::text("queued"));
        let update = Action::update(J::TABLE, due.owner, Changes::between(&before, &job)?).when(is_queued);
        let actions = [due::move_row::<J>(key, &due.position, &until)?, update];
        match access.transact(J::LEASE, &actions).await {
            Ok(_) => Ok(Some(Self::new(group, id, job, until, ends))),
            Err(Error::ConditionFailed(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes a step, with the state of the job after it.
    pub(crate) async fn commit(&mut self, access: &Access, step: Step) -> Result<Commit, Error> {
        let again = step.only_counts.then(|| step.clone());
        match (self.write(access, step).await?, again) {
            // Otherwise the job would end without the counts of what the step has done.
            (Commit::CancelRequested, Some(again)) => self.write(access, again).await,
            (commit, _) => Ok(commit),
        }
    }

    /// Writes a step, unless the job is to be cancelled and this run did not know it.
    async fn write(&mut self, access: &Access, step: Step) -> Result<Commit, Error> {
        let Step { mut actions, checkpoint, counts, then, faults, drops_faults, only_counts: _, looks } = step;
        let mut after = JobOf::<J> { checkpoint, counts, looks: looks.or(self.job.looks), ..self.job.clone() };
        if drops_faults {
            after.faults.clear();
        } else {
            let room = MAX_FAULTS.saturating_sub(after.faults.len());
            after.faults.extend(faults.into_iter().take(room));
        }
        if !(matches!(then, Then::Wait(_)) && self.job.waits_for_file()) {
            after.status = Status::Running;
        }
        let ends = end(access);
        let next = match then {
            Then::Continue => Some(position(&J::group_name(&self.group), &lease_end(access))),
            Then::Wait(seconds) => Some(at_time(&self.position, &in_seconds(access, seconds))),
            Then::Succeed => {
                after.end(access, Status::Succeeded, None);
                None
            }
            Then::Fail(reason) => {
                after.end(access, Status::Failed, Some(reason));
                None
            }
            Then::Cancel => {
                after.end(access, Status::Cancelled, None);
                None
            }
        };
        let (own, due_key) = (actions.len(), J::due_key(self.id));
        actions.push(match &next {
            Some(next) => due::move_row_after_step::<J>(due_key, &self.position, next)?,
            None => due::delete_row::<J>(due_key, &self.position)?,
        });
        let update = Action::update(J::TABLE, J::key(&self.group, self.id), Changes::between(&self.job, &after)?);
        let is_wanted = Condition::Absent("cancelRequested");
        actions.push(if self.job.cancel_requested { update } else { update.when(is_wanted) });
        if next.is_none() {
            actions.extend(self.job.slots.iter().map(|slot| Action::delete(J::TABLE, slot).or_absent()));
        }
        self.next = next.clone();
        let written = access.transact(J::step_pattern(self.job.kind), &actions).await;
        if matches!(written, Ok(_) | Err(Error::ConditionFailed(_) | Error::Conflict)) {
            self.next = None;
        }
        match written {
            Ok(_) => {
                (self.job, self.leases) = (after, 1);
                if let Some(next) = next {
                    (self.position, self.ends) = (next, ends);
                }
                Ok(Commit::Done)
            }
            Err(error) if error.failed(own).is_some() => Ok(Commit::Lost),
            Err(error) if error.failed(own + 1).is_some() => self.read_request(access).await,
            Err(error) => Err(error),
        }
    }

    /// Reads why the job could not be updated.
    async fn read_request(&mut self, access: &Access) -> Result<Commit, Error> {
        match self.read(access).await? {
            Some(job) if job.cancel_requested => {
                self.job.cancel_requested = true;
                Ok(Commit::CancelRequested)
            }
            _ => Ok(Commit::Lost),
        }
    }

    /// Gives the job back, so that the next worker need not wait for the end of the lease.
    pub(crate) async fn release(&self, access: &Access) -> Result<(), Error> {
        let now = at_time(&self.position, &in_seconds(access, 0));
        match access.write(J::LEASE, due::move_row::<J>(J::due_key(self.id), &self.position, &now)?).await {
            Ok(_) | Err(Error::NotFound | Error::ConditionFailed(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Gives the job back after a step was dropped while its transaction was under way, or has failed, and returns the job
    /// as it is then.
    /// The due row is where this run has moved it, before or in that transaction, or another run has the lease.
    pub(crate) async fn abandon(mut self, access: &Access) -> Result<JobOf<J>, Error> {
        let key = J::due_key(self.id);
        while let Some(stored) = access.table(J::LEASE, J::TABLE).get_consistent(key.clone()).await? {
            let now_at = Due::read::<J>(&stored)?.position;
            if now_at != self.position && Some(&now_at) != self.next.as_ref() {
                break;
            }
            let now = at_time(&now_at, &in_seconds(access, 0));
            match access.write(J::LEASE, due::move_row::<J>(key.clone(), &now_at, &now)?).await {
                Ok(_) | Err(Error::NotFound) => break,
                // The transaction came in between.
                Err(Error::ConditionFailed(_)) => {}
                Err(error) => return Err(error),
            }
        }
        if let Some(job) = self.read(access).await? {
            self.job = job;
        }
        Ok(self.job)
    }

    async fn read(&self, access: &Access) -> Result<Option<JobOf<J>>, Error> {
        let stored = access.table(J::LEASE, J::TABLE).get_consistent(J::key(&self.group, self.id)).await?;
        stored.map(|stored| stored.read()).transpose()
    }
}

/// Returns when a lease that begins now ends.
pub(crate) fn end(access: &Access) -> Instant {
    Instant::now() + access.engines().config.lease.max(MIN_LEASE)
}

async fn load<J: Jobs>(access: &Access, due: &Due) -> Result<Option<JobOf<J>>, Error> {
    let stored = access.table(J::LEASE, J::TABLE).get_consistent(due.owner.clone()).await?;
    stored.map(|stored| stored.read()).transpose()
}

fn group_of<J: Jobs>(due: &Due) -> Result<J::Group, Error> {
    let group = due.group.as_deref().and_then(J::parse_group);
    group.ok_or_else(|| Error::Misfit(format!("the due row of {:?} has no valid group", due.owner)))
}
