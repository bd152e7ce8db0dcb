//! `GET /agencies/{agencyId}/invitations/{hash}`

use web::{Context, Path, Problem, Route, Sample, Tagged, problem};

use super::{InvitationPath, InvitationView, ONE, SAMPLE};
use crate::access::{AUTHORIZATION, INVITATION};
use crate::audit::now;
use crate::authorization::{AgencyAccess, SIGNED_IN};
use crate::item::Invitation;
use crate::keys::invitation_key;
use crate::schema::AGENCIES;

pub fn route() -> Route {
    Route::get("getInvitation", ONE, SIGNED_IN, get)
        .summary("Get an invitation")
        .patterns(&[&AUTHORIZATION, &INVITATION])
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND])
        .sample(Sample::new(SAMPLE))
}

async fn get(cx: Context, Path(path): Path<InvitationPath>) -> Result<Tagged<InvitationView>, Problem> {
    AgencyAccess::load(&cx, &path.agency_id).await?.require_admin()?;
    let key = invitation_key(&path.agency_id, &path.hash);
    let stored = cx.access().table(&INVITATION, &AGENCIES).get(key).await?.ok_or_else(Problem::not_found)?;
    Ok(Tagged::new(&InvitationView::at(stored.read::<Invitation>()?, &now(&cx))?, stored.rev))
}
