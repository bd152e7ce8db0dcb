//! Group chats: their items and members, and the operations on them.

pub mod authorization;
pub mod create;
pub mod delete;
pub mod get;
pub mod get_community;
pub mod join;
pub mod joining;
pub mod leave;
pub mod leaving;
pub mod list;
pub mod list_members;
pub mod list_mine;
pub mod set_moderator;
pub mod unset_moderator;
pub mod update;

use std::collections::BTreeSet;

use jobs::JobId;
use serde::{Deserialize, Serialize};
use table::{Action, Changes, Condition, item};
use utoipa::ToSchema;
use web::Kind;

use crate::keys::{GroupChatCountKey, user_partition};
use crate::names::{CommunityId, GroupChatId, MessageId, UserId};
use crate::schema::GROUP_CHATS;
use crate::users::path::UserRef;

const OF_COMMUNITY: &str = "/chat/communities/{communityId}/groupchats";
const ONE: &str = "/chat/groupchats/{chatId}";
const MEMBERS: &str = "/chat/groupchats/{chatId}/members";
const MEMBER: &str = "/chat/groupchats/{chatId}/members/{userId}";
const MODERATOR: &str = "/chat/groupchats/{chatId}/moderators/{userId}";

const SAMPLE_OF_COMMUNITY: &str = "/chat/communities/019b76da-a800-7000-8000-000000000011/groupchats";
const SAMPLE: &str = "/chat/groupchats/019b76da-a800-7000-8000-000000000021";
const SAMPLE_MEMBERS: &str = "/chat/groupchats/019b76da-a800-7000-8000-000000000021/members";
const SAMPLE_BOB: &str =
    "/chat/groupchats/019b76da-a800-7000-8000-000000000021/members/019b76da-a800-7000-8000-000000000002";
const SAMPLE_MODERATOR: &str =
    "/chat/groupchats/019b76da-a800-7000-8000-000000000021/moderators/019b76da-a800-7000-8000-000000000002";

/// The most group chats of a user, and of a community.
const MAX_MEMBERSHIPS: u64 = 1000;
const MAX_IN_COMMUNITY: u64 = 500;

pub const BELOW_MEMBERS: Kind = Kind::new(409, "below-members", "Capacity below the number of members");
pub const CHAT_FULL: Kind = Kind::new(409, "chat-full", "Group chat is full");
pub const NOT_IN_COMMUNITY: Kind = Kind::new(409, "not-in-community", "Not a member of the community");
pub const REQUEST_NEEDED: Kind = Kind::new(403, "request-needed", "Request needed");
pub const TOO_MANY_CHATS: Kind = Kind::new(409, "too-many-chats", "Too many group chats");

/// The path of a group chat.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupChatPath {
    #[schema(value_type = String, example = "019b76da-a800-7000-8000-000000000021")]
    pub chat_id: GroupChatId,
}

/// The path of a user in a group chat.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupChatUserPath {
    #[schema(value_type = String, example = "019b76da-a800-7000-8000-000000000021")]
    pub chat_id: GroupChatId,
    /// The id of a user, or `me`.
    #[schema(value_type = String, example = "me")]
    pub user_id: UserRef,
}

/// A group chat in responses.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = GroupChat)]
pub struct GroupChatView {
    pub id: GroupChatId,
    pub community_id: CommunityId,
    pub name: String,
    pub description: String,
    pub capacity: u64,
    pub private: bool,
    pub num_members: u64,
    pub owner_id: UserId,
    pub moderator_ids: BTreeSet<UserId>,
    pub created_at: String,
}

impl From<GroupChat> for GroupChatView {
    fn from(chat: GroupChat) -> Self {
        Self {
            id: chat.id,
            community_id: chat.community_id,
            name: chat.name,
            description: chat.description,
            capacity: chat.capacity,
            private: chat.private,
            num_members: chat.num_members,
            owner_id: chat.owner,
            moderator_ids: chat.moderators,
            created_at: chat.created_at,
        }
    }
}

