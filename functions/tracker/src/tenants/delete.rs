//! `DELETE /tracker/tenants/{tenantId}`: the tenant is marked first, which hides it, then a job deletes what is in it.

use jobs::{DoneOrAccepted, Start, finish, resume};
use table::{Action, Changes, Condition, EntityKey, item};
use web::{Context, IfMatch, Path, Problem, Query, Route, Sample, problem};

use super::{DeleteQuery, ONE, TenantPath};
use crate::access::{ISSUE_ROWS, JOB, LEASE, MARK_DELETION, OF_TENANT, PROJECT, TENANT, TENANT_STEP, TOTALS};
use crate::attributes::refusal;
use crate::authorization::{PLATFORM_ADMINS, me};
use crate::items::Tenant;
use crate::jobs::{Details, Job, Kind, NewJob, TrackerJobs, hide_tenant};
use crate::keys::TenantKey;
use crate::schema::TRACKER;

/// Members that the transaction of the mark removes. The request removes up to 1000 others before its response, and the
/// job those that remain.
const MAX_MEMBERS: u32 = 90;

pub fn route() -> Route {
    Route::delete("deleteTenant", ONE, PLATFORM_ADMINS, delete)
        .summary("Delete a tenant and, with `cascade=true`, everything in it")
        .patterns(&[&TENANT, &MARK_DELETION, &JOB, &LEASE, &TENANT_STEP, &PROJECT, &TOTALS, &ISSUE_ROWS, &OF_TENANT])
        .timeout(web::route::MAX_TIMEOUT)
        .problems(&[problem::NOT_FOUND, problem::HAS_DEPENDENTS, problem::CONFLICT])
        .sample(Sample::new("/tracker/tenants/tenant-0807?cascade=true"))
}

async fn delete(
    cx: Context,
    Path(TenantPath { tenant_id }): Path<TenantPath>,
    Query(DeleteQuery { cascade }): Query<DeleteQuery>,
    tag: IfMatch,
) -> Result<DoneOrAccepted<TrackerJobs>, Problem> {
    let who = me(&cx)?.to_string();
    // After a lost race the tenant may have the mark of another request, or other projects.
    cx.retry_stale(&tag, || async {
        let key = TenantKey { tenant: tenant_id };
        let stored = cx.access().table(&TENANT, &TRACKER).get_consistent(key.key()).await?;
        let stored = stored.ok_or_else(Problem::not_found)?;
        let tenant: Tenant = stored.read()?;
        if let Some(job) = tenant.deleting {
            // The request that has marked the tenant may have died before this.
            hide_tenant(cx.access(), tenant_id).await?;
            return resume::<TrackerJobs>(&cx, &tenant_id, job).await;
        }
        tag.check(stored.rev)?;
        if tenant.projects > 0 && !cascade {
            return Err(Problem::has_dependents(&[("projects", tenant.projects.unsigned_abs())]));
        }
        let job = Job::new(cx.access(), Kind::DeleteTenant, Details::TENANT, Some(who.clone()));
        let job = NewJob::new(cx.access(), tenant_id, job, Start::Leased)?;
        let mark = Changes::new().set("Deleting", item::text(job.id.to_string()));
        let mut mark = Action::update(&TRACKER, key, mark).when(Condition::Absent("Deleting"));
        if !cascade {
            mark = mark.when(Condition::Equals("Projects", item::number(tenant.projects)));
        }
        let mark = tag.guard(mark, &stored);
        let members = cx.access().table(&OF_TENANT, &TRACKER).query(tenant_id.id()).begins_with("user-").consistent();
        let members = members.page(MAX_MEMBERS).await?;
        let removals = members.items.into_iter().map(|stored| Action::delete(&TRACKER, stored.key).or_absent());
        let actions: Vec<_> = [mark].into_iter().chain(job.actions.clone()).chain(removals).collect();
        cx.access().transact(&MARK_DELETION, &actions).await.map_err(refusal)?;
        if members.next.is_some() {
            // A member's request looks for the membership only. The job, which may start later,
            // removes those that are left.
            hide_tenant(cx.access(), tenant_id).await?;
        }
        Ok(finish(&cx, job.lease()).await)
    })
    .await
}
