//! Jobs in responses.

use jobs::JobId;
use serde::Serialize;
use utoipa::ToSchema;
use web::{Accepted, Context, Either, NoContent};

use super::{Job, JobKind, Lease, ParksJobs, href};
use crate::imports;
use crate::view::View;

/// What a job works on.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobRoot {
    /// The document id of an item.
    root: String,
    /// Whether the job is an import that only reports what it would do.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    dry_run: bool,
}

/// A job, as administrators see it.
pub type JobView = jobs::JobView<JobKind, JobRoot>;

pub fn view(id: JobId, job: Job) -> JobView {
    let root = JobRoot { root: job.details.root.clone(), dry_run: imports::is_dry_run(&job) };
    JobView::new::<ParksJobs>(id, job, root)
}

/// 202 with the path of a job.
pub fn accepted(id: JobId, job: Job) -> Accepted<JobView> {
    Accepted::new(href(id), &view(id, job)).map(|answer| View::Administrator.cached(answer).retry_after(1))
}

/// Works on a job for as long as the request may last. 204 if it has succeeded by then, otherwise 202.
pub async fn finish(cx: &Context, lease: Lease) -> Either<NoContent, Accepted<JobView>> {
    let id = lease.id;
    let job = jobs::work(cx, lease).await;
    if job.status == jobs::Status::Succeeded { Either::First(NoContent) } else { Either::Second(accepted(id, job)) }
}
