//! The badges of chats in lists of the caller's chats: the last message, and the unread ones.

use serde::{Deserialize, Serialize};
use table::{Clock, TableAccess};
use utoipa::ToSchema;
use web::Problem;

use crate::group_chats::ChatMember;
use crate::keys::{MESSAGE_PREFIX, chat_partition};
use crate::messages::MessageView;
use crate::names::{ChatId, MessageId};
use crate::reading::{is_muted, position, unread_in};

/// The limit of chats on a page, since each of them costs several reads.
const MAX_CHATS: u32 = 25;

/// The query of a list of the caller's chats.
#[derive(Debug, Deserialize, ToSchema)]
pub struct ChatsQuery {
    #[serde(default = "default_limit")]
    #[schema(minimum = 1, maximum = 25, default = 25)]
    pub limit: u32,
    #[schema(min_length = 1)]
    pub cursor: Option<String>,
    /// Adds `unreadCount` to each chat.
    #[serde(default)]
    pub counts: bool,
}

pub fn default_limit() -> u32 {
    MAX_CHATS
}

/// The news of a chat for a member.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Badges {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_message: Option<MessageView>,
    /// The message up to which the caller has read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_read_id: Option<MessageId>,
    pub has_unread: bool,
    pub mentions_unread: u64,
    /// Whether notifications are muted at present.
    pub muted: bool,
    /// The number of unread messages, at most 100. With `counts=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unread_count: Option<usize>,
}

/// Reads what is new for a member of a chat, eventually consistent.
pub async fn badges(
    table: TableAccess<'_>,
    chat: ChatId,
    member: &ChatMember,
    clock: &Clock,
    counts: bool,
) -> Result<Badges, Problem> {
    let last = table.query(chat_partition(chat)).begins_with(MESSAGE_PREFIX).backward().first().await?;
    let position = position(chat, member);
    let has_unread = last.as_ref().is_some_and(|last| last.key.sk.as_ref().is_some_and(|sk| *sk >= position));
    let unread_count = match counts {
        true if has_unread => Some(unread_in(table, chat, member).await?.messages.len()),
        true => Some(0),
        false => None,
    };
    Ok(Badges {
        last_message: last.as_ref().map(MessageView::read).transpose()?,
        last_read_id: member.last_read_id,
        has_unread,
        mentions_unread: member.mentions_unread,
        muted: is_muted(member, clock),
        unread_count,
    })
}
