//! Jobs in the responses of tracker, and requests that work on the job which they create.

use jobs::JobId;
use web::{Accepted, Context, Either, NoContent, Problem};

use super::{Details, Job, Kind, Lease, TrackerJobs};
use crate::access::JOB;
use crate::keys::JobKey;
use crate::names::TenantId;

/// A job. A platform administrator who is no member does not see its project, its attribute and its faults.
pub type JobView = jobs::JobView<Kind, Details>;

/// The job as a member sees it.
pub fn view(id: JobId, job: Job) -> JobView {
    let details = job.details;
    JobView::new::<TrackerJobs>(id, job, details)
}

/// The job as a platform administrator sees it who is no member.
pub fn view_from_outside(id: JobId, job: Job) -> JobView {
    let job = Job { reason: None, faults: Vec::new(), created_by: None, ..job };
    JobView::new::<TrackerJobs>(id, job, Details::default())
}

/// 202 with the path of a job.
pub fn accepted(tenant: TenantId, id: JobId, job: Job) -> Accepted<JobView> {
    jobs::accepted::<TrackerJobs, _>(&tenant, id, &view(id, job))
}

pub async fn load(cx: &Context, tenant: TenantId, job: JobId) -> Result<Job, Problem> {
    jobs::load::<TrackerJobs>(cx, &JOB, JobKey { tenant, job }).await
}

/// Works on a job for as long as the request may last. 204 if it has succeeded by then, otherwise 202.
pub async fn finish(cx: &Context, lease: Lease) -> Either<NoContent, Accepted<JobView>> {
    let (tenant, id) = (lease.group, lease.id);
    done_or_accepted(tenant, id, jobs::finish(cx, lease).await)
}

/// [`finish`] for a repeated `DELETE`, whose job exists already.
pub async fn resume(
    cx: &Context,
    tenant: TenantId,
    id: JobId,
) -> Result<Either<NoContent, Accepted<JobView>>, Problem> {
    let job = load(cx, tenant, id).await?;
    let resumed = jobs::resume::<TrackerJobs>(cx, id).await?;
    Ok(done_or_accepted(tenant, id, resumed.unwrap_or(job)))
}

fn done_or_accepted(tenant: TenantId, id: JobId, job: Job) -> Either<NoContent, Accepted<JobView>> {
    if job.status == jobs::Status::Succeeded {
        Either::First(NoContent)
    } else {
        Either::Second(accepted(tenant, id, job))
    }
}
