//! `GET /chat/me/communities`

use serde::Serialize;
use table::{AccessPattern, EntityKey, Key, Stored};
use utoipa::ToSchema;
use web::{Context, Page, PageQuery, Problem, Query, Route, Sample, problem};

use super::{Community, CommunityRole, CommunityView};
use crate::access::{CALLER, COMMUNITIES};
use crate::caller::{BANNED, Caller, SIGNED_IN};
use crate::keys::{CommunityKey, CommunityMemberKey, user_partition};
use crate::names::UserId;
use crate::schema::{self, COMMUNITY_MEMBERS_INDEX};

const MINE: &str = "/chat/me/communities";

/// The communities of a user.
const LIST_MINE: AccessPattern = AccessPattern::new(
    "listMyCommunities",
    &[COMMUNITIES.query_index(COMMUNITY_MEMBERS_INDEX), COMMUNITIES.batch_get()],
);

/// A community of the caller.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MyCommunity {
    #[serde(flatten)]
    community: CommunityView,
    role: CommunityRole,
}

pub fn route() -> Route {
    Route::get("listMyCommunities", MINE, SIGNED_IN, list)
        .summary("List the caller's communities, the newest first")
        .patterns(&[&CALLER, &LIST_MINE])
        .problems(&[problem::FORBIDDEN, BANNED])
        .sample(Sample::new(MINE))
}

async fn list(cx: Context, Query(query): Query<PageQuery>) -> Result<Page<MyCommunity>, Problem> {
    let me = Caller::load(&cx).await?.id;
    let after = cx.cursor(query.cursor.as_deref())?;
    let communities = cx.access().table(&LIST_MINE, &schema::COMMUNITIES);
    let mine = communities.query(user_partition(me)).index(COMMUNITY_MEMBERS_INDEX).backward().after(after);
    let of_rows = |rows: Vec<Stored>| async move {
        let community = |row: &Stored| CommunityMemberKey::parse(&row.key).map(|key| key.community);
        let key = |row: &Stored| community(row).map(|community| CommunityKey { community }.key());
        let keys: Vec<Key> = rows.iter().filter_map(key).collect();
        let found = communities.batch_get(&keys).await?;
        found.into_iter().map(|stored| view(stored, me)).collect::<Result<Vec<_>, Problem>>()
    };
    let (items, next) = mine.page_of(query.limit.0, of_rows).await?;
    Ok(Page { items, next_cursor: cx.cursor_to(next)? })
}

/// Returns none for a community that is being deleted.
fn view(stored: Option<Stored>, me: UserId) -> Result<Option<MyCommunity>, Problem> {
    let Some(stored) = stored else { return Ok(None) };
    let community: Community = stored.read()?;
    let role = community.role_of(me);
    let is_listed = community.deleting_at.is_none();
    Ok(is_listed.then(|| MyCommunity { community: community.into(), role }))
}
