//! `GET /chat/groupchats/{chatId}/community`

use table::{AccessPattern, EntityKey};
use web::{Context, Path, Problem, Route, Sample, Tagged, problem};

use super::GroupChatPath;
use crate::access::{CALLER, COMMUNITIES};
use crate::caller::{BANNED, Caller, SIGNED_IN};
use crate::communities::{Community, CommunityMember, CommunityView};
use crate::keys::{CommunityKey, CommunityMemberKey, GroupChatRowKey, chat_partition};
use crate::schema::{self, COMMUNITY_GROUP_CHATS_INDEX};

/// The community of a group chat, and the caller's membership.
const GET_COMMUNITY_OF_CHAT: AccessPattern = AccessPattern::new(
    "getGroupChatCommunity",
    &[COMMUNITIES.query_index(COMMUNITY_GROUP_CHATS_INDEX), COMMUNITIES.batch_get()],
);

pub fn route() -> Route {
    Route::get("getGroupChatCommunity", "/chat/groupchats/{chatId}/community", SIGNED_IN, get)
        .summary("Get the community of a group chat, as its member")
        .patterns(&[&CALLER, &GET_COMMUNITY_OF_CHAT])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND])
        .sample(Sample::new("/chat/groupchats/019b76da-a800-7000-8000-000000000021/community"))
}

async fn get(cx: Context, Path(path): Path<GroupChatPath>) -> Result<Tagged<CommunityView>, Problem> {
    let user = Caller::load(&cx).await?.id;
    let communities = cx.access().table(&GET_COMMUNITY_OF_CHAT, &schema::COMMUNITIES);
    let row = communities.query(chat_partition(path.chat_id.into())).index(COMMUNITY_GROUP_CHATS_INDEX);
    let row = row.first().await?.and_then(|row| GroupChatRowKey::parse(&row.key)).ok_or_else(Problem::not_found)?;
    let community = row.community;
    let keys = [CommunityKey { community }.key(), CommunityMemberKey { community, user }.key()];
    let mut found = communities.batch_get_consistent(&keys).await?.into_iter();
    let stored = found.next().flatten().ok_or_else(Problem::not_found)?;
    let member = found.next().flatten().map(|stored| stored.read::<CommunityMember>()).transpose()?;
    let community: Community = stored.read()?;
    if community.deleting_at.is_some() || member.is_none_or(|member| member.leaving_at.is_some()) {
        return Err(Problem::not_found());
    }
    Ok(Tagged::new(&community.into(), stored.rev))
}
