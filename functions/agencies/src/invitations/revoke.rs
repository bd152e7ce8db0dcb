//! `DELETE /agencies/{agencyId}/invitations/{hash}`: the item stays, with the status `revoked`, until it expires.

use table::{Action, Error};
use web::{Context, IfMatch, NoContent, Path, Problem, Route, Sample, problem};

use super::{INVITATION_SETTLED, InvitationPath, ONE, SAMPLE, already_settled, is_pending, settled};
use crate::access::{AUTHORIZATION, INVITATION, SETTLE_INVITATION};
use crate::audit::Audit;
use crate::authorization::{AGENCY_INACTIVE, AgencyAccess, SIGNED_IN};
use crate::item::Invitation;
use crate::keys::invitation_key;
use crate::names::InvitationStatus;
use crate::schema::AGENCIES;

pub fn route() -> Route {
    Route::delete("revokeInvitation", ONE, SIGNED_IN, revoke)
        .summary("Revoke a pending invitation")
        .patterns(&[&AUTHORIZATION, &INVITATION, &SETTLE_INVITATION])
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, INVITATION_SETTLED, AGENCY_INACTIVE, problem::CONFLICT])
        .sample(Sample::new(SAMPLE))
}

async fn revoke(cx: Context, Path(path): Path<InvitationPath>, tag: IfMatch) -> Result<NoContent, Problem> {
    AgencyAccess::load(&cx, &path.agency_id).await?.require_active_admin()?;
    let key = invitation_key(&path.agency_id, &path.hash);
    let invitations = cx.access().table(&INVITATION, &AGENCIES);
    let stored = invitations.get_consistent(key.clone()).await?.ok_or_else(Problem::not_found)?;
    tag.check(stored.rev)?;
    if stored.read::<Invitation>()?.status != InvitationStatus::Pending {
        return Err(already_settled());
    }
    let revoked = settled(InvitationStatus::Revoked, &Audit::now(&cx)?);
    let action = tag.guard(Action::update(&AGENCIES, key, revoked), &stored);
    match cx.access().write(&SETTLE_INVITATION, action.when(is_pending())).await {
        Ok(_) => Ok(NoContent),
        Err(Error::ConditionFailed(_)) => Err(already_settled()),
        Err(error) => Err(error.into()),
    }
}
