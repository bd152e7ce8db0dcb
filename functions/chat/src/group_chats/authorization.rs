//! Authorization in group chats.

use table::{AccessPattern, EntityKey, Stored};
use web::{Context, Problem};

use super::{ChatMember, GroupChat};
use crate::access::{COMMUNITIES, GROUP_CHATS};
use crate::caller::Caller;
use crate::communities::{Community, CommunityMember};
use crate::keys::{CommunityKey, CommunityMemberKey, GroupChatKey, GroupChatMemberKey};
use crate::names::{GroupChatId, UserId};
use crate::schema;

/// A group chat and its community, with the caller's memberships of both.
pub const LOAD_GROUP_CHAT: AccessPattern =
    AccessPattern::new("loadGroupChat", &[GROUP_CHATS.batch_get(), COMMUNITIES.batch_get()]);

/// A group chat with its community, and the caller's own memberships.
#[derive(Debug)]
pub struct GroupChatAccess {
    pub caller: Caller,
    pub stored: Stored,
    pub chat: GroupChat,
    pub member: Option<ChatMember>,
    pub community: Community,
    /// Whether the caller is a member of the community who is not leaving it.
    pub is_in_community: bool,
}

impl GroupChatAccess {
    /// Loads a group chat for the members of its community. 404 for other callers, for an absent chat and for one that is
    /// being deleted, alone or with its community.
    pub async fn load(cx: &Context, chat: GroupChatId) -> Result<Self, Problem> {
        let access = Self::load_also_deleted(cx, chat).await?;
        let is_deleted = access.chat.deleting_at.is_some() || access.community.deleting_at.is_some();
        if is_deleted || !access.is_in_community { Err(Problem::not_found()) } else { Ok(access) }
    }

    /// Loads a group chat for any caller, also one that is being deleted.
    pub async fn load_also_deleted(cx: &Context, chat: GroupChatId) -> Result<Self, Problem> {
        let caller = Caller::load(cx).await?;
        let user = caller.id;
        let keys = [GroupChatKey { chat }.key(), GroupChatMemberKey { chat, user }.key()];
        let found = cx.access().table(&LOAD_GROUP_CHAT, &schema::GROUP_CHATS).batch_get_consistent(&keys).await?;
        let mut found = found.into_iter();
        let stored = found.next().flatten().ok_or_else(Problem::not_found)?;
        let member = found.next().flatten().map(|stored| stored.read()).transpose()?;
        let chat: GroupChat = stored.read()?;
        let community = chat.community_id;
        let keys = [CommunityKey { community }.key(), CommunityMemberKey { community, user }.key()];
        let found = cx.access().table(&LOAD_GROUP_CHAT, &schema::COMMUNITIES).batch_get_consistent(&keys).await?;
        let mut found = found.into_iter();
        let community = found.next().flatten().ok_or_else(Problem::not_found)?.read()?;
        let in_community = found.next().flatten().map(|stored| stored.read::<CommunityMember>()).transpose()?;
        let is_in_community = in_community.is_some_and(|member| member.leaving_at.is_none());
        Ok(Self { caller, stored, chat, member, community, is_in_community })
    }

    pub fn me(&self) -> UserId {
        self.caller.id
    }

    /// 403 unless the caller is a member of the chat.
    pub fn require_member(&self) -> Result<(), Problem> {
        if self.member.is_some() {
            Ok(())
        } else {
            Err(Problem::forbidden("This operation is for members of the group chat."))
        }
    }

    /// 403 unless the caller moderates the chat.
    pub fn require_moderator(&self) -> Result<(), Problem> {
        if self.chat.is_moderated_by(self.me()) {
            Ok(())
        } else {
            Err(Problem::forbidden("This operation is for moderators of the group chat."))
        }
    }

    /// 403 unless the caller owns the chat.
    pub fn require_owner(&self) -> Result<(), Problem> {
        if self.chat.owner == self.me() {
            Ok(())
        } else {
            Err(Problem::forbidden("This operation is for the owner of the group chat."))
        }
    }
}
