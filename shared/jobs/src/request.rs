//! Requests that work on the job which they create, such as deletions.

use std::time::Duration;

use tokio::time::Instant;
use web::{Context, Problem};

use crate::turn::carry_on;
use crate::{JobId, JobOf, Lease, Workers};

/// The longest time that a request works on a job.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// The time of a request that is kept for its response.
const RESPONSE_TIME: Duration = Duration::from_secs(1);

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
