//! `GET /tracker/tenants/{tenantId}/projects/{projectId}/numbers/{number}`

use serde::Deserialize;
use table::EntityKey;
use utoipa::ToSchema;
use web::{Context, Path, Problem, Route, Sample, Tagged, problem};

use super::get::respond;
use super::{IssuePath, LoadedIssue};
use crate::access::{BY_NUMBER, ISSUE, MEMBERSHIP, PROJECT};
use crate::authorization::{SIGNED_IN, TenantAccess};
use crate::keys::IssueKey;
use crate::names::{ProjectId, TenantId};
use crate::schema::{INDEX, TRACKER};
use crate::values::number_key;
use crate::views::IssueView;

/// The path of a number.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NumberPath {
    tenant_id: TenantId,
    project_id: ProjectId,
    #[schema(minimum = 1, maximum = 1_000_000_000_000_i64)]
    number: u64,
}

pub fn route() -> Route {
    Route::get(
        "getIssueByNumber",
        "/tracker/tenants/{tenantId}/projects/{projectId}/numbers/{number}",
        SIGNED_IN,
        get_by_number,
    )
    .summary("Get the issue with a number")
    .patterns(&[&MEMBERSHIP, &BY_NUMBER, &PROJECT, &ISSUE])
    .problems(&[problem::NOT_FOUND])
    .sample(Sample::new("/tracker/tenants/tenant-0807/projects/project-35e9/numbers/1"))
}

async fn get_by_number(cx: Context, Path(path): Path<NumberPath>) -> Result<Tagged<IssueView>, Problem> {
    let NumberPath { tenant_id, project_id, number } = path;
    TenantAccess::load(&cx, tenant_id).await?;
    let key = number_key(number);
    let entries = cx.access().table(&BY_NUMBER, &TRACKER).query(project_id.id()).index(INDEX);
    let entry = entries.between(key.as_str(), key.as_str()).first().await?;
    let id = entry.and_then(|entry| IssueKey::parse(&entry.key)).ok_or_else(Problem::not_found)?.issue;
    let loaded = LoadedIssue::load(cx.access(), project_id, id).await?;
    // The index may still show a former number.
    let loaded = loaded.filter(|loaded| loaded.issue.num == number);
    respond(&cx, IssuePath { tenant_id, project_id, issue_id: id }, loaded).await
}
