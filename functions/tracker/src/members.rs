//! Operations on the members of a tenant, one file each. A tenant keeps at least one administrator.

pub mod add;
pub mod get;
pub mod list;
pub mod remove;
pub mod update;

use serde::Deserialize;
use table::{Access, AccessPattern, Action, Cause, Changes, Condition, EntityKey, Error, Idpid, Rev, Stored, item};
use utoipa::ToSchema;
use web::{Context, Problem, problem};

use crate::access::MEMBER;
use crate::items::{Member, Role};
use crate::keys::{MemberKey, TenantKey};
use crate::names::TenantId;
use crate::schema::TRACKER;

const LIST: &str = "/tracker/tenants/{tenantId}/members";
const ONE: &str = "/tracker/tenants/{tenantId}/members/{idpid}";

/// The members and the member of the samples.
const SAMPLE_LIST: &str = "/tracker/tenants/tenant-0807/members";
const SAMPLE: &str = "/tracker/tenants/tenant-0807/members/local:ann";

/// The path of a member.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemberPath {
    tenant_id: TenantId,
    #[schema(value_type = String, min_length = 3, max_length = 200)]
    idpid: Idpid,
}

async fn load(access: &Access, tenant: TenantId, user: &Idpid) -> Result<(Stored, Member), Problem> {
    let key = MemberKey { tenant, user: user.clone() };
    let stored = access.table(&MEMBER, &TRACKER).get_consistent(key.key()).await?.ok_or_else(Problem::not_found)?;
    let member = stored.read()?;
    Ok((stored, member))
}

/// The number of administrators that a member in this role adds to the tenant's count.
fn admins(role: Role) -> i64 {
    i64::from(role == Role::Admin)
}

/// Adds to the tenant's count of administrators, or only checks the tenant. The condition fails while the tenant is
/// being deleted.
fn count(tenant: TenantId, admins: i64) -> Action {
    let key = TenantKey { tenant };
    let action = match admins {
        0 => Action::check(&TRACKER, key),
        admins => Action::update(&TRACKER, key, Changes::new().add("Admins", admins)),
    };
    action.when(Condition::Absent("Deleting"))
}

/// Writes a member with the change of the tenant's count of administrators. 409 if none would be left, 412 if the member
/// was updated since it was read.
async fn write(
    cx: &Context,
    pattern: &'static AccessPattern,
    tenant: TenantId,
    member: Action,
    admins: i64,
) -> Result<Rev, Problem> {
    let mut tenant = count(tenant, admins);
    if admins < 0 {
        tenant = tenant.when(Condition::Above("Admins", item::number(1)));
    }
    cx.access().transact(pattern, &[tenant, member]).await.map_err(refusal)
}

fn refusal(error: Error) -> Problem {
    if let Some(tenant) = error.failed(0) {
        return if tenant.item.as_ref().is_none_or(|tenant| tenant.contains_key("Deleting")) {
            Problem::not_found()
        } else {
            problem::LAST_ADMIN.because("Make another member an administrator first.")
        };
    }
    match error.failed(1).map(|failed| failed.cause) {
        Some(Cause::Stale) => Problem::stale(),
        Some(Cause::Missing) => Problem::not_found(),
        _ => error.into(),
    }
}
