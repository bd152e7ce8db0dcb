//! `DELETE /tracker/tenants/{tenantId}/projects/{projectId}`: the project is marked first, which hides it and closes its
//! gates, then a job deletes what is in it.

use jobs::{DoneOrAccepted, Start, finish, resume};
use table::{Cause, Error};
use web::{Context, IfMatch, Path, Problem, Query, Route, Sample, problem};

use super::{ONE, ProjectPath};
use crate::access::{ISSUE_ROWS, JOB, LEASE, MARK_DELETION, MEMBERSHIP, PROJECT, PROJECT_STEP, TOTALS};
use crate::authorization::{SIGNED_IN, TenantAccess};
use crate::jobs::{Conditions, TrackerJobs, mark_project};
use crate::project::{Consistency, Gates, Schema};
use crate::tenants::DeleteQuery;

pub fn route() -> Route {
    Route::delete("deleteProject", ONE, SIGNED_IN, delete)
        .summary("Delete a project and, with `cascade=true`, its issues")
        .patterns(&[&MEMBERSHIP, &PROJECT, &TOTALS, &MARK_DELETION, &JOB, &LEASE, &PROJECT_STEP, &ISSUE_ROWS])
        .timeout(web::route::MAX_TIMEOUT)
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, problem::HAS_DEPENDENTS, problem::CONFLICT])
        .sample(Sample::new("/tracker/tenants/tenant-0807/projects/project-35e9?cascade=true"))
}

async fn delete(
    cx: Context,
    Path(path): Path<ProjectPath>,
    Query(DeleteQuery { cascade }): Query<DeleteQuery>,
    tag: IfMatch,
) -> Result<DoneOrAccepted<TrackerJobs>, Problem> {
    let access = TenantAccess::load(&cx, path.tenant_id).await?;
    access.require_admin()?;
    let schema = Schema::load_also_deleted(cx.access(), path.tenant_id, path.project_id, Consistency::Strong).await?;
    let schema = schema.ok_or_else(Problem::not_found)?;
    if let Some(job) = schema.project.deleting {
        return resume::<TrackerJobs>(&cx, &path.tenant_id, job).await;
    }
    tag.check(schema.stored.rev)?;
    let gates = Gates::load(cx.access(), path.project_id).await?;
    if !cascade && gates.live() > 0 {
        return Err(has_issues(&gates));
    }
    let who = Some(access.me.to_string());
    let conditions = Conditions { is_empty: !cascade, is_unchanged: tag.names_tags() };
    let (job, actions) = mark_project(cx.access(), &schema, &gates, conditions, who, Start::Leased)?;
    cx.access().transact(&MARK_DELETION, &actions).await.map_err(|error| match error.failed(0) {
        Some(failed) if failed.cause == Cause::Stale => Problem::stale(),
        // Another request has marked it.
        Some(_) => Problem::not_found(),
        // An issue was created since the gates were read.
        None if matches!(error, Error::ConditionFailed(_)) => has_issues(&gates),
        None => error.into(),
    })?;
    Ok(finish(&cx, job.lease()).await)
}

fn has_issues(gates: &Gates) -> Problem {
    Problem::has_dependents(&[("issues", gates.live().max(1).unsigned_abs())])
}
