//! What the caller may do in a tenant. Every operation on a tenant starts here.

use table::{Access, EntityKey, Error, Idpid};
use web::{Context, Problem, Who};

use crate::access::{MEMBERSHIP, TENANT};
use crate::items::{Member, Role, Tenant};
use crate::keys::{MemberKey, TenantKey};
use crate::names::TenantId;
use crate::schema::TRACKER;

/// The token role that creates tenants and manages their members. It gives no access to projects.
pub const PLATFORM_ADMIN: &str = "platform-admin";

pub const PLATFORM_ADMINS: Who = Who::Role(PLATFORM_ADMIN);

/// The stored membership decides.
pub const SIGNED_IN: Who = Who::SignedIn;

/// A tenant that the caller may see, with the caller's role in it.
#[derive(Debug)]
pub struct TenantAccess {
    pub me: Idpid,
    /// None for a platform administrator, whose membership is not read.
    role: Option<Role>,
}

impl TenantAccess {
    /// Loads the caller's membership in a tenant. 404 for callers who are no members.
    pub async fn load(cx: &Context, tenant: TenantId) -> Result<Self, Problem> {
        let role = membership(cx, tenant).await?.ok_or_else(Problem::not_found)?;
        Ok(Self { me: me(cx)?, role: Some(role) })
    }

    /// [`Self::load`] that also admits platform administrators to any tenant that exists and is not being deleted.
    pub async fn load_also_platform(cx: &Context, tenant: TenantId) -> Result<Self, Problem> {
        if !is_platform_admin(cx) {
            return Self::load(cx, tenant).await;
        }
        let stored = cx.access().table(&TENANT, &TRACKER).get_consistent(TenantKey { tenant }.key()).await?;
        match stored.map(|stored| stored.read::<Tenant>()).transpose()? {
            Some(tenant) if tenant.deleting.is_none() => Ok(Self { me: me(cx)?, role: None }),
            _ => Err(Problem::not_found()),
        }
    }

    /// 403 unless the caller is an editor or an administrator of the tenant.
    pub fn require_editor(&self) -> Result<(), Problem> {
        if self.has(Role::Editor) {
            Ok(())
        } else {
            Err(Problem::forbidden("This operation is for editors and administrators of the tenant."))
        }
    }

    /// 403 unless the caller administers the tenant, or was admitted as a platform administrator.
    pub fn require_admin(&self) -> Result<(), Problem> {
        if self.has(Role::Admin) || self.role.is_none() {
            Ok(())
        } else {
            Err(Problem::forbidden("This operation is for administrators of the tenant."))
        }
    }

    /// Whether the caller is a member with this role or a higher one.
    pub fn has(&self, least: Role) -> bool {
        self.role.is_some_and(|role| role >= least)
    }
}

/// The caller.
pub fn me(cx: &Context) -> Result<Idpid, Problem> {
    Ok(cx.principal().signed_in()?.idpid().clone())
}

/// The caller's role in a tenant. None for callers who are no members.
pub async fn membership(cx: &Context, tenant: TenantId) -> Result<Option<Role>, Problem> {
    Ok(role_of(cx.access(), tenant, me(cx)?).await?)
}

/// A person's role in a tenant. None for a person who is no member.
pub async fn role_of(access: &Access, tenant: TenantId, user: Idpid) -> Result<Option<Role>, Error> {
    let stored = access.table(&MEMBERSHIP, &TRACKER).get_consistent(MemberKey { tenant, user }.key()).await?;
    Ok(stored.map(|stored| stored.read::<Member>()).transpose()?.map(|member| member.role))
}

pub fn is_platform_admin(cx: &Context) -> bool {
    cx.principal().has_role(PLATFORM_ADMIN)
}
