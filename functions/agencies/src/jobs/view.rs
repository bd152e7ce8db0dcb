//! Jobs in responses, and requests that work on the job which they create.

use jobs::{JobId, JobKey, Status};
use web::{Accepted, Context, Either, NoContent, Problem};

use super::{AgencyJobs, Details, Job, Kind, Lease};
use crate::access::JOB;
use crate::names::AgencyId;

/// A job as a platform administrator sees it.
pub type JobView = jobs::JobView<Kind, Details>;

pub fn view(id: JobId, job: Job) -> JobView {
    let details = job.details.clone();
    JobView::new::<AgencyJobs>(id, job, details)
}

pub async fn load(cx: &Context, job: JobId) -> Result<Job, Problem> {
    jobs::load::<AgencyJobs>(cx, &JOB, JobKey { job }).await
}

/// Works on a job for as long as the request may last. 204 if it has succeeded by then, otherwise 202.
pub async fn finish(cx: &Context, lease: Lease) -> Either<NoContent, Accepted<JobView>> {
    let (agency, id) = (lease.group.clone(), lease.id);
    done_or_accepted(&agency, id, jobs::finish(cx, lease).await)
}

/// [`finish`] for a repeated `DELETE`, whose job exists already.
pub async fn resume(
    cx: &Context,
    agency: &AgencyId,
    id: JobId,
) -> Result<Either<NoContent, Accepted<JobView>>, Problem> {
    match jobs::resume::<AgencyJobs>(cx, id).await? {
        Some(job) => Ok(done_or_accepted(agency, id, job)),
        // Another worker has its lease.
        None => Ok(done_or_accepted(agency, id, load(cx, id).await?)),
    }
}

fn done_or_accepted(agency: &AgencyId, id: JobId, job: Job) -> Either<NoContent, Accepted<JobView>> {
    if job.status == Status::Succeeded {
        Either::First(NoContent)
    } else {
        Either::Second(jobs::accepted::<AgencyJobs, _>(agency, id, &view(id, job)))
    }
}
