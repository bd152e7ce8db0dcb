//! `GET /chat/communities/{communityId}/bans`

use serde::Serialize;
use table::{AccessPattern, EntityKey, Stored};
use utoipa::ToSchema;
use web::{Context, Page, Path, Problem, Query, Route, Sample, problem};

use super::authorization::{CommunityAccess, LOAD_COMMUNITY};
use super::{BANS, Ban, CommunityPath, SAMPLE_BANS};
use crate::access::{CALLER, COMMUNITIES};
use crate::caller::{BANNED, SIGNED_IN};
use crate::keys::{BAN_PREFIX, BanKey, CommunityKey};
use crate::names::UserId;
use crate::people::{PEOPLE, PersonName};
use crate::people_of_page::{PeopleQuery, people};
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
    /// With `include=people`.
    #[serde(skip_serializing_if = "Option::is_none")]
    person: Option<PersonName>,
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
) -> Result<Page<BanView>, Problem> {
    let access = CommunityAccess::load(&cx, path.community_id).await?;
    access.require_moderator()?;
    let after = cx.cursor(query.cursor.as_deref())?;
    let bans = cx.access().table(&LIST_BANS, &schema::COMMUNITIES);
    let bans = bans.query(CommunityKey { community: path.community_id }.key().pk).begins_with(BAN_PREFIX);
    let page = bans.after(after).page(query.limit.0).await?;
    let user = |stored: &Stored| BanKey::parse(&stored.key).map(|key| key.user);
    let mut people = people(&cx, query.include, page.items.iter().filter_map(user)).await?;
    cx.page(page, |stored| {
        let user_id = user(&stored).ok_or_else(|| Problem::internal("a ban without a user"))?;
        let Ban { reason, by, created_at } = stored.read()?;
        Ok(BanView { user_id, reason, banned_by: by, created_at, person: people.remove(&user_id) })
    })
}
