//! `DELETE /tracker/tenants/{tenantId}/jobs/{jobId}`: cancels an import, an export or an undo. What it has written stays.

use jobs::{Cancellation, DoneOrAccepted, NOT_CANCELLABLE};
use table::EntityKey;
use web::{Context, Either, NoContent, Path, Problem, Route, Sample, problem};

use super::get::{JobPath, ONE};
use super::{Job, Kind, TrackerJobs};
use crate::access::{CANCEL_JOB, MEMBERSHIP};
use crate::authorization::{SIGNED_IN, TenantAccess};
use crate::items::Role;
use crate::keys::JobKey;
use crate::schema::TRACKER;

pub fn route() -> Route {
    Route::delete("cancelJob", ONE, SIGNED_IN, cancel)
        .summary("Cancel an import, an export or an undo; what it has written stays")
        .patterns(&[&MEMBERSHIP, &CANCEL_JOB])
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, NOT_CANCELLABLE, problem::CONFLICT])
        .sample(Sample::new("/tracker/tenants/tenant-0807/jobs/019e0000-0000-7000-8000-000000000001"))
}

async fn cancel(cx: Context, Path(path): Path<JobPath>) -> Result<DoneOrAccepted<TrackerJobs>, Problem> {
    let caller = TenantAccess::load(&cx, path.tenant_id).await?;
    let (access, key) = (cx.access(), JobKey { tenant: path.tenant_id, job: path.job_id });
    cx.retry(|| async {
        let stored = access.table(&CANCEL_JOB, &TRACKER).get_consistent(key.key()).await?;
        let stored = stored.ok_or_else(Problem::not_found)?;
        let job: Job = stored.read()?;
        if !caller.has(Role::Editor) && job.created_by.as_deref() != Some(caller.me.as_str()) {
            let detail = "This operation is for editors of the tenant and for the person who created the job.";
            return Err(Problem::forbidden(detail));
        }
        if !matches!(job.kind, Kind::Import | Kind::UndoImport | Kind::Export) {
            return Err(NOT_CANCELLABLE.because("Only imports, exports and undo jobs can be cancelled."));
        }
        match jobs::cancel::<TrackerJobs>(access, &CANCEL_JOB, (&path.tenant_id, path.job_id), &stored).await? {
            Cancellation::Ended => Ok(Either::First(NoContent)),
            Cancellation::Requested(job) => {
                Ok(Either::Second(jobs::accepted::<TrackerJobs>(&path.tenant_id, path.job_id, *job)))
            }
        }
    })
    .await
}
