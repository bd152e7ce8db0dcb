//! `POST /chat/communities/{communityId}/groupchats`

use std::collections::BTreeSet;

use serde::Deserialize;
use table::{AccessPattern, Action, Changes, Condition, EntityKey, Error, Item, item};
use utoipa::ToSchema;
use web::visible::name_fault;
use web::{Context, Created, Fault, IdempotencyKey, Json, Path, Problem, Route, Rules, Sample, Valid, problem};

use super::{
    ChatMember, GroupChat, GroupChatRow, GroupChatView, MAX_IN_COMMUNITY, OF_COMMUNITY, SAMPLE_OF_COMMUNITY,
    TOO_MANY_CHATS, count_membership, joining,
};
use crate::access::{CALLER, COMMUNITIES, GROUP_CHATS, LIVE, USERS};
use crate::caller::{BANNED, SIGNED_IN, deleted};
use crate::communities::authorization::{CommunityAccess, LOAD_COMMUNITY};
use crate::communities::{CommunityPath, TOO_MANY_MEMBERSHIPS, check_member};
use crate::keys::{CommunityKey, GroupChatKey, GroupChatMemberKey, GroupChatRowKey, chat_partition};
use crate::names::GroupChatId;
use crate::rates::{COUNT, count};
use crate::texts::optional_text_fault;
use crate::users::not_deleted;
use crate::{rates, schema};

/// A new group chat with its owner as the first member.
const CREATE_GROUP_CHAT: AccessPattern = AccessPattern::new(
    "createGroupChat",
    &[
        COMMUNITIES.update(),
        COMMUNITIES.put(),
        COMMUNITIES.check(),
        GROUP_CHATS.put(),
        GROUP_CHATS.update(),
        USERS.check(),
        LIVE.get(),
        LIVE.put(),
    ],
);

/// A new group chat.
#[derive(Debug, Deserialize, ToSchema)]
pub struct NewGroupChat {
    #[schema(min_length = 1, max_length = 80)]
    name: String,
    #[serde(default)]
    #[schema(max_length = 1000)]
    description: String,
    /// The most members.
    #[serde(default = "default_capacity")]
    #[schema(minimum = 2, maximum = 10000, default = 100)]
    capacity: u64,
    /// Whether members of the community need a request to join.
    #[serde(default)]
    private: bool,
}

fn default_capacity() -> u64 {
    100
}

impl Rules for NewGroupChat {
    fn faults(&self) -> Vec<Fault> {
        let faults = [name_fault("/name", &self.name), optional_text_fault("/description", &self.description)];
        faults.into_iter().flatten().collect()
    }
}

pub fn route() -> Route {
    Route::post("createGroupChat", OF_COMMUNITY, SIGNED_IN, create)
        .summary("Create a group chat in a community; the caller is its owner and first member")
        .patterns(&[&CALLER, &LOAD_COMMUNITY, &COUNT, &CREATE_GROUP_CHAT])
        .problems(&[
            problem::FORBIDDEN,
            BANNED,
            problem::NOT_FOUND,
            TOO_MANY_CHATS,
            TOO_MANY_MEMBERSHIPS,
            problem::CONFLICT,
            problem::TOO_MANY_REQUESTS,
        ])
        .sample(Sample::new(SAMPLE_OF_COMMUNITY).body(r#"{"name":"Bryophytes","capacity":20,"private":true}"#))
}

async fn create(
    cx: Context,
    Path(path): Path<CommunityPath>,
    once: IdempotencyKey,
    Valid(Json(new)): Valid<Json<NewGroupChat>>,
) -> Result<Created<GroupChatView>, Problem> {
    let access = CommunityAccess::load(&cx, path.community_id).await?;
    access.require_member()?;
    if let Some(earlier) = once.earlier(&cx, &CREATE_GROUP_CHAT, &schema::LIVE).await? {
        return Ok(earlier);
    }
    let (community, user) = (path.community_id, access.me());
    count(&cx, &rates::GROUP_CHATS, &[&user.to_string()]).await?;
    let id = GroupChatId::now(&cx.engines().clock);
    let (chat_key, created_at) = (chat_partition(id.into()), id.time().to_string());
    let chat = GroupChat {
        id,
        community_id: community,
        name: new.name,
        description: new.description,
        capacity: new.capacity,
        private: new.private,
        num_members: 1,
        owner: user,
        moderators: BTreeSet::new(),
        created_at: created_at.clone(),
        deleting_at: None,
        deletion_job: None,
    };
    let row = GroupChatRow {
        group_chat_key: chat_key.clone(),
        group_chat_community_key: CommunityKey { community }.key().pk,
        created_at: created_at.clone(),
    };
    let member = ChatMember::new(chat_key, user, created_at);
    let actions = vec![
        Action::update(&schema::COMMUNITIES, CommunityKey { community }, Changes::new().add("NumGroupChats", 1))
            .when(Condition::Absent("DeletingAt"))
            .when(Condition::AtMost("NumGroupChats", item::number(MAX_IN_COMMUNITY - 1))),
        Action::create(&schema::COMMUNITIES, GroupChatRowKey { community, chat: id }, &row)?,
        Action::create(&schema::GROUP_CHATS, GroupChatKey { chat: id }, &chat)?,
        Action::create(&schema::GROUP_CHATS, GroupChatMemberKey { chat: id, user }, &member)?,
        check_member(community, user),
        count_membership(user),
        not_deleted(user),
    ];
    let (location, view) = (format!("/chat/groupchats/{id}"), GroupChatView::from(chat));
    let created = once.create(&cx, &CREATE_GROUP_CHAT, &schema::LIVE, actions, location, &view).await;
    created.map_err(refusal)
}

/// Returns the problem of a failed transaction.
fn refusal(error: Error) -> Problem {
    let is_deleted = |community: &Item| community.contains_key("DeletingAt");
    if error.failed(6).is_some() {
        return deleted();
    }
    match (error.failed(0), error.failed(4), error.failed(5)) {
        (Some(community), ..) if community.item.as_ref().is_none_or(is_deleted) => Problem::not_found(),
        (Some(_), ..) => TOO_MANY_CHATS.because(format!("A community has at most {MAX_IN_COMMUNITY} group chats.")),
        (None, Some(_), _) => Problem::forbidden("You have left the community."),
        (None, None, Some(_)) => joining::too_many_memberships(),
        (None, None, None) => error.into(),
    }
}
