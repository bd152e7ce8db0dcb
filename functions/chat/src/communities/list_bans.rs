//! `GET /chat/communities/{communityId}/bans`

use serde::Serialize;
use table::{AccessPattern, EntityKey};
use utoipa::ToSchema;
use web::{Context, Json, Path, Problem, Query, Route, Sample, problem};

use super::authorization::{CommunityAccess, LOAD_COMMUNITY};
use super::{BANS, Ban, CommunityPath, SAMPLE_BANS};
use crate::access::{CALLER, COMMUNITIES};
use crate::caller::{BANNED, SIGNED_IN};
use crate::keys::{BAN_PREFIX, BanKey, CommunityKey};
use crate::names::UserId;
use crate::people::PEOPLE;
use crate::people_of_page::{PeoplePage, PeopleQuery};
use crate::schema;

const LIST_BANS: AccessPattern = AccessPattern::new("listCommunityBans", &[COMMUNITIES.query()]);

/// A ban from a community in responses.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CommunityBan)]
pub struct BanView {
    user_id: UserId,
    reason: String,
    /// The moderator who banned the user.
    banned_by: UserId,
    created_at: String,
}

pub fn route() -> Route {
    Route::get("listCommunityBans", BANS, SIGNED_IN, list)
        .summary("List the users who are banned from a community")
        .patterns(&[&CALLER, &LOAD_COMMUNITY, &LIST_BANS, &PEOPLE])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND])
        .sample(Sample::new(SAMPLE_BANS))
}

async fn list(
    cx: Context,
    Path(path): Path<CommunityPath>,
    Query(query): Query<PeopleQuery>,
) -> Result<Json<PeoplePage<BanView>>, Problem> {
    let access = CommunityAccess::load(&cx, path.community_id).await?;
    access.require_moderator()?;
    let after = cx.cursor(query.cursor.as_deref())?;
    let bans = cx.access().table(&LIST_BANS, &schema::COMMUNITIES);
    let bans = bans.query(CommunityKey { community: path.community_id }.key().pk).begins_with(BAN_PREFIX);
    let page = bans.after(after).page(query.limit.0).await?;
    let page = cx.page(page, |stored| {
        let key = BanKey::parse(&stored.key).ok_or_else(|| Problem::internal("a ban without a user"))?;
        let Ban { reason, by, created_at } = stored.read()?;
        Ok(BanView { user_id: key.user, reason, banned_by: by, created_at })
    })?;
    Ok(Json(PeoplePage::of(&cx, page, query.include, |ban| [ban.user_id, ban.banned_by]).await?))
}
