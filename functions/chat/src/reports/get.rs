//! `GET /chat/reports/{reportId}`

use serde::Deserialize;
use table::{AccessPattern, Stored};
use utoipa::ToSchema;
use web::{Context, Json, Path, Problem, Route, Sample, problem};

use super::moderated::{find_chat, find_community, is_member};
use super::{MODERATED, Report, ReportView, load_with_place};
use crate::access::{CALLER, COMMUNITIES};
use crate::caller::{BANNED, Caller, SIGNED_IN};
use crate::communities::Community;
use crate::group_chats::GroupChat;
use crate::names::ReportId;

/// A report by its id: its place, then its row, whose key has one of three statuses.
pub(super) const REPORT: AccessPattern = AccessPattern::new("report", &[COMMUNITIES.get(), COMMUNITIES.batch_get()]);

#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReportPath {
    pub report_id: ReportId,
}

/// A report, and what the caller is to it.
pub(super) struct Found {
    /// The community whose moderators settle it.
    pub community: Option<Community>,
    /// The group chat of the message, unless the chat was deleted. Its moderators settle the report, too.
    pub group_chat: Option<GroupChat>,
    pub stored: Stored,
    pub report: Report,
    /// Whether the caller may settle it.
    pub may_settle: bool,
}

pub fn route() -> Route {
    Route::get("getReport", "/chat/reports/{reportId}", SIGNED_IN, get)
        .summary("Get a report, as its reporter or as a person who may settle it")
        .patterns(&[&CALLER, &REPORT, &MODERATED])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND])
        .sample(Sample::new("/chat/reports/019b76da-a800-7000-8000-000000000071"))
}

async fn get(cx: Context, Path(path): Path<ReportPath>) -> Result<Json<ReportView>, Problem> {
    let caller = Caller::load(&cx).await?;
    let Found { community, report, may_settle, .. } = find(&cx, &caller, path.report_id).await?;
    let view = if may_settle { ReportView::new } else { ReportView::of_reporter };
    Ok(Json(view(community.map(|community| community.id), report)))
}

/// Finds a report. 404 for a caller who may not see it.
pub(super) async fn find(cx: &Context, caller: &Caller, report: ReportId) -> Result<Found, Problem> {
    let found = load_with_place(cx.access(), &REPORT, report).await?;
    let (place, stored) = found.ok_or_else(Problem::not_found)?;
    let community = match place {
        Some(community) => Some(find_community(cx, community).await?.ok_or_else(Problem::not_found)?),
        None => None,
    };
    let report: Report = stored.read()?;
    // Administrators settle what they can see without a community, also if it is about a group chat.
    let group_chat = match report.group_chat().filter(|_| community.is_some()) {
        Some(chat) => find_chat(cx, chat).await?,
        None => None,
    };
    let may_settle = match &community {
        Some(community) => {
            let moderates_chat = group_chat.as_ref().is_some_and(|chat| chat.is_moderated_by(caller.id));
            moderates_chat || community.is_moderated_by(caller.id) && is_member(cx, community.id, caller.id).await?
        }
        None => caller.is_admin,
    };
    // Moderators and administrators who are reported do not learn by whom, and leave it to the others.
    let may_settle = may_settle && report.person() != Some(caller.id);
    if !may_settle && report.reporter_id != caller.id {
        return Err(Problem::not_found());
    }
    Ok(Found { community, group_chat, stored, report, may_settle })
}
