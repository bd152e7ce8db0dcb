//! `POST /tracker/tenants/{tenantId}/jobs/{jobId}/undo`: deletes the issues of an import that were not updated since.

use jobs::limits::TOO_MANY_JOBS;
use jobs::{JobId, Jobs, begin_now};
use web::{Accepted, Context, IdempotencyKey, Kind as ProblemKind, Path, Problem, Route, Sample, problem};

use super::get::JobPath;
use super::view::{JobView, view};
use super::{Details, Job, Kind, Limited, TrackerJobs};
use crate::access::{BEGIN_JOB, JOB, MEMBERSHIP, OPEN_JOBS, UNDO};
use crate::attributes::refusal;
use crate::authorization::{SIGNED_IN, TenantAccess};
use crate::imports::UndoParams;
use crate::schema::TRACKER;

const UNDO_PATH: &str = "/tracker/tenants/{tenantId}/jobs/{jobId}/undo";

pub const NOT_UNDOABLE: ProblemKind = ProblemKind::new(409, "not-undoable", "The job cannot be undone");

pub fn route() -> Route {
    Route::post("undoImport", UNDO_PATH, SIGNED_IN, undo)
        .summary("Delete the issues that an import has created, except those that were updated since")
        .patterns(&[&MEMBERSHIP, &JOB, &OPEN_JOBS, &UNDO, &BEGIN_JOB])
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, NOT_UNDOABLE, TOO_MANY_JOBS, problem::CONFLICT])
        .sample(Sample::new("/tracker/tenants/tenant-0807/jobs/019e0000-0000-7000-8000-000000000001/undo"))
}

async fn undo(cx: Context, Path(path): Path<JobPath>, once: IdempotencyKey) -> Result<Accepted<JobView>, Problem> {
    let caller = TenantAccess::load(&cx, path.tenant_id).await?;
    caller.require_admin()?;
    if let Some(earlier) = once.earlier(&cx, &UNDO, &TRACKER).await? {
        return Ok(earlier);
    }
    let import = jobs::load::<TrackerJobs>(&cx, &path.tenant_id, path.job_id).await?;
    let (Kind::Import, Some(project)) = (import.kind, import.details.project) else {
        return Err(NOT_UNDOABLE.because("Only imports can be undone."));
    };
    if import.is_open() {
        return Err(NOT_UNDOABLE.because("The import has not ended. Cancel it first."));
    }
    let id = JobId::new();
    let job = Job::new(cx.access(), Kind::UndoImport, Details::project(project), Some(caller.me.to_string()));
    let job = job.at(&UndoParams::of(path.job_id))?;
    let (view, href) = (view(id, job.clone()), TrackerJobs::href(&path.tenant_id, id));
    let new = Limited { tenant: path.tenant_id, project, person: caller.me, id, job };
    let accepted = cx.retry(|| async {
        let actions = match new.create(cx.access()).await {
            Ok(actions) => actions,
            // The same request, sent twice at once, may have taken the last place.
            Err(problem) if problem.kind() == TOO_MANY_JOBS => {
                return once.earlier(&cx, &UNDO, &TRACKER).await?.ok_or(problem);
            }
            Err(problem) => return Err(problem),
        };
        // Another request may have taken the same slot.
        once.accept(&cx, &UNDO, &TRACKER, actions, href.clone(), &view).await.map_err(refusal)
    });
    let accepted = accepted.await?;
    begin_now::<TrackerJobs>(cx.access(), id).await;
    Ok(accepted)
}
