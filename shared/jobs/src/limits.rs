//! Limits of open jobs. Each limit has slots, which are items: a job takes one of each limit when it is created, in the same
//! transaction, and its end deletes them. So no two jobs can take the last slot.

use serde::{Deserialize, Serialize};
use table::{Access, AccessPattern, Action, Error, Key};
use web::{Kind, Problem};

use crate::{JobId, JobOf, Jobs};

pub const TOO_MANY_JOBS: Kind = Kind::new(409, "too-many-jobs", "Too many jobs are open");

/// A limit of open jobs. All limits of a job have their slots in one partition.
pub struct Limit<'a> {
    pub max: u64,
    /// The key of a slot by its number.
    pub slot: Box<dyn Fn(u64) -> Key + Send + Sync + 'a>,
    /// The detail of the problem when all slots are taken.
    pub full: String,
}

/// The item of a slot.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Slot<Kind> {
    pub kind: Kind,
    /// The key of the job that has it.
    pub owner: Key,
}

/// Takes a slot of each limit for a job: sets the job's slots, and returns the actions that create them. 409 if a limit has
/// no free slot.
pub async fn take<J: Jobs>(
    access: &Access,
    pattern: &'static AccessPattern,
    (group, id): (&J::Group, JobId),
    job: &mut JobOf<J>,
    limits: &[Limit<'_>],
) -> Result<Vec<Action>, Problem> {
    let Some(first) = limits.first() else { return Ok(Vec::new()) };
    let partition = (first.slot)(0).pk;
    let taken = access.table(pattern, J::TABLE).query(partition).consistent().all().await?;
    let taken: Vec<Key> = taken.into_iter().map(|stored| stored.key).collect();
    let slot = Slot { kind: job.kind, owner: J::key(group, id) };
    let free = |limit: &Limit<'_>| {
        let free = (0..limit.max).map(&limit.slot).filter(|key| !taken.contains(key)).collect::<Vec<_>>();
        // A random one, so that requests at the same time seldom choose the same.
        fastrand::choice(free).ok_or_else(|| TOO_MANY_JOBS.because(limit.full.clone()))
    };
    job.slots = limits.iter().map(free).collect::<Result<_, _>>()?;
    let create = |key: &Key| Action::create(J::TABLE, key, &slot);
    Ok(job.slots.iter().map(create).collect::<Result<_, Error>>()?)
}
