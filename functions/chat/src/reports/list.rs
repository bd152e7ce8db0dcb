//! `GET /chat/communities/{communityId}/reports` and `GET /chat/reports`

use serde::Deserialize;
use table::{AccessPattern, EntityKey};
use utoipa::ToSchema;
use web::{Context, Limit, Page, Path, Problem, Query, Route, Sample, problem};

use super::{Report, ReportStatus, ReportView};
use crate::access::{CALLER, COMMUNITIES};
use crate::caller::{BANNED, Caller, SIGNED_IN};
use crate::communities::authorization::{CommunityAccess, LOAD_COMMUNITY};
use crate::keys::{CommunityKey, PlatformReportKey};
use crate::names::CommunityId;
use crate::schema;

/// The reports of a status in a partition.
const REPORTS: AccessPattern = AccessPattern::new("reports", &[COMMUNITIES.query()]);

const OF_COMMUNITY: &str = "/chat/communities/{communityId}/reports";
const OF_PLATFORM: &str = "/chat/reports";

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct CommunityPath {
    community_id: CommunityId,
}

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
}

pub fn community_route() -> Route {
    Route::get("listReports", OF_COMMUNITY, SIGNED_IN, list_of_community)
        .summary("List the reports of a status about messages of a community's chats, the oldest first")
        .patterns(&[&CALLER, &LOAD_COMMUNITY, &REPORTS])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND])
        .sample(Sample::new("/chat/communities/019b76da-a800-7000-8000-000000000011/reports"))
}

pub fn platform_route() -> Route {
    Route::get("listPlatformReports", OF_PLATFORM, SIGNED_IN, list_of_platform)
        .summary("List the reports of a status about private messages, people and communities, the oldest first")
        .patterns(&[&CALLER, &REPORTS])
        .problems(&[problem::FORBIDDEN, BANNED])
        .sample(Sample::new(OF_PLATFORM))
}

async fn list_of_community(
    cx: Context,
    Path(CommunityPath { community_id: community }): Path<CommunityPath>,
    Query(query): Query<ReportQuery>,
) -> Result<Page<ReportView>, Problem> {
    CommunityAccess::load(&cx, community).await?.require_moderator()?;
    list(&cx, Some(community), query).await
}

async fn list_of_platform(cx: Context, Query(query): Query<ReportQuery>) -> Result<Page<ReportView>, Problem> {
    Caller::admin(&cx).await?;
    list(&cx, None, query).await
}

/// Lists the reports of a community, or those of the platform.
async fn list(cx: &Context, community: Option<CommunityId>, query: ReportQuery) -> Result<Page<ReportView>, Problem> {
    let partition = match community {
        Some(community) => CommunityKey { community }.key().pk,
        None => PlatformReportKey::PK.to_owned(),
    };
    let after = cx.cursor(query.cursor.as_deref())?;
    let reports = cx.access().table(&REPORTS, &schema::COMMUNITIES).query(partition);
    let reports = reports.begins_with(format!("REPORT#{}#", query.status)).after(after);
    let page = reports.page(query.limit.0).await?;
    cx.page(page, |stored| Ok(ReportView::new(community, stored.read::<Report>()?)))
}
