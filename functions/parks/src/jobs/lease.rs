//! The lease of a job: one worker at a time, and what a dead one abandons returns by itself.

use table::{Access, Action, Changes, EntityKey, Error, Rev, Stored, item};

use super::Job;
use crate::access::WORK;
use crate::keys::JobKey;
use crate::names::JobId;
use crate::schema::PARKS;

/// A job whose lease this run holds, as its last write left it.
#[derive(Debug)]
pub struct Held {
    pub id: JobId,
    pub job: Job,
    stored: Stored,
}

/// Epoch seconds at which a lease that is taken or renewed now ends.
pub(super) fn until(access: &Access) -> i64 {
    let engines = access.engines();
    engines.clock.seconds() + i64::try_from(engines.config.lease.as_secs()).unwrap_or(i64::MAX / 2)
}

impl Held {
    /// Takes the lease; nothing if the job has ended or is gone, or if somebody else holds it.
    pub async fn take(access: &Access, id: JobId) -> Result<Option<Self>, Error> {
        let Some(stored) = access.table(&WORK, &PARKS).get_consistent(JobKey { job: id }.key()).await? else {
            return Ok(None);
        };
        let job: Job = stored.read()?;
        let taken = job.lease_until.is_some_and(|until| until > access.engines().clock.seconds());
        if !job.is_open() || taken {
            return Ok(None);
        }
        match Self::begin(access, id, stored, job).await {
            Ok(held) => Ok(Some(held)),
            Err(Error::Stale { .. } | Error::NotFound) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Takes the lease of a job, and makes of what was read what is given.
    pub async fn begin(access: &Access, id: JobId, stored: Stored, mut after: Job) -> Result<Self, Error> {
        after.lease_until = Some(until(access));
        let mut held = Self { id, job: stored.read()?, stored };
        held.write(access, after).await?;
        Ok(held)
    }

    /// The lease that the maker of a job holds: the job was just written as it is, with this revision.
    pub fn made(id: JobId, job: Job, rev: Rev) -> Result<Self, Error> {
        let mut held = Self {
            stored: Stored { key: JobKey { job: id }.key(), rev: Some(rev), item: item::to_item(&job)? },
            id,
            job,
        };
        held.is_now(rev);
        Ok(held)
    }

    /// Lets go of it, so that the next worker need not wait for the lease's end.
    pub(super) async fn release(mut self, access: &Access) -> Result<(), Error> {
        let mut after = self.job.clone();
        after.lease_until = None;
        match self.write(access, after).await {
            Ok(()) | Err(Error::Stale { .. } | Error::NotFound) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Lets go of it after a batch that was given up before its transaction was answered, and returns the job as it is
    /// then. For as long as the lease lasts nobody else writes the job: whatever it is now, that transaction made it.
    pub(super) async fn give_up(mut self, access: &Access) -> Result<Job, Error> {
        loop {
            let read = access.table(&WORK, &PARKS).get_consistent(self.stored.key.clone()).await?;
            let lasts = self.job.lease_until.is_some_and(|until| until > access.engines().clock.seconds());
            let Some(stored) = read.filter(|_| lasts) else { return Ok(self.job) };
            self = Self { id: self.id, job: stored.read()?, stored };
            let after = Job { lease_until: None, ..self.job.clone() };
            if !self.job.is_open() {
                return Ok(self.job);
            }
            match self.write(access, after).await {
                // The transaction came in between.
                Err(Error::Stale { .. }) => {}
                Ok(()) | Err(Error::NotFound) => return Ok(self.job),
                Err(error) => return Err(error),
            }
        }
    }

    /// The action that moves it on, for a transaction; it fails if somebody else has taken the lease meanwhile.
    pub(super) fn moving_on(&self, after: &mut Job) -> Result<Action, Error> {
        after.index(self.id);
        let changes = Changes::between(&self.job, after)?;
        Ok(Action::update(&PARKS, self.stored.key.clone(), changes).if_unchanged(&self.stored))
    }

    /// What the transaction has made of it.
    pub(super) fn moved(&mut self, after: Job, rev: Rev) {
        self.job = after;
        self.is_now(rev);
    }

    async fn write(&mut self, access: &Access, mut after: Job) -> Result<(), Error> {
        let action = self.moving_on(&mut after)?;
        let rev = access.write(&WORK, action).await?;
        self.moved(after, rev);
        Ok(())
    }

    fn is_now(&mut self, rev: Rev) {
        self.stored.rev = Some(rev);
        self.stored.item.insert(table::rev::ATTRIBUTE.to_owned(), item::number(rev.number()));
    }
}
