//! Requests that read a job, or work on the job which they create, such as deletions.

use std::time::Duration;

use table::{AccessPattern, Key};
use tokio::time::Instant;
use web::{Accepted, Context, Problem};

use crate::turn::carry_on;
use crate::{Job, JobId, JobOf, JobView, Jobs, Lease, NewJob, Start, Workers, accepted};

/// The longest time that a request works on a job.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// The time of a request that is kept for its response.
const RESPONSE_TIME: Duration = Duration::from_secs(1);

/// Reads a job. 404 if there is none.
pub async fn load<J: Jobs>(
    cx: &Context,
    pattern: &'static AccessPattern,
    key: impl Into<Key>,
) -> Result<JobOf<J>, Problem> {
    let stored = cx.access().table(pattern, J::TABLE).get_consistent(key).await?;
    Ok(stored.ok_or_else(Problem::not_found)?.read()?)
}

/// Creates a job of the caller that is due at once, and responds with 202 and the job.
pub async fn accept<J: Jobs>(
    cx: &Context,
    pattern: &'static AccessPattern,
    group: J::Group,
    (kind, details): (J::Kind, J::Details),
) -> Result<Accepted<JobView<J::Kind, J::Details>>, Problem> {
    let by = cx.principal().signed_in()?.idpid().to_string();
    let job = Job::new(cx.access(), kind, details.clone(), Some(by));
    let new = NewJob::<J>::new(cx.access(), group, job, Start::After(0))?;
    cx.access().transact(pattern, &new.actions).await?;
    Ok(accepted::<J, _>(&new.group, new.id, &JobView::new::<J>(new.id, new.job, details)))
}

/// Works on a job for as long as the request may last, and returns the job as it is then. An error does not fail the
/// request, since the next run resumes the job.
pub async fn finish<J: Workers>(cx: &Context, lease: Lease<J>) -> JobOf<J> {
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

/// [`finish`] for a repeated request, whose job exists. None if the job is in the hands of another run, or is not due.
pub async fn resume<J: Workers>(cx: &Context, id: JobId) -> Result<Option<JobOf<J>>, Problem> {
    match Lease::acquire(cx.access(), id).await? {
        Some(lease) => Ok(Some(finish::<J>(cx, lease).await)),
        None => Ok(None),
    }
}
