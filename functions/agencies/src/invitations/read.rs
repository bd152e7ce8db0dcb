//! `GET` of an invitation.

use web::{Answer, Problem, Request};

use super::{InvitationPath, InvitationView};
use crate::access::INVITATION;
use crate::item::Invitation;
use crate::keys::invitation_key;
use crate::schema::AGENCIES;
use crate::standing::{Standing, now, tag};

pub async fn get(request: Request) -> Result<Answer, Problem> {
    let (agency, hash) = request.path::<InvitationPath>()?.ids();
    let agency = agency.ok_or_else(Problem::not_found)?;
    Standing::of(&request, &agency).await?.administer()?;
    let key = invitation_key(&agency, &hash.ok_or_else(Problem::not_found)?);
    let stored = request.access().table(&INVITATION, &AGENCIES).get(key).await?.ok_or_else(Problem::not_found)?;
    Ok(Answer::ok(&InvitationView::at(stored.read::<Invitation>()?, &now(&request))?).etag(tag(&stored)))
}
