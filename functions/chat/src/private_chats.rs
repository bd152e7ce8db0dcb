//! Private chats between two users: their items, and the operations on them.

pub mod block;
pub mod get;
pub mod list_mine;
pub mod start;
pub mod unblock;
pub mod update;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use table::{AccessPattern, Stored};
use utoipa::ToSchema;
use web::{Context, Problem};

use crate::access::PRIVATE_CHATS;
use crate::keys::PrivateChatKey;
use crate::names::{PrivateChatId, UserId};
use crate::schema;

const LIST: &str = "/chat/privatechats";
const ONE: &str = "/chat/privatechats/{chatId}";
const BLOCK: &str = "/chat/privatechats/{chatId}/block";

/// The private chat of the samples.
const SAMPLE: &str = "/chat/privatechats/019b76da-a800-7000-8000-000000000031";
const SAMPLE_BLOCK: &str = "/chat/privatechats/019b76da-a800-7000-8000-000000000031/block";

/// A private chat.
const PRIVATE_CHAT: AccessPattern = AccessPattern::new("privateChat", &[PRIVATE_CHATS.get()]);

/// A private chat as the table stores it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct PrivateChat {
    pub id: PrivateChatId,
    pub name: String,
    pub description: String,
    #[serde(with = "serde_dynamo::string_set")]
    pub member_ids: BTreeSet<UserId>,
    pub created_at: String,
}

/// The private chat of two users.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Pair {
    pub chat_id: PrivateChatId,
}

/// A private chat in responses.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PrivateChat)]
pub struct PrivateChatView {
    pub id: PrivateChatId,
    /// Empty until a member sets it.
    pub name: String,
    pub description: String,
    pub member_ids: BTreeSet<UserId>,
    pub created_at: String,
}

impl From<PrivateChat> for PrivateChatView {
    fn from(chat: PrivateChat) -> Self {
        Self {
            id: chat.id,
            name: chat.name,
            description: chat.description,
            member_ids: chat.member_ids,
            created_at: chat.created_at,
        }
    }
}

/// The path of a private chat.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PrivateChatPath {
    #[schema(value_type = String, example = "019b76da-a800-7000-8000-000000000031")]
    pub chat_id: PrivateChatId,
}

/// Reads a private chat by the pattern [`PRIVATE_CHAT`], or returns 404.
async fn load(cx: &Context, chat: PrivateChatId) -> Result<(PrivateChat, Stored), Problem> {
    let stored =
        cx.access().table(&PRIVATE_CHAT, &schema::PRIVATE_CHATS).get_consistent(PrivateChatKey { chat }).await?;
    let stored = stored.ok_or_else(Problem::not_found)?;
    Ok((stored.read()?, stored))
}
