//! Creating a job, in the transaction that marks what the job works on.

use table::{Access, Action, Error};
use tokio::time::Instant;

use crate::due::{Due, in_seconds, lease_end};
use crate::{JobId, JobOf, Jobs, Lease, Status, lease};

/// When the first step of a new job is due, unless the job waits for a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At once, by the request that creates the job: it has the lease ([`NewJob::lease`]) and works on the job
    /// ([`crate::finish`]).
    Leased,
    /// After this number of seconds, by a run.
    After(u64),
}

/// A job that is being created.
#[derive(Debug)]
pub struct NewJob<J: Jobs> {
    pub group: J::Group,
    pub id: JobId,
    pub job: JobOf<J>,
    /// Creates the job and its due row.
    pub actions: [Action; 2],
    position: String,
    /// When the lease of its creator ends.
    lease_ends: Instant,
}

impl<J: Jobs> NewJob<J> {
    pub fn new(access: &Access, group: J::Group, job: JobOf<J>, start: Start) -> Result<Self, Error> {
        Self::with_id(access, group, JobId::new(), job, start)
    }

    pub fn with_id(
        access: &Access,
        group: J::Group,
        id: JobId,
        mut job: JobOf<J>,
        start: Start,
    ) -> Result<Self, Error> {
        let (key, lease_ends) = (J::key(&group, id), lease::end(access));
        let due = match start {
            _ if job.waits_for_file() => {
                let wait = J::UPLOADS.map_or(0, |uploads| uploads.wait);
                Due::upload::<J>(&group, &in_seconds(access, wait), key.clone())
            }
            Start::Leased => {
                job.status = Status::Running;
                Due::new::<J>(&group, &lease_end(access), key.clone())
            }
            Start::After(seconds) => Due::new::<J>(&group, &in_seconds(access, seconds), key.clone()),
        };
        let actions = [Action::create(J::TABLE, key, &job)?, due.create::<J>(J::due_key(id))?];
        Ok(Self { group, id, job, actions, position: due.position, lease_ends })
    }

    /// The lease that its creator holds, of a job that was created with [`Start::Leased`].
    pub fn lease(self) -> Lease<J> {
        if self.job.status != Status::Running {
            table::never!("the creator of {} does not have its lease", self.id);
        }
        Lease::new(self.group, self.id, self.job, self.position, self.lease_ends)
    }
}
