//! Messages of group chats and private chats: their items and views, and the operations on them.

pub mod content;
pub mod delete;
pub mod edit;
pub mod get;
pub mod list;
pub mod mentions;
pub mod send;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use table::schema::Table;
use table::{Access, AccessPattern, Action, Condition, Error, Rev, Stored};
use utoipa::ToSchema;
use web::{Context, Problem};

use crate::access::{GROUP_CHATS, PRIVATE_CHATS};
use crate::caller::Caller;
use crate::group_chats::ChatMember;
use crate::keys::{member_key, message_key, reaction_key};
use crate::names::{ChatId, MessageId, UserId};
use crate::schema;

const LIST: &str = "/chat/{kind}/{chatId}/messages";
pub const ONE: &str = "/chat/{kind}/{chatId}/messages/{messageId}";

/// The messages and the message of the samples.
const SAMPLE_LIST: &str = "/chat/privatechats/019b76da-a800-7000-8000-000000000031/messages";
const SAMPLE: &str =
    "/chat/privatechats/019b76da-a800-7000-8000-000000000031/messages/019b76da-a800-7000-8000-000000000041";

pub const MESSAGE_DELETED: web::Kind = web::Kind::new(409, "message-deleted", "Message deleted");
pub const BLOCKED: web::Kind = web::Kind::new(403, "blocked", "Blocked");
pub const GONE: web::Kind = web::Kind::new(403, "gone", "Member deleted");

/// The caller's membership in a chat, and the chat itself where that matters.
pub const MEMBERSHIP: AccessPattern = AccessPattern::new("membership", &[GROUP_CHATS.get(), PRIVATE_CHATS.get()]);

/// A message.
pub const MESSAGE: AccessPattern = AccessPattern::new("message", &[GROUP_CHATS.get(), PRIVATE_CHATS.get()]);

/// The caller's reactions to messages.
pub const OWN_REACTIONS: AccessPattern =
    AccessPattern::new("ownReactions", &[GROUP_CHATS.batch_get(), PRIVATE_CHATS.batch_get()]);

/// A message as the table stores it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Message {
    pub id: MessageId,
    pub sender_id: UserId,
    /// Absent once the message is deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// A message of the same chat.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<MessageId>,
    pub created_at: String,
    /// How many people reacted with each kind, for at most 20 kinds. Stored even if it is empty, since a reaction is
    /// counted in place.
    #[serde(default)]
    pub reactions: BTreeMap<String, u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_reaction: Option<LastReaction>,
    /// Spelt as the table's design has it.
    pub editted: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub editted_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted_by: Option<UserId>,
    #[serde(with = "serde_dynamo::string_set", default, skip_serializing_if = "BTreeSet::is_empty")]
    pub mentions: BTreeSet<UserId>,
    /// Both members of a private chat.
    #[serde(with = "serde_dynamo::string_set", default, skip_serializing_if = "BTreeSet::is_empty")]
    pub member_ids: BTreeSet<UserId>,
}

/// The last change of a message's reactions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct LastReaction {
    pub by: UserId,
    pub kind: String,
    pub on: bool,
}

/// The kinds with which a user reacted to a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Reaction {
    #[serde(with = "serde_dynamo::string_set")]
    pub kinds: BTreeSet<String>,
}

impl Message {
    /// A new message.
    pub fn new(id: MessageId, sender: UserId, content: String) -> Self {
        Self {
            id,
            sender_id: sender,
            content: Some(content),
            reply_to: None,
            created_at: id.time().to_string(),
            reactions: BTreeMap::new(),
            last_reaction: None,
            editted: false,
            editted_at: None,
            deleted_at: None,
            deleted_by: None,
            mentions: BTreeSet::new(),
            member_ids: BTreeSet::new(),
        }
    }
}

/// A message in responses, and in events without the caller's reactions.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Message)]
pub struct MessageView {
    pub id: MessageId,
    pub sender_id: UserId,
    /// `null` once the message is deleted.
    #[schema(required = true)]
    pub content: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<MessageId>,
    pub created_at: String,
    pub edited: bool,
    #[schema(required = true)]
    pub edited_at: Option<String>,
    #[schema(required = true)]
    pub deleted_at: Option<String>,
    /// Absent if the message was deleted because of its age.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted_by: Option<UserId>,
    pub mentions: BTreeSet<UserId>,
    /// How many people reacted with each kind.
    pub reactions: BTreeMap<String, u64>,
    /// The kinds with which the caller reacted. Absent if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub my_reactions: Option<BTreeSet<String>>,
    /// The revision. It grows with every change of the message.
    pub rev: u64,
}

impl MessageView {
    pub fn new(message: Message, rev: Option<Rev>) -> Self {
        Self {
            id: message.id,
            sender_id: message.sender_id,
            content: message.content,
            reply_to: message.reply_to,
            created_at: message.created_at,
            edited: message.editted,
            edited_at: message.editted_at,
            deleted_at: message.deleted_at,
            deleted_by: message.deleted_by,
            mentions: message.mentions,
            reactions: message.reactions,
            my_reactions: None,
            rev: rev.map_or(0, Rev::number),
        }
    }

