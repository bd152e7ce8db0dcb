//! Reads of one request.

use table::{AccessPattern, Key, Rev};
use web::{Context, Problem};

use super::ChatRequest;
use crate::access::CHAT_REQUESTS;
use crate::keys::{RequestOfChatKey, RequestOfUserKey};
use crate::names::{GroupChatId, RequestId, UserId};
use crate::schema;

pub const GET_REQUEST: AccessPattern = AccessPattern::new("getRequest", &[CHAT_REQUESTS.get()]);

/// Reads a request of a chat. 404 if there is none.
pub async fn request_of_chat(
    cx: &Context,
    chat: GroupChatId,
    request: RequestId,
) -> Result<(ChatRequest, Option<Rev>), Problem> {
    load(cx, RequestOfChatKey { chat, time: request.time(), request }.into()).await
}

/// Reads a request of a user. 404 if there is none.
pub async fn request_of_user(
    cx: &Context,
    user: UserId,
    request: RequestId,
) -> Result<(ChatRequest, Option<Rev>), Problem> {
    load(cx, RequestOfUserKey { user, time: request.time(), request }.into()).await
}

async fn load(cx: &Context, key: Key) -> Result<(ChatRequest, Option<Rev>), Problem> {
    let stored = cx.access().table(&GET_REQUEST, &schema::CHAT_REQUESTS).get_consistent(key).await?;
    let stored = stored.ok_or_else(Problem::not_found)?;
    Ok((stored.read()?, stored.rev))
}
