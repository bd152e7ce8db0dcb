//! `GET /tracker/tenants/{tenantId}/jobs`

use table::EntityKey;
use web::{Context, Page, PageQuery, Path, Problem, Query, Route, Sample, problem};

use super::view::{JobView, view, view_from_outside};
use crate::access::{MEMBERSHIP, OF_TENANT, TENANT};
use crate::authorization::{SIGNED_IN, TenantAccess, membership};
use crate::keys::JobKey;
use crate::schema::TRACKER;
use crate::tenants::TenantPath;

pub fn route() -> Route {
    Route::get("listJobs", "/tracker/tenants/{tenantId}/jobs", SIGNED_IN, list)
        .summary("List the jobs of a tenant, newest first")
        .patterns(&[&MEMBERSHIP, &TENANT, &OF_TENANT])
        .problems(&[problem::NOT_FOUND])
        .sample(Sample::new("/tracker/tenants/tenant-0807/jobs"))
}

async fn list(
    cx: Context,
    Path(path): Path<TenantPath>,
    Query(query): Query<PageQuery>,
) -> Result<Page<JobView>, Problem> {
    let member = membership(&cx, path.tenant_id).await?.is_some();
    if !member {
        TenantAccess::load_also_platform(&cx, path.tenant_id).await?;
    }
    let after = cx.cursor(query.cursor.as_deref())?;
    let jobs = cx.access().table(&OF_TENANT, &TRACKER).query(path.tenant_id.id()).begins_with("job-").backward();
    let mut page = jobs.after(after).page(query.limit.0).await?;
    // An item that was written outside the platform under another key is no job.
    page.items.retain(|stored| JobKey::parse(&stored.key).is_some());
    cx.page(page, |stored| {
        let key = JobKey::parse(&stored.key).ok_or_else(|| Problem::internal("a job without a job's key"))?;
        let job = stored.read()?;
        Ok(if member { view(key.job, job) } else { view_from_outside(key.job, job) })
    })
}