    pub fn read(stored: &Stored) -> Result<Self, Error> {
        Ok(Self::new(stored.read()?, stored.rev))
    }
}

/// Whether a chat is a group chat or a private chat, in paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum ChatKind {
    GroupChats,
    PrivateChats,
}

/// The path of a chat of either kind.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChatPath {
    kind: ChatKind,
    #[schema(example = "019b76da-a800-7000-8000-000000000031")]
    chat_id: String,
}

/// The path of a message in a chat of either kind.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessagePath {
    kind: ChatKind,
    #[schema(example = "019b76da-a800-7000-8000-000000000031")]
    chat_id: String,
    #[schema(value_type = String, example = "019b76da-a800-7000-8000-000000000041")]
    pub message_id: MessageId,
}

impl ChatPath {
    pub fn chat(&self) -> Result<ChatId, Problem> {
        chat_id(self.kind, &self.chat_id)
    }
}

impl MessagePath {
    pub fn chat(&self) -> Result<ChatId, Problem> {
        chat_id(self.kind, &self.chat_id)
    }
}

/// The problem of a member of a private chat whom the other member has blocked.
pub fn blocked() -> Problem {
    BLOCKED.because("This person does not accept what you send.")
}

/// Returns the chat of a path, or 404 for a text that is no id.
pub fn chat_id(kind: ChatKind, id: &str) -> Result<ChatId, Problem> {
    let chat = match kind {
        ChatKind::GroupChats => id.parse().map(ChatId::Group),
        ChatKind::PrivateChats => id.parse().map(ChatId::Private),
    };
    chat.map_err(|_| Problem::not_found())
}

/// Returns the path of a chat.
pub fn path_of(chat: ChatId) -> String {
    match chat {
        ChatId::Group(id) => format!("/chat/groupchats/{id}"),
        ChatId::Private(id) => format!("/chat/privatechats/{id}"),
    }
}

/// Returns the table of a chat with its members, messages and reactions.
pub fn table_of(chat: ChatId) -> &'static Table {
    match chat {
        ChatId::Group(_) => &schema::GROUP_CHATS,
        ChatId::Private(_) => &schema::PRIVATE_CHATS,
    }
}

/// A user as a member of a chat.
#[derive(Clone, Debug)]
pub struct Membership {
    pub chat: ChatId,
    pub caller: Caller,
    pub member: ChatMember,
    /// The member's item, for its revision.
    pub stored: Stored,
}

impl Membership {
    /// Returns the other member of a private chat.
    pub fn other(&self) -> Option<UserId> {
        self.member.member_ids.iter().copied().find(|id| *id != self.caller.id)
    }

    /// Returns the check that the other member of a private chat has not blocked this one.
    pub fn not_blocked(&self) -> Option<Action> {
        let other = Action::check(table_of(self.chat), member_key(self.chat, self.other()?));
        Some(other.when(Condition::Absent("BlockedAt")))
    }

    /// Returns the members whose usernames can be mentioned without a look-up: those of a private chat.
    pub fn member_ids(&self) -> &BTreeSet<UserId> {
        &self.member.member_ids
    }
}

/// Loads the caller as a member of a chat: 404 unless the caller is one. The route has the patterns `CALLER` and
/// [`MEMBERSHIP`].
pub async fn membership(cx: &Context, chat: ChatId) -> Result<Membership, Problem> {
    let caller = Caller::load(cx).await?;
    let stored = find_member(cx.access(), chat, caller.id).await?.ok_or_else(Problem::not_found)?;
    Ok(Membership { chat, caller, member: stored.read()?, stored })
}

/// Reads the member item of a user by the pattern [`MEMBERSHIP`].
pub async fn find_member(access: &Access, chat: ChatId, user: UserId) -> Result<Option<Stored>, Error> {
    access.table(&MEMBERSHIP, table_of(chat)).get_consistent(member_key(chat, user)).await
}

/// Reads a message by the pattern [`MESSAGE`], or returns 404.
pub async fn load(cx: &Context, chat: ChatId, message: MessageId) -> Result<(Message, Stored), Problem> {
    let messages = cx.access().table(&MESSAGE, table_of(chat));
    let stored = messages.get_consistent(message_key(chat, message)).await?.ok_or_else(Problem::not_found)?;
    Ok((stored.read()?, stored))
}

/// Adds the caller's reactions to those messages that have any, by the pattern [`OWN_REACTIONS`].
pub async fn add_own_reactions(
    access: &Access,
    chat: ChatId,
    user: UserId,
    messages: &mut [MessageView],
) -> Result<(), Problem> {
    let mut reacted: Vec<&mut MessageView> =
        messages.iter_mut().filter(|message| !message.reactions.is_empty()).collect();
    if reacted.is_empty() {
        return Ok(());
    }
    let keys: Vec<_> = reacted.iter().map(|message| reaction_key(chat, message.id, user)).collect();
    let found = access.table(&OWN_REACTIONS, table_of(chat)).batch_get(&keys).await?;
    for (message, own) in reacted.iter_mut().zip(found) {
        message.my_reactions = own.map(|own| own.read::<Reaction>()).transpose()?.map(|own| own.kinds);
    }
    Ok(())
}
