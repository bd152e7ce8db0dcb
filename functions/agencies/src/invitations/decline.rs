//! `POST /agencies/me/invitations/{agencyId}/decline`, also for an expired invitation.

use table::{Action, Error};
use web::{Context, Path, Problem, Route, Sample, Tagged, problem};

use super::accept::Invited;
use super::{INVITATION_SETTLED, already_settled, is_pending, settled};
use crate::access::{DECLINE_INVITATION, LOAD_INVITATION};
use crate::agencies::AgencyPath;
use crate::audit::Audit;
use crate::authorization::SIGNED_IN;
use crate::names::InvitationStatus;
use crate::people::{MyInvitation, Named};
use crate::schema::AGENCIES;

pub fn route() -> Route {
    Route::post("declineInvitation", "/agencies/me/invitations/{agencyId}/decline", SIGNED_IN, decline)
        .summary("Decline an invitation, also an expired one")
        .patterns(&[&LOAD_INVITATION, &DECLINE_INVITATION])
        .problems(&[problem::NOT_FOUND, INVITATION_SETTLED, problem::CONFLICT])
        .sample(Sample::new("/agencies/me/invitations/01890a5d-ac96-774b-bcce-b302099a8057/decline"))
}

async fn decline(cx: Context, Path(path): Path<AgencyPath>) -> Result<Tagged<MyInvitation>, Problem> {
    cx.retry(|| async {
        let invited = Invited::load(&cx, &path.agency_id).await?;
        let audit = Audit::now(&cx)?;
        if !invited.status_at(&audit.at).is_unsettled() {
            return Err(already_settled());
        }
        let declined = settled(&invited.invitation, InvitationStatus::Declined, &audit);
        let action = Action::update(&AGENCIES, invited.stored.key.clone(), declined);
        // An invitation that was replaced since it was read is another one.
        let write = cx.access().write(&DECLINE_INVITATION, action.if_unchanged(&invited.stored).when(is_pending()));
        let rev = write.await.map_err(|error| match error {
            Error::ConditionFailed(_) => Problem::stale(),
            error => error.into(),
        })?;
        let agency = Named { name: invited.agency.name, status: invited.agency.status };
        Ok(Tagged::new(&MyInvitation::with_status(InvitationStatus::Declined, invited.invitation, agency), rev))
    })
    .await
}
