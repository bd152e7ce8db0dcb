//! Operations on the members of a tenant, one file each. A tenant keeps at least one administrator, and if one can sign
//! in, one who can.

pub mod add;
pub mod get;
pub mod list;
pub mod remove;
pub mod update;

use serde::Deserialize;
use table::{Access, AccessPattern, Action, Cause, Changes, Condition, EntityKey, Error, Idpid, Rev, Stored, item};
use utoipa::ToSchema;
use web::{Context, Problem, problem};

use crate::access::{MEMBER, OF_TENANT, TENANT};
use crate::items::{Member, Role, Tenant};
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

/// Members that are read at once.
const PAGE: u32 = 100;

/// Writes a member with the change of the tenant's count of administrators. 409 if it removes the last one, or the last
/// one who can sign in, 412 if the member was updated since it was read.
async fn write(
    cx: &Context,
    pattern: &'static AccessPattern,
    MemberKey { tenant, user }: MemberKey,
    member: Action,
    admins: i64,
) -> Result<Rev, Problem> {
    let one_less = admins < 0;
    let counted = count(tenant, admins).when_all(one_less.then(|| Condition::Above("Admins", item::number(1))));
    let mut actions = vec![counted, member];
    // Without an administrator who cannot sign in, the tenant has as many who can.
    if one_less && cx.can_sign_in(&user) {
        actions.push(other_admin_stays(cx, tenant, &user).await?);
    }
    cx.access().transact(pattern, &actions).await.map_err(refusal)
}

/// The action that checks that another administrator stays one. 409 if no other administrator can sign in: those whose
/// issuers were removed from the configuration do not count. 404 if the tenant is being deleted, whose members are
/// removed first.
async fn other_admin_stays(cx: &Context, tenant: TenantId, user: &Idpid) -> Result<Action, Problem> {
    let stored = cx.access().table(&TENANT, &TRACKER).get_consistent(TenantKey { tenant }.key()).await?;
    let counted: Tenant = stored.ok_or_else(Problem::not_found)?.read()?;
    if counted.deleting.is_some() {
        return Err(Problem::not_found());
    }
    // A tenant may have tens of thousands of members, which are not read in vain.
    if counted.admins <= 1 {
        return Err(last_admin());
    }
    let members = cx.access().table(&OF_TENANT, &TRACKER).query(tenant.id()).begins_with("user-").consistent();
    let mut after = None;
    loop {
        let page = members.clone().after(after).page(PAGE).await?;
        for stored in page.items {
            let Some(other) = MemberKey::parse(&stored.key) else { continue };
            let is_admin = stored.read::<Member>()?.role == Role::Admin;
            if is_admin && other.user != *user && cx.can_sign_in(&other.user) {
                return Ok(Action::check(&TRACKER, other).when(Condition::Equals("Role", item::text("admin"))));
            }
        }
        after = page.next;
        if after.is_none() {
            return Err(last_admin());
        }
    }
}

fn refusal(error: Error) -> Problem {
    if let Some(tenant) = error.failed(0) {
        let is_deleted = tenant.item.as_ref().is_none_or(|tenant| tenant.contains_key("Deleting"));
        return if is_deleted { Problem::not_found() } else { last_admin() };
    }
    match (error.failed(1).map(|failed| failed.cause), error.failed(2)) {
        (Some(Cause::Stale), _) => Problem::stale(),
        (Some(Cause::Missing), _) => Problem::not_found(),
        // The other administrator is no longer one.
        (None, Some(_)) => Problem::lost_race(),
        _ => error.into(),
    }
}

fn last_admin() -> Problem {
    problem::LAST_ADMIN.because("Make another member an administrator first.")
}
