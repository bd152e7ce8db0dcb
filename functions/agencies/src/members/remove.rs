//! `DELETE /agencies/{agencyId}/members/{idpid}`, by an administrator or by the member.

use table::{Action, Cause, Changes, Error, Idpid};
use web::{Context, IfMatch, NoContent, Path, Problem, Route, Sample, problem};

use super::{MemberPath, ONE, SAMPLE, another_is_counted, count, other_admin_stays, refusal};
use crate::access::{AUTHORIZATION, COUNTS, DELETE_MEMBER, MEMBER, MEMBERS};
use crate::audit::Audit;
use crate::authorization::{AGENCY_INACTIVE, AgencyAccess, SIGNED_IN};
use crate::invitations::forget_address;
use crate::item::{Member, Removal};
use crate::keys::{member_key, removal_key};
use crate::names::AgencyId;
use crate::schema::AGENCIES;

pub fn route() -> Route {
    Route::delete("removeMember", ONE, SIGNED_IN, remove)
        .summary("Remove a member, or leave an agency; the last active administrator cannot be removed")
        .patterns(&[&AUTHORIZATION, &MEMBER, &COUNTS, &MEMBERS, &DELETE_MEMBER])
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
        let delete = Action::delete(&AGENCIES, stored.key.clone()).if_unchanged(&stored);
        let keeps_one = member.admins() > 0 && !access.is_platform_admin;
        let other = if keeps_one { other_admin_stays(&cx, &agency, &person).await? } else { None };
        let gate = count(&agency, -1, -member.admins())
            .when_all(access.active_condition().filter(|_| !leaves))
            .when_all(keeps_one.then(another_is_counted));
        let mut actions = vec![delete, gate, record_removal(&cx, &agency, &person).await?];
        actions.extend(forget_address(&cx, &DELETE_MEMBER, &member).await?);
        actions.extend(other);
        let Err(error) = cx.access().transact(&DELETE_MEMBER, &actions).await else {
            return Ok(NoContent);
        };
        Err(match (error.failed(0).map(|failed| failed.cause), error.failed(1)) {
            (Some(Cause::Missing), _) => Problem::not_found(),
            (Some(_), _) => Problem::stale(),
            (None, Some(gate)) => refusal(gate, access.required_statuses().filter(|_| !leaves)),
            // The removal, the known address or the other administrator, whose revisions no client states.
            (None, None) if matches!(error, Error::ConditionFailed(_)) => Problem::lost_race(),
            (None, None) => error.into(),
        })
    })
    .await
}

/// The action that records a removal. The transaction that accepts an invitation checks it, so an older invitation is
/// no longer valid.
async fn record_removal(cx: &Context, agency: &AgencyId, person: &Idpid) -> Result<Action, Problem> {
    let (audit, seconds) = (Audit::now(cx)?, cx.engines().clock.seconds());
    let key = removal_key(agency, person);
    let Some(stored) = cx.access().table(&DELETE_MEMBER, &AGENCIES).get_consistent(key.clone()).await? else {
        return Ok(Action::create(&AGENCIES, key, &Removal::after(None, &audit, seconds))?);
    };
    let earlier: Removal = stored.read()?;
    let changes = Changes::between(&earlier, &Removal::after(Some(&earlier), &audit, seconds))?;
    Ok(Action::update(&AGENCIES, key, changes).if_unchanged(&stored))
}
