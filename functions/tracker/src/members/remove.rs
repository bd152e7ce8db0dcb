//! `DELETE /tracker/tenants/{tenantId}/members/{idpid}`, by an administrator or by the member.

use table::{Action, Idpid};
use web::{Context, IfMatch, NoContent, Path, Problem, Route, Sample, problem};

use super::{MemberPath, ONE, SAMPLE, admins, load, write};
use crate::access::{MEMBER, MEMBERSHIP, OF_TENANT, REMOVE_MEMBER, TENANT};
use crate::authorization::{SIGNED_IN, TenantAccess};
use crate::keys::MemberKey;
use crate::names::TenantId;
use crate::schema::TRACKER;

pub fn route() -> Route {
    Route::delete("removeMember", ONE, SIGNED_IN, remove)
        .summary("Remove a member, or leave a tenant; the last administrator cannot be removed")
        .patterns(&[&MEMBERSHIP, &TENANT, &MEMBER, &OF_TENANT, &REMOVE_MEMBER])
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, problem::LAST_ADMIN, problem::CONFLICT])
        .sample(Sample::new(SAMPLE))
}

async fn remove(
    cx: Context,
    Path(MemberPath { tenant_id: tenant, idpid }): Path<MemberPath>,
    tag: IfMatch,
) -> Result<NoContent, Problem> {
    let access = TenantAccess::load_also_platform(&cx, tenant).await?;
    if access.me != idpid {
        access.require_admin()?;
    }
    remove_member(&cx, tenant, &idpid, &tag).await?;
    Ok(NoContent)
}

/// Removes a member after the caller was authorized. 404 if there is no such member, 409 for the last administrator.
pub async fn remove_member(cx: &Context, tenant: TenantId, idpid: &Idpid, tag: &IfMatch) -> Result<(), Problem> {
    cx.retry_stale(tag, || async {
        let (stored, member) = load(cx.access(), tenant, idpid).await?;
        tag.check(stored.rev)?;
        let delete = Action::delete(&TRACKER, stored.key.clone()).if_unchanged(&stored);
        let key = MemberKey { tenant, user: idpid.clone() };
        write(cx, &REMOVE_MEMBER, key, delete, -admins(member.role)).await?;
        Ok(())
    })
    .await
}
