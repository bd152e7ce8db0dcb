//! Who is calling, and what that lets them do in a tenant: decided by the member's row, read anew for every request.

use table::{EntityKey, Idpid};
use web::{Problem, Request};

use crate::access::{MEMBERSHIP, TENANT};
use crate::items::{Member, Role, Tenant};
use crate::keys::{MemberKey, TenantKey};
use crate::names::TenantId;
use crate::schema::TRACKER;

/// The role of who runs the platform: makes tenants and manages their members, and sees no project.
pub const PLATFORM_ADMIN: &str = "platform-admin";

/// The caller in keys.
pub fn me(request: &Request) -> Result<Idpid, Problem> {
    Ok(request.principal().signed_in()?.idpid().clone())
}

/// What the caller is in a tenant, if anything.
pub async fn role(request: &Request, tenant: TenantId) -> Result<Option<Role>, Problem> {
    let key = MemberKey { tenant, user: me(request)? };
    let stored = request.access().table(&MEMBERSHIP, &TRACKER).get_consistent(key.key()).await?;
    Ok(stored.map(|stored| stored.read::<Member>()).transpose()?.map(|member| member.role))
}

/// 404 for whoever is no member; 403 for whose role is too low.
pub async fn at_least(request: &Request, tenant: TenantId, least: Role) -> Result<(), Problem> {
    match role(request, tenant).await? {
        None => Err(Problem::not_found()),
        Some(role) if role < least => Err(too_low(least)),
        Some(_) => Ok(()),
    }
}

/// The same, and platform administrators may do it in any tenant that there is.
pub async fn at_least_or_platform(request: &Request, tenant: TenantId, least: Role) -> Result<(), Problem> {
    if request.principal().has_role(PLATFORM_ADMIN) {
        exists(request, tenant).await
    } else {
        at_least(request, tenant, least).await
    }
}

/// 404 unless the tenant is there and not being deleted.
async fn exists(request: &Request, tenant: TenantId) -> Result<(), Problem> {
    let stored = request.access().table(&TENANT, &TRACKER).get_consistent(TenantKey { tenant }.key()).await?;
    match stored.map(|stored| stored.read::<Tenant>()).transpose()? {
        Some(tenant) if tenant.deleting.is_none() => Ok(()),
        _ => Err(Problem::not_found()),
    }
}

fn too_low(least: Role) -> Problem {
    let least = match least {
        Role::Viewer => "a viewer",
        Role::Editor => "an editor",
        Role::Admin => "an admin",
    };
    Problem::forbidden(format!("This needs {least} of the tenant."))
}
