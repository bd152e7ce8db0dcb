//! `DELETE` of an invitation: it stays, revoked, until it is forgotten.

use table::{Action, Error};
use web::{Answer, Problem, Request};

use super::{InvitationPath, already_settled, is_pending, settled};
use crate::access::{INVITATION, SETTLE};
use crate::item::Invitation;
use crate::keys::invitation_key;
use crate::names::InvitationStatus;
use crate::schema::AGENCIES;
use crate::standing::{Standing, stamp, tag};

pub async fn revoke(request: Request) -> Result<Answer, Problem> {
    let (agency, hash) = request.path::<InvitationPath>()?.ids();
    let agency = agency.ok_or_else(Problem::not_found)?;
    let standing = Standing::of(&request, &agency).await?;
    standing.change()?;
    let key = invitation_key(&agency, &hash.ok_or_else(Problem::not_found)?);
    let invitations = request.access().table(&INVITATION, &AGENCIES);
    let stored = invitations.get_consistent(key.clone()).await?.ok_or_else(Problem::not_found)?;
    request.if_match().check(tag(&stored))?;
    if stored.read::<Invitation>()?.status != InvitationStatus::Pending {
        return Err(already_settled());
    }
    let revoked = settled(InvitationStatus::Revoked, &stamp(&request)?);
    let mut action = Action::update(&AGENCIES, key, revoked).when(is_pending());
    if !request.if_match().is_absent() {
        action = action.if_unchanged(&stored);
    }
    match request.access().write(&SETTLE, action).await {
        Ok(_) => Ok(Answer::no_content()),
        Err(Error::ConditionFailed(_)) => Err(already_settled()),
        Err(error) => Err(error.into()),
    }
}
