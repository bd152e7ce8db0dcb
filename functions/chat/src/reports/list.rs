//! `GET /chat/communities/{communityId}/reports`, `GET /chat/groupchats/{chatId}/reports` and `GET /chat/reports`

use serde::Deserialize;
use table::{AccessPattern, EntityKey, Key, Position, Stored};
use utoipa::ToSchema;
use web::{Context, Json, Limit, Page, Path, Problem, Query, Route, Sample, problem};

use super::{Report, ReportStatus, ReportView, key};
use crate::access::{CALLER, COMMUNITIES};
use crate::caller::{BANNED, Caller, SIGNED_IN};
use crate::communities::CommunityPath;
use crate::communities::authorization::{CommunityAccess, LOAD_COMMUNITY};
use crate::group_chats::GroupChatPath;
use crate::group_chats::authorization::{GroupChatAccess, LOAD_GROUP_CHAT};
use crate::keys::{ChatReportKey, CommunityKey, GroupChatKey, PlatformReportKey};
use crate::names::{CommunityId, UserId};
use crate::people::{Include, PEOPLE};
use crate::people_of_page::PeoplePage;
use crate::schema;

/// The reports of a status in a partition.
const REPORTS: AccessPattern = AccessPattern::new("reports", &[COMMUNITIES.query()]);

/// The reports of a status in the list of a group chat.
const REPORTS_OF_CHAT: AccessPattern =
    AccessPattern::new("reportsOfChat", &[COMMUNITIES.query(), COMMUNITIES.batch_get()]);

const OF_COMMUNITY: &str = "/chat/communities/{communityId}/reports";
const OF_CHAT: &str = "/chat/groupchats/{chatId}/reports";
const OF_PLATFORM: &str = "/chat/reports";

/// The query of a list of reports.
#[derive(Debug, Deserialize, ToSchema)]
struct ReportQuery {
    #[serde(default)]
    limit: Limit,
    #[schema(min_length = 1)]
    cursor: Option<String>,
    /// Only the reports with this status.
    #[serde(default)]
    #[schema(default = "open")]
    status: ReportStatus,
    /// `people` adds the names of the users whom the items name.
    #[schema(nullable = false)]
    include: Option<Include>,
}

pub fn community_route() -> Route {
    Route::get("listReports", OF_COMMUNITY, SIGNED_IN, list_of_community)
        .summary("List the reports of a status about messages of a community's chats, the oldest first")
        .patterns(&[&CALLER, &LOAD_COMMUNITY, &REPORTS, &PEOPLE])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND])
        .sample(Sample::new("/chat/communities/019b76da-a800-7000-8000-000000000011/reports"))
}

pub fn chat_route() -> Route {
    Route::get("listChatReports", OF_CHAT, SIGNED_IN, list_of_chat)
        .summary("List the reports of a status about messages of a group chat, the oldest first")
        .patterns(&[&CALLER, &LOAD_GROUP_CHAT, &REPORTS_OF_CHAT, &PEOPLE])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND])
        .sample(Sample::new("/chat/groupchats/019b76da-a800-7000-8000-000000000021/reports"))
}

pub fn platform_route() -> Route {
    Route::get("listPlatformReports", OF_PLATFORM, SIGNED_IN, list_of_platform)
        .summary("List the reports of a status about private messages, people and communities, the oldest first")
        .patterns(&[&CALLER, &REPORTS, &PEOPLE])
        .problems(&[problem::FORBIDDEN, BANNED])
        .sample(Sample::new(OF_PLATFORM))
}

async fn list_of_community(
    cx: Context,
    Path(CommunityPath { community_id: community }): Path<CommunityPath>,
    Query(query): Query<ReportQuery>,
) -> Result<Json<PeoplePage<ReportView>>, Problem> {
    let access = CommunityAccess::load(&cx, community).await?;
    access.require_moderator()?;
    list(&cx, access.me(), Some(community), query).await
}

async fn list_of_chat(
    cx: Context,
    Path(GroupChatPath { chat_id: chat }): Path<GroupChatPath>,
    Query(query): Query<ReportQuery>,
) -> Result<Json<PeoplePage<ReportView>>, Problem> {
    let access = GroupChatAccess::load(&cx, chat).await?;
    access.require_moderator()?;
    let me = access.me();
    let community = Some(access.chat.community_id);
    let after = cx.cursor(query.cursor.as_deref())?;
    let reports = cx.access().table(&REPORTS_OF_CHAT, &schema::COMMUNITIES);
    let rows = reports.query(GroupChatKey { chat }.key().pk);
    let rows = rows.begins_with(format!("REPORT#{}#", query.status)).after(after);
    let of_rows = |rows: Vec<Stored>| async move {
        let row = |row: &Stored| ChatReportKey::parse(&row.key);
        let keys: Vec<Key> = rows.iter().filter_map(row).map(|row| key(community, row.status, row.report)).collect();
        let found = reports.batch_get(&keys).await?.into_iter();
        // A report that was settled meanwhile has another key.
        found.map(|report| report.map_or(Ok(None), |report| view(community, &report, me))).collect()
    };
    let (items, next) = rows.page_of(query.limit.0, of_rows).await?;
    with_people(&cx, items, next, query.include).await
}

async fn list_of_platform(
    cx: Context,
    Query(query): Query<ReportQuery>,
) -> Result<Json<PeoplePage<ReportView>>, Problem> {
    let caller = Caller::admin(&cx).await?;
    list(&cx, caller.id, None, query).await
}

/// Lists the reports of a community, or those of the platform.
async fn list(
    cx: &Context,
    me: UserId,
    community: Option<CommunityId>,
    query: ReportQuery,
) -> Result<Json<PeoplePage<ReportView>>, Problem> {
    let partition = match community {
        Some(community) => CommunityKey { community }.key().pk,
        None => PlatformReportKey::PK.to_owned(),
    };
    let after = cx.cursor(query.cursor.as_deref())?;
    let reports = cx.access().table(&REPORTS, &schema::COMMUNITIES).query(partition);
    let reports = reports.begins_with(format!("REPORT#{}#", query.status)).after(after);
    let views = |rows: Vec<Stored>| async move { rows.iter().map(|row| view(community, row, me)).collect() };
    let (items, next) = reports.page_of(query.limit.0, views).await?;
    with_people(cx, items, next, query.include).await
}

/// Returns a page of reports, with the people whom they name if the query includes them.
async fn with_people(
    cx: &Context,
    items: Vec<ReportView>,
    next: Option<Position>,
    include: Option<Include>,
) -> Result<Json<PeoplePage<ReportView>>, Problem> {
    let page = Page { items, next_cursor: cx.cursor_to(next)? };
    Ok(Json(PeoplePage::of(cx, page, include, ReportView::people).await?))
}

/// Returns what a moderator or an administrator sees of a report. None if it is about that person.
fn view(community: Option<CommunityId>, stored: &Stored, me: UserId) -> Result<Option<ReportView>, Problem> {
    let report: Report = stored.read()?;
    Ok((report.person() != Some(me)).then(|| ReportView::new(community, report)))
}
