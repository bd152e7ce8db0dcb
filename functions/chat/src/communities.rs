//! Communities: their items, members and bans, and the operations on them.

pub mod authorization;
pub mod ban;
pub mod create;
pub mod delete;
pub mod departure;
pub mod get;
pub mod join;
pub mod leave;
pub mod list_bans;
pub mod list_by_place;
pub mod list_members;
pub mod list_mine;
pub mod owned_chats;
pub mod set_moderator;
pub mod unban;
pub mod unset_moderator;
pub mod update;

use std::collections::BTreeSet;

use jobs::JobId;
use serde::{Deserialize, Serialize};
use table::{Action, Changes, Clock, Condition, EntityKey, item};
use utoipa::ToSchema;
use web::Kind;

use crate::keys::{CommunityKey, CommunityMemberKey, MembershipCountKey, user_partition};
use crate::locations::Location;
use crate::locations::LocationView;
use crate::names::{CommunityId, Millisecond, UserId};
use crate::schema::COMMUNITIES;
use crate::users::path::UserRef;

const LIST: &str = "/chat/communities";
const ONE: &str = "/chat/communities/{communityId}";
const MEMBERS: &str = "/chat/communities/{communityId}/members";
const MEMBER: &str = "/chat/communities/{communityId}/members/{userId}";
const BANS: &str = "/chat/communities/{communityId}/bans";
const BAN: &str = "/chat/communities/{communityId}/bans/{userId}";
const MODERATOR: &str = "/chat/communities/{communityId}/moderators/{userId}";

const SAMPLE: &str = "/chat/communities/019b76da-a800-7000-8000-000000000011";
const SAMPLE_MEMBERS: &str = "/chat/communities/019b76da-a800-7000-8000-000000000011/members";
const SAMPLE_BOB: &str =
    "/chat/communities/019b76da-a800-7000-8000-000000000011/members/019b76da-a800-7000-8000-000000000002";
const SAMPLE_BANS: &str = "/chat/communities/019b76da-a800-7000-8000-000000000011/bans";
const SAMPLE_BAN: &str =
    "/chat/communities/019b76da-a800-7000-8000-000000000011/bans/019b76da-a800-7000-8000-000000000002";
const SAMPLE_MODERATOR: &str =
    "/chat/communities/019b76da-a800-7000-8000-000000000011/moderators/019b76da-a800-7000-8000-000000000002";

/// The most communities of a user.
const MAX_COMMUNITIES: u64 = 500;

pub const BANNED_HERE: Kind = Kind::new(403, "banned-here", "Banned from the community");
pub const OWNER_MUST_TRANSFER: Kind = Kind::new(409, "owner-must-transfer", "Owner must hand over first");
pub const TOO_MANY_MEMBERSHIPS: Kind = Kind::new(409, "too-many-memberships", "Too many memberships");

/// The path of a community.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommunityPath {
    #[schema(value_type = String, example = "019b76da-a800-7000-8000-000000000011")]
    pub community_id: CommunityId,
}

/// The path of a user in a community.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommunityUserPath {
    #[schema(value_type = String, example = "019b76da-a800-7000-8000-000000000011")]
    pub community_id: CommunityId,
    /// The id of a user, or `me`.
    #[schema(value_type = String, example = "me")]
    pub user_id: UserRef,
}

/// A community in responses.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Community)]
pub struct CommunityView {
    pub id: CommunityId,
    pub name: String,
    pub description: String,
    pub topic: String,
    #[serde(rename = "avatarURL", skip_serializing_if = "Option::is_none")]
    pub avatar_url: Option<String>,
    #[serde(rename = "coverPhotoURL", skip_serializing_if = "Option::is_none")]
    pub cover_photo_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<LocationView>,
    pub founder_id: UserId,
    pub moderator_ids: BTreeSet<UserId>,
    pub num_members: u64,
    pub num_group_chats: u64,
    /// The days after which messages are deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retention_days: Option<u32>,
    pub created_at: String,
}

impl From<Community> for CommunityView {
    fn from(community: Community) -> Self {
        Self {
            id: community.id,
            name: community.name,
            description: community.description,
            topic: community.topic,
            avatar_url: community.avatar_url,
            cover_photo_url: community.cover_photo_url,
            location: community.location.map(LocationView::from),
            founder_id: community.founder,
            moderator_ids: community.moderators,
            num_members: community.num_members,
            num_group_chats: community.num_group_chats,
            retention_days: community.retention_days,
            created_at: community.created_at,
        }
    }
}

