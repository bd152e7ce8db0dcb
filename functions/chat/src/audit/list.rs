//! `GET /chat/communities/{communityId}/audit` and `GET /chat/audit`

use serde::Serialize;
use table::{AccessPattern, EntityKey};
use utoipa::ToSchema;
use web::{Context, Json, Path, Problem, Query, Route, Sample, problem};

use super::{AuditEntry, AuditedAction};
use crate::access::{CALLER, COMMUNITIES};
use crate::caller::{BANNED, Caller, SIGNED_IN};
use crate::communities::CommunityPath;
use crate::communities::authorization::{CommunityAccess, LOAD_COMMUNITY};
use crate::keys::{AUDIT_PREFIX, CommunityKey, PlatformAuditKey};
use crate::names::{AuditId, UserId};
use crate::people::PEOPLE;
use crate::people_of_page::{PeoplePage, PeopleQuery};
use crate::schema;

/// The entries of an audit log.
const AUDIT: AccessPattern = AccessPattern::new("audit", &[COMMUNITIES.query()]);

const OF_PLATFORM: &str = "/chat/audit";

/// An action of a moderator or an administrator.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AuditEntry)]
struct EntryView {
    id: AuditId,
    actor_id: UserId,
    action: AuditedAction,
    /// The id of the person, message, chat, community or report.
    target_id: String,
    reason: String,
    created_at: String,
}

impl EntryView {
    /// Returns the people whom the entry names.
    fn people(&self) -> impl Iterator<Item = UserId> + use<> {
        let target = if self.action.is_on_person() { self.target_id.parse().ok() } else { None };
        [Some(self.actor_id), target].into_iter().flatten()
    }
}

pub fn community_route() -> Route {
    Route::get("listAudit", "/chat/communities/{communityId}/audit", SIGNED_IN, list_of_community)
        .summary("List what moderators did in a community, the newest first")
        .patterns(&[&CALLER, &LOAD_COMMUNITY, &AUDIT, &PEOPLE])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND])
        .sample(Sample::new("/chat/communities/019b76da-a800-7000-8000-000000000011/audit"))
}

pub fn platform_route() -> Route {
    Route::get("listPlatformAudit", OF_PLATFORM, SIGNED_IN, list_of_platform)
        .summary("List what administrators did on the platform, the newest first")
        .patterns(&[&CALLER, &AUDIT, &PEOPLE])
        .problems(&[problem::FORBIDDEN, BANNED])
        .sample(Sample::new(OF_PLATFORM))
}

async fn list_of_community(
    cx: Context,
    Path(CommunityPath { community_id: community }): Path<CommunityPath>,
    Query(query): Query<PeopleQuery>,
) -> Result<Json<PeoplePage<EntryView>>, Problem> {
    CommunityAccess::load(&cx, community).await?.require_moderator()?;
    list(&cx, CommunityKey { community }.key().pk, query).await
}

async fn list_of_platform(
    cx: Context,
    Query(query): Query<PeopleQuery>,
) -> Result<Json<PeoplePage<EntryView>>, Problem> {
    Caller::admin(&cx).await?;
    list(&cx, PlatformAuditKey::PK.to_owned(), query).await
}

async fn list(cx: &Context, partition: String, query: PeopleQuery) -> Result<Json<PeoplePage<EntryView>>, Problem> {
    let after = cx.cursor(query.cursor.as_deref())?;
    let entries = cx.access().table(&AUDIT, &schema::COMMUNITIES).query(partition).begins_with(AUDIT_PREFIX).backward();
    let page = entries.after(after).page(query.limit.0).await?;
    let page = cx.page(page, |stored| {
        let AuditEntry { id, actor_id, action, target_id, reason, created_at } = stored.read()?;
        Ok(EntryView { id, actor_id, action, target_id, reason, created_at })
    })?;
    Ok(Json(PeoplePage::of(cx, page, query.include, EntryView::people).await?))
}
