//! Requests that read a job, or work on the job which they create, such as deletions.

use std::time::Duration;

use table::AccessPattern;
use tokio::time::Instant;
use web::{Accepted, Context, Either, NoContent, Problem};

use crate::turn::carry_on;
use crate::{Job, JobId, JobOf, JobViewOf, Jobs, Lease, NewJob, Start, Status, Workers, accepted};

/// The longest time that a request works on a job.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// The time of a request that is kept for its response.
const RESPONSE_TIME: Duration = Duration::from_secs(1);

/// 204 if the work is done, otherwise 202 with its job.
pub type DoneOrAccepted<J> = Either<NoContent, Accepted<JobViewOf<J>>>;

/// Reads a job. 404 if there is none.
pub async fn load<J: Jobs>(cx: &Context, group: &J::Group, id: JobId) -> Result<JobOf<J>, Problem> {
    let stored = cx.access().table(J::READ, J::TABLE).get_consistent(J::key(group, id)).await?;
    Ok(stored.ok_or_else(Problem::not_found)?.read()?)
}

/// Creates a job of the caller that is due at once, and responds with 202 and the job.
pub async fn accept<J: Jobs>(
    cx: &Context,
    pattern: &'static AccessPattern,
    group: J::Group,
    (kind, details): (J::Kind, J::Details),
) -> Result<Accepted<JobViewOf<J>>, Problem> {
    let by = cx.principal().signed_in()?.idpid().to_string();
    let job = Job::new(cx.access(), kind, details, Some(by));
    let new = NewJob::<J>::new(cx.access(), group, job, Start::After(0))?;
    cx.access().transact(pattern, &new.actions).await?;
    Ok(accepted::<J>(&new.group, new.id, new.job))
}

/// Works on a job for as long as the request may last.
pub async fn finish<J: Workers>(cx: &Context, lease: Lease<J>) -> DoneOrAccepted<J> {
    let (group, id) = (lease.group.clone(), lease.id);
    done_or_accepted::<J>(&group, id, work(cx, lease).await)
}

/// [`finish`] for a repeated request, whose job exists.
pub async fn resume<J: Workers>(cx: &Context, group: &J::Group, id: JobId) -> Result<DoneOrAccepted<J>, Problem> {
    Ok(done_or_accepted::<J>(group, id, work_again::<J>(cx, group, id).await?))
}

/// [`work`] for a repeated request, whose job exists.
pub async fn work_again<J: Workers>(cx: &Context, group: &J::Group, id: JobId) -> Result<JobOf<J>, Problem> {
    match Lease::<J>::acquire(cx.access(), id).await? {
        Some(lease) => Ok(work(cx, lease).await),
        // It has ended, or another run has its lease.
        None => load::<J>(cx, group, id).await,
    }
}

fn done_or_accepted<J: Jobs>(group: &J::Group, id: JobId, job: JobOf<J>) -> DoneOrAccepted<J> {
    match job.status {
        Status::Succeeded => Either::First(NoContent),
        _ => Either::Second(accepted::<J>(group, id, job)),
    }
}

/// Works on a job for as long as the request may last, and returns the job as it is then. An error does not fail the
/// request, since the next run resumes the job.
pub async fn work<J: Workers>(cx: &Context, lease: Lease<J>) -> JobOf<J> {
    let until = cx.deadline().checked_sub(RESPONSE_TIME).unwrap_or_else(Instant::now);
    let until = until.min(Instant::now() + TIME_LIMIT);
    let (id, before) = (lease.id, lease.job.clone());
    match carry_on(cx.access(), lease, until).await {
        Ok(job) => job,
        Err(problem) => {
            tracing::error!(job.id = %id, %problem, "a job failed in this request; the next run resumes it");
            before
        }
    }
}
