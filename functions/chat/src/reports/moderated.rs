//! The community and the group chat of a report, whose moderators settle it.

use table::{AccessPattern, EntityKey};
use web::{Context, Problem};

use crate::access::{COMMUNITIES, GROUP_CHATS};
use crate::communities::{Community, CommunityMember};
use crate::group_chats::GroupChat;
use crate::keys::{CommunityKey, CommunityMemberKey, GroupChatKey};
use crate::names::{CommunityId, GroupChatId, UserId};
use crate::schema;

/// The community and the group chat of a report.
pub(super) const MODERATED: AccessPattern =
    AccessPattern::new("moderatedByReport", &[COMMUNITIES.get(), GROUP_CHATS.get()]);

/// Finds a community, unless it is being deleted.
pub(super) async fn find_community(cx: &Context, community: CommunityId) -> Result<Option<Community>, Problem> {
    let communities = cx.access().table(&MODERATED, &schema::COMMUNITIES);
    let stored = communities.get_consistent(CommunityKey { community }.key()).await?;
    let community = stored.map(|stored| stored.read::<Community>()).transpose()?;
    Ok(community.filter(|community| community.deleting_at.is_none()))
}

/// Whether a user is a member of a community and is not leaving it.
pub(super) async fn is_member(cx: &Context, community: CommunityId, user: UserId) -> Result<bool, Problem> {
    let communities = cx.access().table(&MODERATED, &schema::COMMUNITIES);
    let stored = communities.get_consistent(CommunityMemberKey { community, user }).await?;
    let member = stored.map(|stored| stored.read::<CommunityMember>()).transpose()?;
    Ok(member.is_some_and(|member| member.leaving_at.is_none()))
}

/// Finds a group chat, unless it is being deleted.
pub(super) async fn find_chat(cx: &Context, chat: GroupChatId) -> Result<Option<GroupChat>, Problem> {
    let chats = cx.access().table(&MODERATED, &schema::GROUP_CHATS);
    let stored = chats.get_consistent(GroupChatKey { chat }.key()).await?;
    let chat = stored.map(|stored| stored.read::<GroupChat>()).transpose()?;
    Ok(chat.filter(|chat| chat.deleting_at.is_none()))
}
