//! The community and the group chat of a report, whose moderators settle it.

use table::{AccessPattern, EntityKey};
use web::{Context, Problem};

use crate::access::{COMMUNITIES, GROUP_CHATS};
use crate::communities::Community;
use crate::group_chats::GroupChat;
use crate::keys::{CommunityKey, GroupChatKey};
use crate::names::{CommunityId, GroupChatId};
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

/// Finds a group chat, unless it is being deleted.
pub(super) async fn find_chat(cx: &Context, chat: GroupChatId) -> Result<Option<GroupChat>, Problem> {
    let chats = cx.access().table(&MODERATED, &schema::GROUP_CHATS);
    let stored = chats.get_consistent(GroupChatKey { chat }.key()).await?;
    let chat = stored.map(|stored| stored.read::<GroupChat>()).transpose()?;
    Ok(chat.filter(|chat| chat.deleting_at.is_none()))
}
