//! `GET /tracker/tenants/{tenantId}/projects`

use web::{Context, Page, Path, Problem, Query, Route, Sample, problem};

use super::{LIST, SAMPLE_LIST};
use crate::access::{BY_NAME, MEMBERSHIP};
use crate::authorization::{SIGNED_IN, TenantAccess};
use crate::by_name::{NameQuery, page};
use crate::keys::ProjectKey;
use crate::tenants::TenantPath;
use crate::views::ProjectEntry;

pub fn route() -> Route {
    Route::get("listProjects", LIST, SIGNED_IN, list)
        .summary("List the projects of a tenant by name")
        .patterns(&[&MEMBERSHIP, &BY_NAME])
        .problems(&[problem::NOT_FOUND])
        .sample(Sample::new(SAMPLE_LIST))
}

async fn list(
    cx: Context,
    Path(path): Path<TenantPath>,
    Query(query): Query<NameQuery>,
) -> Result<Page<ProjectEntry>, Problem> {
    TenantAccess::load(&cx, path.tenant_id).await?;
    let partition = path.tenant_id.id();
    page(&cx, &partition, &query, |ProjectKey { project, .. }, name| ProjectEntry { id: project, name }).await
}
