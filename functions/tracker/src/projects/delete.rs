//! `DELETE /tracker/tenants/{tenantId}/projects/{projectId}`: the project is marked first, which hides it and closes its
//! gates, then a job deletes what is in it.

use jobs::{DoneOrAccepted, Start, finish, resume};
use web::{Context, IfMatch, Path, Problem, Query, Route, Sample, problem};

use super::{ONE, ProjectPath};
use crate::access::{ISSUE_ROWS, JOB, LEASE, MARK_DELETION, MEMBERSHIP, PROJECT, PROJECT_STEP, TOTALS};
use crate::attributes::refusal;
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
    // After a lost race the project may have the mark of another request, or other issues.
    cx.retry_stale(&tag, || async {
        let (tenant, project) = (path.tenant_id, path.project_id);
        let schema = Schema::load_also_deleted(cx.access(), tenant, project, Consistency::Strong).await?;
        let schema = schema.ok_or_else(Problem::not_found)?;
        if let Some(job) = schema.project.deleting {
            return resume::<TrackerJobs>(&cx, &tenant, job).await;
        }
        tag.check(schema.stored.rev)?;
        let gates = Gates::load(cx.access(), project).await?;
        if !cascade && gates.live() > 0 {
            return Err(Problem::has_dependents(&[("issues", gates.live().unsigned_abs())]));
        }
        let who = Some(access.me.to_string());
        let conditions = Conditions { is_empty: !cascade, is_unchanged: tag.names_tags() };
        let (job, actions) = mark_project(cx.access(), &schema, &gates, conditions, who, Start::Leased)?;
        cx.access().transact(&MARK_DELETION, &actions).await.map_err(refusal)?;
        Ok(finish(&cx, job.lease()).await)
    })
    .await
}
