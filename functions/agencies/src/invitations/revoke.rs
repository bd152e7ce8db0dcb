//! `DELETE /agencies/{agencyId}/invitations/{hash}`: the item stays, with the status `revoked`, until it expires.

use table::{Action, Cause};
use web::{Context, IfMatch, NoContent, Path, Problem, Route, Sample, problem};

use super::{INVITATION_SETTLED, InvitationPath, ONE, SAMPLE, already_settled, is_pending, settled};
use crate::access::{AUTHORIZATION, INVITATION, REVOKE_INVITATION};
use crate::audit::Audit;
use crate::authorization::{AGENCY_INACTIVE, AgencyAccess, SIGNED_IN};
use crate::item::Invitation;
use crate::keys::invitation_key;
use crate::members::{check_gate, refusal};
use crate::names::InvitationStatus;
use crate::schema::AGENCIES;

pub fn route() -> Route {
    Route::delete("revokeInvitation", ONE, SIGNED_IN, revoke)
        .summary("Revoke a pending invitation")
        .patterns(&[&AUTHORIZATION, &INVITATION, &REVOKE_INVITATION])
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, INVITATION_SETTLED, AGENCY_INACTIVE, problem::CONFLICT])
        .sample(Sample::new(SAMPLE))
}

async fn revoke(cx: Context, Path(path): Path<InvitationPath>, tag: IfMatch) -> Result<NoContent, Problem> {
    cx.retry_stale(&tag, || async {
        let access = AgencyAccess::load(&cx, &path.agency_id).await?;
        access.require_active_admin()?;
        let key = invitation_key(&path.agency_id, &path.hash);
        let stored = cx.access().table(&INVITATION, &AGENCIES).get_consistent(key).await?;
        let stored = stored.ok_or_else(Problem::not_found)?;
        tag.check(stored.rev)?;
        let invitation: Invitation = stored.read()?;
        if invitation.status != InvitationStatus::Pending {
            return Err(already_settled());
        }
        let revoked = settled(&invitation, InvitationStatus::Revoked, &Audit::now(&cx)?);
        let actions = [
            check_gate(&path.agency_id).when_all(access.active_condition()),
            Action::update(&AGENCIES, stored.key.clone(), revoked).if_unchanged(&stored).when(is_pending()),
        ];
        let Err(error) = cx.access().transact(&REVOKE_INVITATION, &actions).await else {
            return Ok(NoContent);
        };
        Err(match (error.failed(0), error.failed(1).map(|failed| failed.cause)) {
            (Some(gate), _) => refusal(gate, access.required_statuses()),
            (None, Some(Cause::Missing)) => Problem::not_found(),
            // The invitation was settled or replaced since it was read.
            (None, Some(_)) => Problem::stale(),
            (None, None) => error.into(),
        })
    })
    .await
}
