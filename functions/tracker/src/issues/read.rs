//! One issue, by its id or by its number.

use serde::Deserialize;
use table::EntityKey;
use utoipa::ToSchema;
use web::{Answer, Problem, Request};

use super::{IssuePath, Known};
use crate::access::BY_NUMBER;
use crate::callers::at_least;
use crate::items::Role;
use crate::keys::IssueKey;
use crate::names::{ProjectId, TenantId};
use crate::project::Read;
use crate::projects;
use crate::schema::{INDEX, TRACKER};
use crate::tenants::one::tag;
use crate::values::number_key;
use crate::views::IssueView;

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NumberPath {
    tenant_id: TenantId,
    project_id: ProjectId,
    #[schema(minimum = 1, maximum = 1_000_000_000_000_i64)]
    number: u64,
}

pub async fn get(request: Request) -> Result<Answer, Problem> {
    let path: IssuePath = request.path()?;
    at_least(&request, path.tenant_id, Role::Viewer).await?;
    let known = Known::read(request.access(), path.project_id, path.issue_id).await?;
    answer(&request, path.tenant_id, path.project_id, known).await
}

pub async fn find(request: Request) -> Result<Answer, Problem> {
    let NumberPath { tenant_id, project_id, number } = request.path()?;
    at_least(&request, tenant_id, Role::Viewer).await?;
    let key = number_key(number);
    let entry = request.access().table(&BY_NUMBER, &TRACKER).query(project_id.id()).index(INDEX);
    let entry = entry.between(key.as_str(), key.as_str()).first().await?;
    let id = entry.and_then(|entry| IssueKey::parse(&entry.key)).ok_or_else(Problem::not_found)?.issue;
    let known = Known::read(request.access(), project_id, id).await?;
    // The index may still show the number that it had before.
    answer(&request, tenant_id, project_id, known.filter(|known| known.issue.num == number)).await
}

async fn answer(
    request: &Request,
    tenant: TenantId,
    project: ProjectId,
    known: Option<Known>,
) -> Result<Answer, Problem> {
    let schema = projects::read(request, tenant, project, Read::Strong).await?;
    let known = known.ok_or_else(Problem::not_found)?;
    Ok(Answer::ok(&IssueView::new(known.id, &schema, &known.issue)).etag(tag(&known.stored)))
}
