//! `PATCH /tracker/tenants/{tenantId}/members/{idpid}`

use serde::Deserialize;
use table::{Action, Changes};
use utoipa::ToSchema;
use web::{Context, IfMatch, MergePatch, Path, Problem, Route, Sample, Tagged, problem};

use super::{MemberPath, ONE, SAMPLE, admins, load, write};
use crate::access::{MEMBER, MEMBERSHIP, OF_TENANT, TENANT, UPDATE_MEMBER};
use crate::authorization::{SIGNED_IN, TenantAccess};
use crate::items::{Member, Role};
use crate::keys::MemberKey;
use crate::schema::TRACKER;
use crate::views::MemberView;

/// The fields of a member that can be updated.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemberPatch {
    #[serde(default)]
    #[schema(nullable = false)]
    role: Option<Role>,
    #[serde(default)]
    #[schema(nullable = false, max_length = 200)]
    name: Option<String>,
}

pub fn route() -> Route {
    Route::patch("updateMember", ONE, SIGNED_IN, update)
        .summary("Update a member's role or name; the last administrator cannot be demoted")
        .patterns(&[&MEMBERSHIP, &TENANT, &MEMBER, &OF_TENANT, &UPDATE_MEMBER])
        .problems(&[
            problem::FORBIDDEN,
            problem::NOT_FOUND,
            problem::UNPROCESSABLE,
            problem::LAST_ADMIN,
            problem::CONFLICT,
        ])
        .sample(Sample::new(SAMPLE).body(r#"{"role":"editor"}"#))
}

async fn update(
    cx: Context,
    Path(MemberPath { tenant_id: tenant, idpid }): Path<MemberPath>,
    tag: IfMatch,
    MergePatch(patch): MergePatch<MemberPatch>,
) -> Result<Tagged<MemberView>, Problem> {
    TenantAccess::load_also_platform(&cx, tenant).await?.require_admin()?;
    cx.retry_stale(&tag, || async {
        let (stored, before) = load(cx.access(), tenant, &idpid).await?;
        tag.check(stored.rev)?;
        let after = Member {
            role: patch.role.unwrap_or(before.role),
            name: patch.name.clone().unwrap_or_else(|| before.name.clone()),
            ..before.clone()
        };
        if after == before {
            return Ok(Tagged::new(&MemberView::new(idpid.clone(), &before), stored.rev));
        }
        let more_admins = admins(after.role) - admins(before.role);
        if more_admins > 0 {
            // An administrator whose issuer was removed from the configuration could not sign in.
            cx.check_issuer(&idpid, "/role")?;
        }
        let after = Member { audit: before.audit.updated(&cx)?, ..after };
        let update = Action::update(&TRACKER, stored.key.clone(), Changes::between(&before, &after)?);
        let key = MemberKey { tenant, user: idpid.clone() };
        let rev = write(&cx, &UPDATE_MEMBER, key, update.if_unchanged(&stored), more_admins).await?;
        Ok(Tagged::new(&MemberView::new(idpid.clone(), &after), rev))
    })
    .await
}
