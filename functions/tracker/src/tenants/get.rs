//! `GET /tracker/tenants/{tenantId}`

use web::{Context, Path, Problem, Route, Sample, Tagged, problem};

use super::{ONE, SAMPLE, TenantPath, load};
use crate::access::{MEMBERSHIP, TENANT};
use crate::authorization::{SIGNED_IN, TenantAccess};
use crate::views::TenantView;

pub fn route() -> Route {
    Route::get("getTenant", ONE, SIGNED_IN, get)
        .summary("Get a tenant")
        .patterns(&[&MEMBERSHIP, &TENANT])
        .problems(&[problem::NOT_FOUND])
        .sample(Sample::new(SAMPLE))
}

async fn get(cx: Context, Path(path): Path<TenantPath>) -> Result<Tagged<TenantView>, Problem> {
    TenantAccess::load_also_platform(&cx, path.tenant_id).await?;
    let (stored, tenant) = load(&cx, path.tenant_id).await?;
    Ok(Tagged::new(&TenantView::new(path.tenant_id, &tenant), stored.rev))
}
