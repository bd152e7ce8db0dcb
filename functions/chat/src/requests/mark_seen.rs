//! `PATCH /chat/groupchats/{chatId}/requests/{requestId}`

use serde::Deserialize;
use table::{AccessPattern, Action, Changes, Key, item};
use utoipa::ToSchema;
use web::{Context, Fault, MergePatch, Path, Problem, Route, Rules, Sample, Tagged, Valid, problem};

use super::load::{GET_REQUEST, request_of_chat};
use super::{ChatRequest, ChatRequestPath, ONE, RequestView, SAMPLE};
use crate::access::{CALLER, CHAT_REQUESTS};
use crate::caller::{BANNED, SIGNED_IN};
use crate::group_chats::authorization::{GroupChatAccess, LOAD_GROUP_CHAT};
use crate::keys::{RequestOfChatKey, RequestOfUserKey};
use crate::schema;

const MARK_SEEN: AccessPattern = AccessPattern::new("markRequestSeen", &[CHAT_REQUESTS.update()]);

/// The field of a request that moderators update.
#[derive(Debug, Deserialize, ToSchema)]
pub struct RequestPatch {
    /// Only `true`.
    #[schema(nullable = false)]
    seen: Option<bool>,
}

impl Rules for RequestPatch {
    fn faults(&self) -> Vec<Fault> {
        let unseen = self.seen == Some(false);
        unseen.then(|| Fault::pointer("/seen", "must be true: what was seen stays so")).into_iter().collect()
    }
}

pub fn route() -> Route {
    Route::patch("markRequestSeen", ONE, SIGNED_IN, mark)
        .summary("Mark a request to join a group chat as seen")
        .patterns(&[&CALLER, &LOAD_GROUP_CHAT, &GET_REQUEST, &MARK_SEEN])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND, problem::CONFLICT])
        .sample(Sample::new(SAMPLE).body(r#"{"seen":true}"#))
}

async fn mark(
    cx: Context,
    Path(path): Path<ChatRequestPath>,
    Valid(MergePatch(patch)): Valid<MergePatch<RequestPatch>>,
) -> Result<Tagged<RequestView>, Problem> {
    let access = GroupChatAccess::load(&cx, path.chat_id).await?;
    access.require_moderator()?;
    let (chat, request) = (path.chat_id, path.request_id);
    let (read, rev) = request_of_chat(&cx, chat, request).await?;
    if read.seen || patch.seen.is_none() {
        return Ok(Tagged::new(&read.into(), rev));
    }
    let (time, user) = (request.time(), read.user_id);
    let rows: [Key; 2] =
        [RequestOfChatKey { chat, time, request }.into(), RequestOfUserKey { user, time, request }.into()];
    let seen = Changes::new().set("Seen", item::flag(true));
    let actions = rows.map(|row| Action::update(&schema::CHAT_REQUESTS, row, seen.clone()));
    match cx.access().transact(&MARK_SEEN, &actions).await {
        Ok(rev) => Ok(Tagged::new(&ChatRequest { seen: true, ..read }.into(), rev)),
        // The chat was deleted meanwhile.
        Err(table::Error::ConditionFailed(_)) => Err(Problem::not_found()),
        Err(error) => Err(error.into()),
    }
}
