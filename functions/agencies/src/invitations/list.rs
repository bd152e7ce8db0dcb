//! `GET /agencies/{agencyId}/invitations`

use web::{Context, Page, PageQuery, Path, Problem, Query, Route, Sample, problem};

use super::{InvitationView, LIST, SAMPLE_LIST};
use crate::access::{AUTHORIZATION, INVITATIONS};
use crate::agencies::AgencyPath;
use crate::audit::now;
use crate::authorization::{AgencyAccess, SIGNED_IN};
use crate::keys::{INVITATION_PREFIX, partition};
use crate::schema::AGENCIES;

pub fn route() -> Route {
    Route::get("listInvitations", LIST, SIGNED_IN, list)
        .summary("List the invitations of an agency with their status")
        .patterns(&[&AUTHORIZATION, &INVITATIONS])
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND])
        .sample(Sample::new(SAMPLE_LIST))
}

async fn list(
    cx: Context,
    Path(path): Path<AgencyPath>,
    Query(query): Query<PageQuery>,
) -> Result<Page<InvitationView>, Problem> {
    AgencyAccess::load(&cx, &path.agency_id).await?.require_admin()?;
    let after = cx.cursor(query.cursor.as_deref())?;
    let invitations = cx.access().table(&INVITATIONS, &AGENCIES).query(partition(&path.agency_id));
    let page = invitations.begins_with(INVITATION_PREFIX).after(after).page(query.limit.0).await?;
    let now = now(&cx);
    cx.page(page, |stored| InvitationView::at(stored.read()?, &now))
}
