//! `GET /tracker/tenants/{tenantId}/projects/{projectId}/issues/{issueId}`

use web::{Context, Path, Problem, Route, Sample, Tagged, problem};

use super::{IssuePath, LoadedIssue, ONE, SAMPLE};
use crate::access::{ISSUE, MEMBERSHIP, PROJECT};
use crate::authorization::{SIGNED_IN, TenantAccess};
use crate::project::Consistency;
use crate::views::IssueView;

pub fn route() -> Route {
    Route::get("getIssue", ONE, SIGNED_IN, get)
        .summary("Get an issue with all its values")
        .patterns(&[&MEMBERSHIP, &PROJECT, &ISSUE])
        .problems(&[problem::NOT_FOUND])
        .sample(Sample::new(SAMPLE))
}

async fn get(cx: Context, Path(path): Path<IssuePath>) -> Result<Tagged<IssueView>, Problem> {
    TenantAccess::load(&cx, path.tenant_id).await?;
    let loaded = LoadedIssue::load(cx.access(), path.project_id, path.issue_id).await?;
    respond(&cx, path, loaded).await
}

/// The response with an issue. 404 without one, and if its project is being deleted.
pub async fn respond(cx: &Context, path: IssuePath, loaded: Option<LoadedIssue>) -> Result<Tagged<IssueView>, Problem> {
    // The project is read after the issue, so that it has the attributes of the issue's values.
    let schema = path.load_project(cx, Consistency::Strong).await?;
    let loaded = loaded.ok_or_else(Problem::not_found)?;
    Ok(Tagged::new(&IssueView::new(loaded.id, &schema, &loaded.issue), loaded.stored.rev))
}