/// The role of a member in a community.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum CommunityRole {
    Founder,
    Moderator,
    Member,
}

/// A member of a community in responses.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CommunityMember)]
pub struct CommunityMemberView {
    pub community_id: CommunityId,
    pub user_id: UserId,
    pub role: CommunityRole,
    pub joined_at: String,
}

/// A community as the table stores it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Community {
    pub id: CommunityId,
    pub name: String,
    pub description: String,
    pub topic: String,
    #[serde(rename = "AvatarURL", skip_serializing_if = "Option::is_none")]
    pub avatar_url: Option<String>,
    #[serde(rename = "CoverPhotoURL", skip_serializing_if = "Option::is_none")]
    pub cover_photo_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
    /// `COUNTRY#{country}`, case-folded. Absent without a location, or once the community is being deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country_key: Option<String>,
    /// `STATE#{state}#CITY{city}`, case-folded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place_key: Option<String>,
    pub founder: UserId,
    #[serde(with = "serde_dynamo::string_set", default, skip_serializing_if = "BTreeSet::is_empty")]
    pub moderators: BTreeSet<UserId>,
    pub num_members: u64,
    pub num_group_chats: u64,
    /// The days after which messages become placeholders.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retention_days: Option<u32>,
    pub created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleting_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion_job: Option<JobId>,
}

impl Community {
    pub fn is_moderated_by(&self, user: UserId) -> bool {
        self.founder == user || self.moderators.contains(&user)
    }

    /// Returns the role of a member.
    pub fn role_of(&self, user: UserId) -> CommunityRole {
        if self.founder == user {
            CommunityRole::Founder
        } else if self.moderators.contains(&user) {
            CommunityRole::Moderator
        } else {
            CommunityRole::Member
        }
    }

    /// Returns a member in responses.
    pub fn member_view(&self, user: UserId, member: CommunityMember) -> CommunityMemberView {
        let (community_id, role) = (self.id, self.role_of(user));
        CommunityMemberView { community_id, user_id: user, role, joined_at: member.joined_at }
    }
}

/// A member of a community as the table stores it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct CommunityMember {
    pub member_key: String,
    pub member_community_key: String,
    pub joined_at: String,
    /// Set from the first step of leaving to the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leaving_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leaving_job: Option<JobId>,
}

impl CommunityMember {
    pub fn new(community: CommunityId, user: UserId, joined_at: String) -> Self {
        Self {
            member_key: user_partition(user),
            member_community_key: CommunityKey { community }.key().pk,
            joined_at,
            leaving_at: None,
            leaving_job: None,
        }
    }
}

/// A ban from a community as the table stores it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Ban {
    pub reason: String,
    pub by: UserId,
    pub created_at: String,
}

impl Ban {
    pub fn new(clock: &Clock, by: UserId, reason: String) -> Self {
        Self { reason, by, created_at: Millisecond::now(clock).to_string() }
    }
}

/// Returns the check that a user is a member of a community and is not leaving it.
pub fn check_member(community: CommunityId, user: UserId) -> Action {
    Action::check(&COMMUNITIES, CommunityMemberKey { community, user }).when(Condition::Absent("LeavingAt"))
}

/// Returns the count of one more community of a user, up to the limit.
fn count_membership(user: UserId) -> Action {
    let below = Condition::AtMost("Num", item::number(MAX_COMMUNITIES - 1));
    Action::update(&COMMUNITIES, MembershipCountKey { user }, Changes::new().add("Num", 1)).or_absent().when(below)
}

/// Returns the change of a user's counter by nothing, for the hand-over of a community to this member. The deletion of
/// a user fails if the counter has changed since the things of the user were read.
fn touch_membership(user: UserId) -> Action {
    Action::update(&COMMUNITIES, MembershipCountKey { user }, Changes::new().add("Num", 0)).or_absent()
}

/// Returns the subtraction of a community from the memberships of a user.
pub fn subtract_membership(user: UserId) -> Action {
    Action::update(&COMMUNITIES, MembershipCountKey { user }, Changes::new().add("Num", -1))
}

fn too_many_memberships() -> web::Problem {
    TOO_MANY_MEMBERSHIPS.because(format!("You are a member of {MAX_COMMUNITIES} communities. Leave one first."))
}
