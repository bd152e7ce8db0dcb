//! Going on with jobs: all that are open, and a run of one of them, batch by batch, for as long as there is time.

use std::time::Duration;

use futures::future::ready;
use futures::{StreamExt, stream};
use table::{Access, AccessPattern, Error};
use tokio::time::{Instant, timeout_at};
use web::{Problem, RunSummary};

use super::{Held, Job, JobKind, OPEN, Step, Then, Work, lease};
use crate::access;
use crate::cascade::work::{Deletion, Restoration, Showing};
use crate::imports::Import;
use crate::names::JobId;
use crate::schema::PARKS;

/// How many jobs one run of the worker goes on with at once.
const AT_ONCE: usize = 4;

/// What must be left of a run's time for one more batch: so much, or twice what its slowest batch has taken if that is
/// more. A batch that is cut off was for nothing.
const FOR_A_BATCH: Duration = Duration::from_secs(2);

/// What is kept of a run's time for giving the lease back. A batch that is still under way then is given up.
const FOR_RELEASE: Duration = Duration::from_millis(1500);

/// How often a batch is made anew, because others had changed what it read, before the job is left to the next run.
const TRIES: u64 = 10;

/// Goes on with all open jobs that are nobody's. One that fails stops no other.
pub async fn go_on(access: &Access, until: Instant) -> Result<RunSummary, Problem> {
    let open = access.table(&access::OPEN_JOBS, &PARKS).query(OPEN).index("list").all().await?;
    let went = stream::iter(open).map(|listed| async move {
        let Some(id) = id_of(&listed.key.pk) else { return false };
        let went = match Held::take(access, id).await {
            Ok(Some(held)) => carry_on(access, held, until).await.map(|_| ()),
            Ok(None) => Ok(()),
            Err(error) => Err(error.into()),
        };
        if let Err(problem) = &went {
            tracing::error!(job.id = %id, %problem, "a job failed in this run; the next run resumes it");
        }
        went.is_err()
    });
    let due = went.buffer_unordered(AT_ONCE).fold(RunSummary::default(), |mut due, failed| {
        due.count(failed);
        ready(due)
    });
    let due = due.await;
    Ok(due)
}

/// The job of an item with this partition key.
pub(super) fn id_of(pk: &str) -> Option<JobId> {
    pk.strip_prefix("job::")?.parse().ok()
}

/// Works on a job until it has ended, or until this time; then it is left to `runWork`. Returns the job as it is then.
pub async fn carry_on(access: &Access, held: Held, until: Instant) -> Result<Job, Problem> {
    match held.job.kind {
        JobKind::Import => batches::<Import>(access, held, until).await,
        JobKind::Delete => batches::<Deletion>(access, held, until).await,
        JobKind::Restore => batches::<Restoration>(access, held, until).await,
        JobKind::Hide | JobKind::Show => batches::<Showing>(access, held, until).await,
    }
}

/// The transactions of a kind's batches are made under this pattern of its own.
fn pattern(kind: JobKind) -> &'static AccessPattern {
    match kind {
        JobKind::Import => &access::IMPORT_ROWS,
        JobKind::Delete | JobKind::Restore | JobKind::Hide | JobKind::Show => &access::DELETE_OR_RESTORE,
    }
}

async fn batches<W: Work>(access: &Access, mut held: Held, until: Instant) -> Result<Job, Problem> {
    let until = until.checked_sub(FOR_RELEASE).unwrap_or(until);
    let (mut work, mut vain, mut slowest) = (None, 0, Duration::ZERO);
    while held.job.is_open() {
        let began = Instant::now();
        let over = until.saturating_duration_since(began) < FOR_A_BATCH.max(slowest * 2);
        if over || vain == TRIES || access.engines().is_winding_down() {
            let job = held.job.clone();
            held.release(access).await?;
            return Ok(job);
        }
        let Ok(outcome) = timeout_at(until, batch::<W>(access, &mut held, work.take())).await else {
            return Ok(held.give_up(access).await?);
        };
        slowest = slowest.max(began.elapsed());
        match outcome {
            Ok(Outcome::Done(at)) => (work, vain) = (Some(at), 0),
            Ok(Outcome::Overtaken) => {
                vain += 1;
                tokio::time::sleep(Duration::from_millis(fastrand::u64(0..50 * vain))).await;
            }
            Ok(Outcome::Lost) => return Ok(held.job),
            Err(problem) => {
                // The next run may have more luck, and need not wait for the lease's end.
                held.release(access).await?;
                return Err(problem);
            }
        }
    }
    Ok(held.job)
}

/// What became of a batch.
enum Outcome<W> {
    Done(W),
    /// Others have changed what it read: it is made anew.
    Overtaken,
    /// Another run has the lease now.
    Lost,
}

async fn batch<W: Work>(access: &Access, held: &mut Held, work: Option<W>) -> Result<Outcome<W>, Problem> {
    let mut work = match work {
        Some(work) => work,
        None => W::resume(access, held).await?,
    };
    let Step { mut actions, checkpoint, counts, then } = work.step(access, held).await?;
    let mut after = Job { checkpoint, counts, lease_until: Some(lease::until(access)), ..held.job.clone() };
    match then {
        Then::More => {}
        Then::Done => after.end(access, None),
        Then::Failed(reason) => after.end(access, Some(reason)),
    }
    let own = actions.len();
    actions.push(held.moving_on(&mut after)?);
    match access.transact(pattern(held.job.kind), &actions).await {
        Ok(rev) => {
            held.moved(after, rev);
            Ok(Outcome::Done(work))
        }
        Err(error) if error.failed(own).is_some() => Ok(Outcome::Lost),
        Err(Error::ConditionFailed(_) | Error::Conflict) => Ok(Outcome::Overtaken),
        Err(error) => Err(error.into()),
    }
}
