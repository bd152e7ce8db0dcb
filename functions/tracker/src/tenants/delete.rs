//! `DELETE` of a tenant.

use serde::Deserialize;
use table::{Action, Cause, Changes, Condition, EntityKey, item};
use utoipa::ToSchema;
use web::{Answer, Problem, Request};

use super::one::{TenantPath, tag};
use crate::access::{BEGIN_DELETION, OF_TENANT, TENANT};
use crate::callers::me;
use crate::items::Tenant;
use crate::keys::TenantKey;
use crate::schema::TRACKER;
use crate::work::routes::{finish, resume};
use crate::work::{Held, Kind, Start, begin};

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeleteQuery {
    /// With all that lies in it.
    #[serde(default)]
    pub cascade: bool,
}

/// How many members leave with the mark, in its transaction.
const AT_ONCE: u32 = 90;

pub async fn delete(request: Request) -> Result<Answer, Problem> {
    let TenantPath { tenant_id } = request.path()?;
    let DeleteQuery { cascade } = request.query()?;
    let key = TenantKey { tenant: tenant_id };
    let stored = request.access().table(&TENANT, &TRACKER).get_consistent(key.key()).await?;
    let stored = stored.ok_or_else(Problem::not_found)?;
    let tenant: Tenant = stored.read()?;
    if let Some(work) = tenant.deleting {
        return resume(&request, tenant_id, &work).await;
    }
    request.if_match().check(tag(&stored))?;
    if tenant.projects > 0 && !cascade {
        return Err(Problem::has_dependents(&[("projects", u64::try_from(tenant.projects).unwrap_or_default())]));
    }
    let who = Some(me(&request)?.to_string());
    let begun = begin(request.access(), tenant_id, Kind::DeleteTenant, (None, None), who, Start::Held)?;
    let mark = Changes::new().set("Deleting", item::text(begun.id.id()));
    let mark = Action::update(&TRACKER, key, mark).when(Condition::Absent("Deleting"));
    let mark = if cascade { mark } else { mark.when(Condition::Equals("Projects", item::number(tenant.projects))) };
    let mark = if request.if_match().is_absent() { mark } else { mark.if_unchanged(&stored) };
    // From here on the tenant is nobody's. Where there are more members, the work's first step goes on.
    let members = request.access().table(&OF_TENANT, &TRACKER).query(tenant_id.id()).begins_with("user-").consistent();
    let members = members.page(AT_ONCE).await?.items;
    let leave = members.into_iter().map(|stored| Action::delete(&TRACKER, stored.key).or_absent());
    let actions: Vec<_> = [mark].into_iter().chain(begun.actions.clone()).chain(leave).collect();
    request.access().transact(&BEGIN_DELETION, &actions).await.map_err(|error| match error.failed(0) {
        Some(failed) if failed.cause == Cause::Stale => Problem::stale(),
        Some(_) => Problem::conflict(),
        None => error.into(),
    })?;
    finish(&request, Held::made(tenant_id, begun)).await
}