/// The role of a member in a group chat.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum GroupChatRole {
    Owner,
    Moderator,
    Member,
}

/// A member of a group chat in responses.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = GroupChatMember)]
pub struct GroupChatMemberView {
    pub chat_id: GroupChatId,
    pub user_id: UserId,
    pub role: GroupChatRole,
    pub joined_at: String,
    /// The moderator who added the member.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added_by: Option<UserId>,
}

/// A group chat as the table stores it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct GroupChat {
    pub id: GroupChatId,
    pub community_id: CommunityId,
    pub name: String,
    pub description: String,
    pub capacity: u64,
    pub private: bool,
    pub num_members: u64,
    pub owner: UserId,
    #[serde(with = "serde_dynamo::string_set", default, skip_serializing_if = "BTreeSet::is_empty")]
    pub moderators: BTreeSet<UserId>,
    pub created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleting_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion_job: Option<JobId>,
}

impl GroupChat {
    pub fn is_moderated_by(&self, user: UserId) -> bool {
        self.owner == user || self.moderators.contains(&user)
    }

    /// Returns the role of a member.
    pub fn role_of(&self, user: UserId) -> GroupChatRole {
        if self.owner == user {
            GroupChatRole::Owner
        } else if self.moderators.contains(&user) {
            GroupChatRole::Moderator
        } else {
            GroupChatRole::Member
        }
    }

    /// Returns a member in responses.
    pub fn member_view(&self, user: UserId, member: ChatMember) -> GroupChatMemberView {
        let (chat_id, role) = (self.id, self.role_of(user));
        let ChatMember { joined_at, added_by, .. } = member;
        GroupChatMemberView { chat_id, user_id: user, role, joined_at, added_by }
    }
}

/// A member of a group chat or of a private chat as the table stores it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct ChatMember {
    pub member_key: String,
    pub member_chat_key: String,
    pub joined_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub added_by: Option<UserId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_read_id: Option<MessageId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_sent_id: Option<MessageId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub muted_until: Option<String>,
    #[serde(default)]
    pub hidden: bool,
    #[serde(default)]
    pub mentions_unread: u64,
    /// When this member has blocked the other member of a private chat.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocked_at: Option<String>,
    /// When this member of a private chat was deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gone_at: Option<String>,
    /// Both members of a private chat.
    #[serde(with = "serde_dynamo::string_set", default, skip_serializing_if = "BTreeSet::is_empty")]
    pub member_ids: BTreeSet<UserId>,
}

impl ChatMember {
    /// A new member of the chat whose partition key is `chat`.
    pub fn new(chat: String, user: UserId, joined_at: String) -> Self {
        Self {
            member_key: user_partition(user),
            member_chat_key: chat,
            joined_at,
            added_by: None,
            last_read_id: None,
            last_sent_id: None,
            muted_until: None,
            hidden: false,
            mentions_unread: 0,
            blocked_at: None,
            gone_at: None,
            member_ids: BTreeSet::new(),
        }
    }
}

/// The row of a group chat in its community.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct GroupChatRow {
    pub group_chat_key: String,
    pub group_chat_community_key: String,
    pub created_at: String,
}

/// The number of a user's memberships.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct MembershipCount {
    pub num: u64,
}

/// Returns the change of a user's counter by nothing, for the hand-over of a group chat to this member. The deletion of
/// a user fails if the counter has changed since the things of the user were read.
fn touch_membership(user: UserId) -> Action {
    Action::update(&GROUP_CHATS, GroupChatCountKey { user }, Changes::new().add("Num", 0)).or_absent()
}

/// Returns the count of one more group chat of a user, up to the limit.
fn count_membership(user: UserId) -> Action {
    let below = Condition::AtMost("Num", item::number(MAX_MEMBERSHIPS - 1));
    Action::update(&GROUP_CHATS, GroupChatCountKey { user }, Changes::new().add("Num", 1)).or_absent().when(below)
}
