//! Cancelling a job. What it has written stays.

use table::{Access, AccessPattern, Action, Changes, Error, Stored};
use web::{Kind, Problem};

use crate::{JobId, JobOf, Jobs, Status};

pub const NOT_CANCELLABLE: Kind = Kind::new(409, "not-cancellable", "The job cannot be cancelled");

/// What became of a job that was to be cancelled.
#[derive(Debug)]
pub enum Cancellation<J: Jobs> {
    /// It is cancelled.
    Ended,
    /// Its worker ends it, and counts first what it has written.
    Requested(Box<JobOf<J>>),
}

/// Cancels a job that was read: a queued job at once, a running one by its worker. The caller decides who may cancel which
/// kinds, and repeats a lost race.
pub async fn cancel<J: Jobs>(
    access: &Access,
    pattern: &'static AccessPattern,
    (group, id): (&J::Group, JobId),
    stored: &Stored,
) -> Result<Cancellation<J>, Problem> {
    let before: JobOf<J> = stored.read()?;
    match before.status {
        Status::Cancelled => return Ok(Cancellation::Ended),
        Status::Succeeded | Status::Failed => return Err(NOT_CANCELLABLE.because("The job has ended already.")),
        _ if before.cancel_requested => return Ok(Cancellation::Requested(Box::new(before))),
        Status::Queued | Status::Running => {}
    }
    let mut after = before.clone();
    if before.status == Status::Running || J::is_ended_by_worker(before.kind) {
        after.cancel_requested = true;
    } else {
        after.end(access, Status::Cancelled, None);
    }
    let update = Action::update(J::TABLE, J::key(group, id), Changes::between(&before, &after)?).if_unchanged(stored);
    let mut actions = vec![update];
    if !after.is_open() {
        actions.push(Action::delete(J::TABLE, J::due_key(id)).or_absent());
        actions.extend(before.slots.iter().map(|slot| Action::delete(J::TABLE, slot).or_absent()));
    }
    let written = match <[Action; 1]>::try_from(actions) {
        Ok([update]) => access.write(pattern, update).await,
        Err(actions) => access.transact(pattern, &actions).await,
    };
    match written {
        Ok(_) if after.is_open() => Ok(Cancellation::Requested(Box::new(after))),
        Ok(_) => Ok(Cancellation::Ended),
        // The job was written since it was read.
        Err(Error::Stale { .. } | Error::NotFound | Error::ConditionFailed(_)) => Err(Problem::lost_race()),
        Err(error) => Err(error.into()),
    }
}
