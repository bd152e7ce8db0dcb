//! `POST /agencies/me/invitations/{agencyId}/decline`: also after its time.

use table::{Action, Backoff, Error};
use web::{Answer, Problem, Request};

use super::accept::Invited;
use super::{already_settled, is_pending, settled};
use crate::access::SETTLE;
use crate::agencies::AgencyPath;
use crate::item::Invitation;
use crate::names::InvitationStatus;
use crate::people::{MyInvitation, Named};
use crate::schema::AGENCIES;
use crate::standing::stamp;

pub async fn decline(request: Request) -> Result<Answer, Problem> {
    let agency = request.path::<AgencyPath>()?.id().ok_or_else(Problem::not_found)?;
    let mut backoff = Backoff::new();
    loop {
        let invited = Invited::read(&request, &agency).await?;
        let stamp = stamp(&request)?;
        if !matches!(invited.status_at(&stamp.at), InvitationStatus::Pending | InvitationStatus::Expired) {
            return Err(already_settled());
        }
        let declined = settled(InvitationStatus::Declined, &stamp);
        let action = Action::update(&AGENCIES, invited.stored.key.clone(), declined);
        // As it was read: one made anew since was never seen.
        match request.access().write(&SETTLE, action.if_unchanged(&invited.stored).when(is_pending())).await {
            Ok(rev) => {
                let invitation = Invitation { status: InvitationStatus::Declined, ..invited.invitation };
                let named = Named { name: invited.agency.name, status: invited.agency.status };
                return Ok(Answer::ok(&MyInvitation::at(invitation, named, &stamp.at)).etag(rev));
            }
            Err(Error::ConditionFailed(_) | Error::Stale { .. }) if backoff.wait().await => {}
            Err(Error::ConditionFailed(_) | Error::Stale { .. }) => return Err(Problem::conflict()),
            Err(error) => return Err(error.into()),
        }
    }
}
