//! `PATCH /agencies/{agencyId}/members/{idpid}`

use serde::Deserialize;
use table::{Action, Cause, Changes, Error};
use utoipa::ToSchema;
use web::visible::optional_name_fault;
use web::{Context, Fault, IfMatch, MergePatch, Patch, Path, Problem, Route, Rules, Sample, Tagged, Valid, problem};

use super::{MemberPath, MemberView, ONE, SAMPLE, another_is_counted, check_gate, count, other_admin_stays, refusal};
use crate::access::{AUTHORIZATION, COUNTS, MEMBER, MEMBERS, UPDATE_MEMBER};
use crate::audit::Audit;
use crate::authorization::{AGENCY_INACTIVE, AgencyAccess, SIGNED_IN};
use crate::item::Member;
use crate::keys::member_key;
use crate::names::{MemberStatus, Role};
use crate::schema::AGENCIES;

/// The fields of a member that can be updated.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemberPatch {
    #[schema(nullable = false)]
    role: Option<Role>,
    #[schema(nullable = false)]
    status: Option<MemberStatus>,
    /// `null` removes it.
    #[serde(default)]
    #[schema(value_type = Option<String>, max_length = 200)]
    display_name: Patch<String>,
}

impl Rules for MemberPatch {
    fn faults(&self) -> Vec<Fault> {
        let Patch::Set(name) = &self.display_name else { return Vec::new() };
        optional_name_fault("/displayName", name).into_iter().collect()
    }
}

pub fn route() -> Route {
    Route::patch("updateMember", ONE, SIGNED_IN, update)
        .summary("Update a member's role, status or name; the last active administrator cannot be demoted or suspended")
        .patterns(&[&AUTHORIZATION, &MEMBER, &COUNTS, &MEMBERS, &UPDATE_MEMBER])
        .problems(&[
            problem::FORBIDDEN,
            problem::NOT_FOUND,
            problem::LAST_ADMIN,
            AGENCY_INACTIVE,
            problem::UNPROCESSABLE,
            problem::CONFLICT,
        ])
        .sample(Sample::new(SAMPLE).body(r#"{"role":"admin"}"#))
}

async fn update(
    cx: Context,
    Path(path): Path<MemberPath>,
    tag: IfMatch,
    Valid(MergePatch(patch)): Valid<MergePatch<MemberPatch>>,
) -> Result<Tagged<MemberView>, Problem> {
    cx.retry_stale(&tag, || async {
        let access = AgencyAccess::load(&cx, &path.agency_id).await?;
        access.require_active_admin()?;
        let key = member_key(&path.agency_id, &path.idpid);
        let stored = cx.access().table(&MEMBER, &AGENCIES).get_consistent(key).await?;
        let stored = stored.ok_or_else(Problem::not_found)?;
        tag.check(stored.rev)?;
        let before: Member = stored.read()?;
        let display_name = patch.display_name.clone().apply(before.display_name.clone());
        let after = Member {
            role: patch.role.unwrap_or(before.role),
            status: patch.status.unwrap_or(before.status),
            display_name: display_name.filter(|name| !name.is_empty()),
            ..before.clone()
        };
        if after == before {
            return Ok(Tagged::new(&before.into(), stored.rev));
        }
        let admins = after.admins() - before.admins();
        if admins > 0 {
            let field = if before.role == Role::Admin { "/status" } else { "/role" };
            cx.check_issuer(&before.idpid, field)?;
        }
        let after = after.updated(&Audit::now(&cx)?);
        let update = Action::update(&AGENCIES, stored.key.clone(), Changes::between(&before, &after)?);
        let mut actions = vec![update.if_unchanged(&stored)];
        if admins != 0 {
            let keeps_one = admins < 0 && !access.is_platform_admin;
            let gate = count(&path.agency_id, 0, admins).when_all(access.active_condition());
            actions.push(gate.when_all(keeps_one.then(another_is_counted)));
            if keeps_one {
                actions.extend(other_admin_stays(&cx, &path.agency_id, &path.idpid).await?);
            }
        } else if let Some(active) = access.active_condition() {
            actions.push(check_gate(&path.agency_id).when(active));
        }
        match cx.access().transact(&UPDATE_MEMBER, &actions).await {
            Ok(rev) => Ok(Tagged::new(&after.into(), rev)),
            Err(error) => Err(match (error.failed(0).map(|failed| failed.cause), error.failed(1)) {
                (Some(Cause::Stale), _) => Problem::stale(),
                (Some(_), _) => Problem::not_found(),
                (None, Some(gate)) => refusal(gate, access.required_statuses()),
                // The other administrator is no longer one.
                (None, None) if matches!(error, Error::ConditionFailed(_)) => Problem::lost_race(),
                (None, None) => error.into(),
            }),
        }
    })
    .await
}
