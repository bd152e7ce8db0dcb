//! `GET /tracker/tenants/{tenantId}/projects/{projectId}`

use web::{Context, Path, Problem, Route, Sample, Tagged, problem};

use super::{ONE, ProjectPath, SAMPLE};
use crate::access::{MEMBERSHIP, PROJECT};
use crate::authorization::{SIGNED_IN, TenantAccess};
use crate::project::Consistency;
use crate::views::ProjectView;

pub fn route() -> Route {
    Route::get("getProject", ONE, SIGNED_IN, get)
        .summary("Get a project with its attributes in column order")
        .patterns(&[&MEMBERSHIP, &PROJECT])
        .problems(&[problem::NOT_FOUND])
        .sample(Sample::new(SAMPLE))
}

async fn get(cx: Context, Path(path): Path<ProjectPath>) -> Result<Tagged<ProjectView>, Problem> {
    TenantAccess::load(&cx, path.tenant_id).await?;
    let schema = path.load(&cx, Consistency::Strong).await?;
    Ok(Tagged::new(&ProjectView::of(&schema)?, schema.stored.rev))
}
