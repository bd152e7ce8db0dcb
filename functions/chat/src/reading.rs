//! Reading: how far a member has read, what is unread, and what the member wants of the chat.

pub mod get;
pub mod list_readers;
pub mod mark;
pub mod set_preferences;

use serde::Serialize;
use table::{Access, AccessPattern, Clock, Error, Query, Stored, TableAccess};
use utoipa::ToSchema;

use crate::access::{GROUP_CHATS, PRIVATE_CHATS};
use crate::group_chats::ChatMember;
use crate::keys::{MESSAGE_PREFIX, chat_partition, message_key};
use crate::messages::{Message, table_of};
use crate::names::{ChatId, MessageId, UserId};

const READ: &str = "/chat/{kind}/{chatId}/read";

/// The read position of the samples.
const SAMPLE: &str = "/chat/privatechats/019b76da-a800-7000-8000-000000000031/read";

/// The most unread messages that are counted.
const MAX_UNREAD: u32 = 100;

/// The most pages of unread messages in which mentions are looked for.
const MAX_PAGES: usize = 10;

/// The unread messages of a member.
pub const UNREAD: AccessPattern = AccessPattern::new("unread", &[GROUP_CHATS.query(), PRIVATE_CHATS.query()]);

/// A member's state of reading a chat.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReadState {
    /// Absent until the member has read or sent a message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_read_id: Option<MessageId>,
    /// At most 100.
    #[schema(maximum = 100)]
    pub unread_count: usize,
    /// The number of unread messages that mention the member. While more than 100 are unread, it may count some that were
    /// read.
    pub mentions_unread: u64,
    /// The other member of a private chat.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other: Option<OtherReader>,
}

/// How far the other member of a private chat has read.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OtherReader {
    pub user_id: UserId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_read_id: Option<MessageId>,
}

/// Whether a member has muted the chat at present.
pub fn is_muted(member: &ChatMember, clock: &Clock) -> bool {
    let until = member.muted_until.as_deref().and_then(|until| until.parse::<jiff::Timestamp>().ok());
    until.is_some_and(|until| clock.now() < until)
}

/// The first unread messages of a member.
#[derive(Clone, Debug, Default)]
pub struct Unread {
    /// At most 100.
    pub messages: Vec<Message>,
    /// Whether there are no more.
    pub is_all: bool,
}

impl Unread {
    /// Returns how many of the messages mention a user.
    pub fn mentions(&self, user: UserId) -> u64 {
        mentions(&self.messages, user)
    }
}

fn mentions(messages: &[Message], user: UserId) -> u64 {
    messages.iter().map(|message| u64::from(message.mentions.contains(&user))).sum()
}

/// Reads the unread messages of a member, at most 100, by the pattern [`UNREAD`]. It is strongly consistent, since what it
/// finds is stored as the number of mentions.
pub async fn unread(access: &Access, chat: ChatId, member: &ChatMember) -> Result<Unread, Error> {
    first_unread(unread_of(access.table(&UNREAD, table_of(chat)), chat, member).consistent()).await
}

/// Reads the unread messages of a member, at most 100, eventually consistent.
pub async fn unread_in(table: TableAccess<'_>, chat: ChatId, member: &ChatMember) -> Result<Unread, Error> {
    first_unread(unread_of(table, chat, member)).await
}

fn unread_of<'a>(table: TableAccess<'a>, chat: ChatId, member: &ChatMember) -> Query<'a> {
    table.query(chat_partition(chat)).between(position(chat, member), MESSAGES_END)
}

async fn first_unread(messages: Query<'_>) -> Result<Unread, Error> {
    let page = messages.page(MAX_UNREAD).await?;
    let messages = page.items.iter().map(Stored::read).collect::<Result<_, _>>()?;
    Ok(Unread { messages, is_all: page.next.is_none() })
}

/// Counts the mentions of a user in the unread messages of a member up to one of them, by the pattern [`UNREAD`]. It
/// reads a limited number of messages, so that a request does not last too long.
pub async fn mentions_up_to(
    access: &Access,
    chat: ChatId,
    member: &ChatMember,
    user: UserId,
    up_to: MessageId,
) -> Result<u64, Error> {
    let end = message_key(chat, up_to).sk.unwrap_or_default();
    let range = access.table(&UNREAD, table_of(chat)).query(chat_partition(chat));
    let range = range.between(position(chat, member), end).consistent();
    let (mut number, mut after) = (0, None);
    for _ in 0..MAX_PAGES {
        let page = range.clone().after(after).page(MAX_UNREAD).await?;
        let messages: Vec<Message> = page.items.iter().map(Stored::read).collect::<Result<_, _>>()?;
        number += mentions(&messages, user);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    Ok(number)
}

/// A text after the sort keys of all messages.
const MESSAGES_END: &str = "MESSAGE$";

/// Returns the place from which messages are unread: after the last one that was read, or from the time of joining.
pub fn position(chat: ChatId, member: &ChatMember) -> String {
    match member.last_read_id {
        // This is after the key of the message, and before that of the next one.
        Some(last) => format!("{}#", message_key(chat, last).sk.unwrap_or_default()),
        None => format!("{MESSAGE_PREFIX}{}", member.joined_at),
    }
}
