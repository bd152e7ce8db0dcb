//! The group chats of a community that a user owns. Their owner cannot leave the community.

use table::{Access, AccessPattern, EntityKey, Key};
use web::Problem;

use crate::group_chats::GroupChat;
use crate::keys::{CommunityKey, GROUP_CHAT_PREFIX, GroupChatKey, GroupChatMemberKey, GroupChatRowKey};
use crate::names::{CommunityId, GroupChatId, UserId};
use crate::schema::{COMMUNITIES, GROUP_CHATS};

/// Whether a user owns a group chat of a community.
pub async fn owns_chat(
    access: &Access,
    pattern: &'static AccessPattern,
    community: CommunityId,
    user: UserId,
) -> Result<bool, Problem> {
    let rows = access.table(pattern, &COMMUNITIES).query(CommunityKey { community }.key().pk);
    let rows = rows.begins_with(GROUP_CHAT_PREFIX).consistent().all().await?;
    let chats = rows.iter().filter_map(|row| GroupChatRowKey::parse(&row.key)).map(|key| key.chat);
    Ok(chats_of(access, pattern, chats, user).await?.iter().any(|chat| chat.owner == user))
}

/// Returns those of these group chats of which a user is a member.
pub async fn chats_of(
    access: &Access,
    pattern: &'static AccessPattern,
    chats: impl Iterator<Item = GroupChatId>,
    user: UserId,
) -> Result<Vec<GroupChat>, Problem> {
    let keys: Vec<Key> = chats.map(|chat| GroupChatMemberKey { chat, user }.key()).collect();
    let table = access.table(pattern, &GROUP_CHATS);
    let members = table.batch_get_consistent(&keys).await?;
    let joined = members.iter().flatten().filter_map(|member| GroupChatMemberKey::parse(&member.key));
    let joined: Vec<Key> = joined.map(|key| GroupChatKey { chat: key.chat }.key()).collect();
    let found = table.batch_get_consistent(&joined).await?.into_iter().flatten();
    found.map(|stored| Ok(stored.read()?)).collect()
}
