//! `DELETE /parks/jobs/{jobId}`: cancels an import. What it has written stays.

use jobs::{Cancellation, NOT_CANCELLABLE};
use table::EntityKey;
use web::{Accepted, Context, Either, NoContent, Path, Problem, Route, Sample, problem};

use super::get::{JobPath, ONE};
use super::view::{JobView, accepted};
use super::{Job, JobKind, ParksJobs};
use crate::access::CANCEL_JOB;
use crate::imports;
use crate::keys::JobKey;
use crate::schema::PARKS;
use crate::view::ADMINISTRATORS;

pub fn route() -> Route {
    Route::delete("cancelJob", ONE, ADMINISTRATORS, cancel)
        .summary("Cancel an import; what it has written stays")
        .patterns(&[&CANCEL_JOB])
        .problems(&[problem::NOT_FOUND, NOT_CANCELLABLE, problem::CONFLICT])
        .sample(Sample::new("/parks/jobs/019e0000-0000-7000-8000-000000000001"))
}

async fn cancel(cx: Context, Path(path): Path<JobPath>) -> Result<Either<NoContent, Accepted<JobView>>, Problem> {
    let (access, id) = (cx.access(), path.job_id);
    cx.retry(|| async {
        let stored = access.table(&CANCEL_JOB, &PARKS).get_consistent(JobKey { job: id }.key()).await?;
        let stored = stored.ok_or_else(Problem::not_found)?;
        let job: Job = stored.read()?;
        if job.kind != JobKind::Import {
            return Err(NOT_CANCELLABLE.because("Only imports can be cancelled."));
        }
        let collection = imports::collection(&job)?;
        match jobs::cancel::<ParksJobs>(access, &CANCEL_JOB, (&collection, id), &stored).await? {
            Cancellation::Ended => Ok(Either::First(NoContent)),
            Cancellation::Requested(job) => Ok(Either::Second(accepted(id, *job))),
        }
    })
    .await
}
