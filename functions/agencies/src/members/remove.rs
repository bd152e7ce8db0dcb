//! `DELETE /agencies/{agencyId}/members/{idpid}`, by an administrator or by the member.

use table::{Action, Cause, Changes, Condition, item};
use web::{Context, IfMatch, NoContent, Path, Problem, Route, Sample, problem};

use super::{MemberPath, ONE, SAMPLE, another_admin, count, refusal};
use crate::access::{AUTHORIZATION, DELETE_MEMBER, MEMBER};
use crate::audit::Audit;
use crate::authorization::{AGENCY_INACTIVE, AgencyAccess, SIGNED_IN};
use crate::item::Member;
use crate::keys::{member_key, removal_key};
use crate::schema::AGENCIES;

pub fn route() -> Route {
    Route::delete("removeMember", ONE, SIGNED_IN, remove)
        .summary("Remove a member, or leave an agency; the last active administrator cannot be removed")
        .patterns(&[&AUTHORIZATION, &MEMBER, &DELETE_MEMBER])
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, problem::LAST_ADMIN, AGENCY_INACTIVE, problem::CONFLICT])
        .sample(Sample::new(SAMPLE))
}

async fn remove(cx: Context, Path(path): Path<MemberPath>, tag: IfMatch) -> Result<NoContent, Problem> {
    let MemberPath { agency_id: agency, idpid: person } = path;
    cx.retry_stale(&tag, || async {
        let access = AgencyAccess::load(&cx, &agency).await?;
        let leaves = person == access.me;
        if !leaves {
            access.require_active_admin()?;
        }
        let members = cx.access().table(&MEMBER, &AGENCIES);
        let stored = members.get_consistent(member_key(&agency, &person)).await?.ok_or_else(Problem::not_found)?;
        tag.check(stored.rev)?;
        let member: Member = stored.read()?;
        let delete = tag
            .guard(Action::delete(&AGENCIES, stored.key.clone()), &stored)
            .when(Condition::Equals("role", item::text(member.role.as_str())))
            .when(member.status_condition());
        let mut gate = count(&agency, -1, -member.admins());
        if let Some(active) = access.active_condition().filter(|_| !leaves) {
            gate = gate.when(active);
        }
        if member.admins() > 0 && !access.is_platform_admin {
            gate = gate.when(another_admin());
        }
        // The transaction that accepts an invitation checks the removal, so an older invitation is no longer valid.
        let audit = Audit::now(&cx)?;
        let removed = Changes::new().set("removed", item::text(audit.at)).set("removedBy", item::text(audit.by));
        let removal = Action::update(&AGENCIES, removal_key(&agency, &person), removed).or_absent();
        let Err(error) = cx.access().transact(&DELETE_MEMBER, &[delete, gate, removal]).await else {
            return Ok(NoContent);
        };
        Err(match (error.failed(0).map(|failed| failed.cause), error.failed(1)) {
            (Some(Cause::Missing), _) => Problem::not_found(),
            // The member's role or status was changed since it was read.
            (Some(_), _) => Problem::stale(),
            (None, Some(gate)) => refusal(gate, access.required_statuses().filter(|_| !leaves)),
            (None, None) => error.into(),
        })
    })
    .await
}
