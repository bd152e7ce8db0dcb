//! `DELETE /tracker/tenants/{tenantId}/projects/{projectId}/issues/{issueId}`

use web::{Context, IfMatch, NoContent, Path, Problem, Route, Sample, problem};

use super::settle::{forget, settle};
use super::write::Write;
use super::{IssuePath, ONE, SAMPLE};
use crate::access::{DELETE_ISSUE, ISSUE, ISSUE_ROWS, MEMBERSHIP, PROJECT, UPDATE_ISSUE};
use crate::authorization::{SIGNED_IN, TenantAccess};
use crate::project::Consistency;

pub fn route() -> Route {
    Route::delete("deleteIssue", ONE, SIGNED_IN, delete)
        .summary("Delete an issue with its values")
        .patterns(&[&MEMBERSHIP, &PROJECT, &ISSUE, &UPDATE_ISSUE, &DELETE_ISSUE, &ISSUE_ROWS])
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, problem::CONFLICT])
        .sample(Sample::new(SAMPLE))
}

async fn delete(cx: Context, Path(path): Path<IssuePath>, tag: IfMatch) -> Result<NoContent, Problem> {
    TenantAccess::load(&cx, path.tenant_id).await?.require_editor()?;
    cx.retry(|| attempt(&cx, path, &tag)).await?.ok_or_else(Problem::stale)
}

/// None if the issue is not the one that the client of `If-Match` has seen. 412, which retries, for any other lost race.
async fn attempt(cx: &Context, path: IssuePath, tag: &IfMatch) -> Result<Option<NoContent>, Problem> {
    let (access, id) = (cx.access(), path.issue_id);
    let schema = path.load_project(cx, Consistency::Strong).await?;
    let loaded = path.load(cx).await?;
    if tag.check(loaded.stored.rev).is_err() {
        return Ok(None);
    }
    if loaded.issue.unsettled.is_some() {
        settle(access, id).await?;
        return Err(Problem::stale());
    }
    let prepared = Write::of(&schema, Some(loaded), id, None).prepare(access)?;
    match access.transact(&DELETE_ISSUE, &prepared.actions).await {
        Ok(_) => {
            if !prepared.settled
                && let Err(problem) = forget(access, id).await
            {
                tracing::warn!(issue = id.id(), %problem, "deleting an issue's rows failed; the next run will retry");
            }
            Ok(Some(NoContent))
        }
        Err(error) => prepared.lost(error, tag),
    }
}
