//! `GET /chat/groupchats/{chatId}/online`

use std::collections::BTreeSet;

use serde::Serialize;
use table::{Access, AccessPattern, EntityKey, Error, Key, Stored};
use utoipa::ToSchema;
use web::{Context, Json, Path, Problem, Route, Sample, problem};

use super::feed::Feed;
use crate::access::{CALLER, LIVE as ON_LIVE, PRIVATE_CHATS as ON_PRIVATE_CHATS};
use crate::caller::{BANNED, SIGNED_IN};
use crate::group_chats::GroupChatPath;
use crate::group_chats::authorization::{GroupChatAccess, LOAD_GROUP_CHAT};
use crate::keys::{PrivateChatMemberKey, SubscriptionKey, pair_key};
use crate::names::UserId;
use crate::private_chats::Pair;
use crate::schema::{LIVE, PRIVATE_CHATS};

const PATH: &str = "/chat/groupchats/{chatId}/online";

/// The members of a group chat who follow it.
const LIST_ONLINE: AccessPattern = AccessPattern::new("listOnline", &[ON_LIVE.query()]);

/// The caller's private chats with the members who are listed, for the blocks in them.
const FIND_BLOCKS: AccessPattern = AccessPattern::new("findBlocks", &[ON_PRIVATE_CHATS.batch_get()]);

/// The most members who are listed.
const MAX_LISTED: usize = 100;

/// The members of a group chat who follow it over the socket. Neither of two people sees the other if one has blocked
/// the other in their private chat.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Online {
    count: u64,
    /// Of the first 100 of them, by id, those whom the caller may see.
    user_ids: Vec<UserId>,
}

pub fn route() -> Route {
    Route::get("listOnline", PATH, SIGNED_IN, list)
        .summary("List the members of a group chat who are online")
        .patterns(&[&CALLER, &LOAD_GROUP_CHAT, &LIST_ONLINE, &FIND_BLOCKS])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND])
        .sample(Sample::new("/chat/groupchats/019b76da-a800-7000-8000-000000000021/online"))
}

async fn list(
    cx: Context,
    Path(GroupChatPath { chat_id: chat }): Path<GroupChatPath>,
) -> Result<Json<Online>, Problem> {
    let group_chat = GroupChatAccess::load(&cx, chat).await?;
    group_chat.require_member()?;
    let followers = cx.access().table(&LIST_ONLINE, &LIVE).query(format!("SUB#{}", Feed::GroupChat(chat)));
    let followers = followers.all().await?;
    let users: BTreeSet<UserId> =
        followers.iter().filter_map(|stored| Some(SubscriptionKey::parse(&stored.key)?.user)).collect();
    let listed: Vec<UserId> = users.iter().copied().take(MAX_LISTED).collect();
    let blocks = blocks(cx.access(), group_chat.me(), &listed).await?;
    let count = (users.len() - blocks.len()) as u64;
    Ok(Json(Online { count, user_ids: listed.into_iter().filter(|user| !blocks.contains(user)).collect() }))
}

/// Returns those of the users who have blocked the caller in their private chat, or are blocked by the caller.
async fn blocks(access: &Access, caller: UserId, users: &[UserId]) -> Result<BTreeSet<UserId>, Error> {
    let table = access.table(&FIND_BLOCKS, &PRIVATE_CHATS);
    let pairs: Vec<Key> = users.iter().map(|user| pair_key(caller, *user)).collect();
    let pairs = table.batch_get(&pairs).await?;
    let mut members = Vec::new();
    for (user, pair) in users.iter().zip(pairs) {
        let Some(pair) = pair else { continue };
        let Pair { chat_id: chat } = pair.read()?;
        members.extend([caller, *user].map(|member| (*user, PrivateChatMemberKey { chat, user: member }.key())));
    }
    let keys: Vec<Key> = members.iter().map(|(_, key)| key.clone()).collect();
    let found = table.batch_get_consistent(&keys).await?;
    let is_block = |stored: Option<Stored>| stored.is_some_and(|stored| stored.item.contains_key("BlockedAt"));
    Ok(members.into_iter().zip(found).filter_map(|((user, _), member)| is_block(member).then_some(user)).collect())
}
