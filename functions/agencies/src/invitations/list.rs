//! `GET /agencies/{agencyId}/invitations`

use serde::Deserialize;
use table::Stored;
use utoipa::ToSchema;
use web::{Context, Limit, Page, Path, Problem, Query, Route, Sample, problem};

use super::{InvitationView, LIST, SAMPLE_LIST};
use crate::access::{AUTHORIZATION, INVITATIONS};
use crate::agencies::AgencyPath;
use crate::audit::now;
use crate::authorization::{AgencyAccess, SIGNED_IN};
use crate::item::Invitation;
use crate::keys::{INVITATION_PREFIX, partition};
use crate::names::InvitationStatus;
use crate::schema::AGENCIES;

#[derive(Debug, Deserialize, ToSchema)]
pub struct InvitationsQuery {
    #[serde(default)]
    limit: Limit,
    #[schema(min_length = 1)]
    cursor: Option<String>,
    /// Only invitations of this status.
    status: Option<InvitationStatus>,
}

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
    Query(query): Query<InvitationsQuery>,
) -> Result<Page<InvitationView>, Problem> {
    AgencyAccess::load(&cx, &path.agency_id).await?.require_admin()?;
    let after = cx.cursor(query.cursor.as_deref())?;
    let invitations = cx.access().table(&INVITATIONS, &AGENCIES).query(partition(&path.agency_id));
    let now = now(&cx);
    let view = |stored: Stored| {
        let invitation: Invitation = stored.read()?;
        let is_selected = query.status.is_none_or(|status| status == invitation.status_at(&now));
        is_selected.then(|| InvitationView::at(invitation, &now)).transpose()
    };
    let views = |page: Vec<Stored>| async move { page.into_iter().map(view).collect() };
    let invitations = invitations.begins_with(INVITATION_PREFIX).after(after);
    let (items, next) = invitations.page_of(query.limit.0, views).await?;
    Ok(Page { items, next_cursor: cx.cursor_to(next)? })
}
