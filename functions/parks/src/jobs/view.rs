//! Jobs in responses.

use jobs::JobId;
use serde::Serialize;
use utoipa::ToSchema;
use web::{Accepted, Context, Either, NoContent, Problem};

use super::{Job, JobKind, Lease, ParksJobs, href};
use crate::imports;
use crate::names::CollectionId;
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

/// 204 if the work is done, otherwise 202 with its job.
pub type DoneOrAccepted = Either<NoContent, Accepted<JobView>>;

/// Works on a job for as long as the request may last.
pub async fn finish(cx: &Context, lease: Lease) -> DoneOrAccepted {
    let id = lease.id;
    done_or_accepted(id, jobs::work(cx, lease).await)
}

/// [`finish`] for a repeated request, whose job exists.
pub async fn resume(cx: &Context, collection: &CollectionId, id: JobId) -> Result<DoneOrAccepted, Problem> {
    Ok(done_or_accepted(id, jobs::work_again::<ParksJobs>(cx, collection, id).await?))
}

fn done_or_accepted(id: JobId, job: Job) -> DoneOrAccepted {
    if job.status == jobs::Status::Succeeded { Either::First(NoContent) } else { Either::Second(accepted(id, job)) }
}
