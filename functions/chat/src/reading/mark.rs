//! `PUT /chat/{kind}/{chatId}/read`

use serde::Deserialize;
use table::{AccessPattern, Action, Changes, Condition, item};
use utoipa::ToSchema;
use web::{Context, Fault, Json, Path, Problem, Route, Sample, problem};

use super::get::{OTHER_POSITION, state};
use super::{READ, ReadState, SAMPLE, UNREAD, mentions_up_to, position, unread};
use crate::access::{CALLER, GROUP_CHATS, PRIVATE_CHATS};
use crate::caller::{BANNED, SIGNED_IN};
use crate::group_chats::ChatMember;
use crate::keys::message_key;
use crate::messages::{ChatPath, MEMBERSHIP, MESSAGE, find_member, membership, table_of};
use crate::names::MessageId;

/// The position of a member.
const MARK_READ: AccessPattern = AccessPattern::new("markRead", &[GROUP_CHATS.update(), PRIVATE_CHATS.update()]);

/// A position in a chat.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ReadPosition {
    /// The last message that was read.
    up_to: MessageId,
}

pub fn route() -> Route {
    Route::put("markRead", READ, SIGNED_IN, mark)
        .summary("Update how far the caller has read a chat; the position never goes back")
        .patterns(&[&CALLER, &MEMBERSHIP, &MESSAGE, &UNREAD, &MARK_READ, &OTHER_POSITION])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND, problem::UNPROCESSABLE, problem::CONFLICT])
        .sample(Sample::new(SAMPLE).body(r#"{"upTo":"019b76da-a800-7000-8000-000000000041"}"#))
}

async fn mark(
    cx: Context,
    Path(path): Path<ChatPath>,
    Json(ReadPosition { up_to }): Json<ReadPosition>,
) -> Result<Json<ReadState>, Problem> {
    let chat = path.chat()?;
    let reader = membership(&cx, chat).await?;
    let messages = cx.access().table(&MESSAGE, table_of(chat));
    if messages.get_consistent(message_key(chat, up_to)).await?.is_none() {
        return Err(Problem::unprocessable(vec![Fault::pointer("/upTo", "is not a message of this chat")]));
    }
    cx.retry(|| async {
        let stored = find_member(cx.access(), chat, reader.caller.id).await?.ok_or_else(Problem::not_found)?;
        let before: ChatMember = stored.read()?;
        // The position never goes back, nor to a message from before the member joined, which is read.
        if message_key(chat, up_to).sk.unwrap_or_default() < position(chat, &before) {
            let unread = unread(cx.access(), chat, &before).await?.messages.len();
            return Ok(Json(state(&cx, &reader, &before, unread).await?));
        }
        let moved = ChatMember { last_read_id: Some(up_to), ..before.clone() };
        let unread = unread(cx.access(), chat, &moved).await?;
        let (user, counted) = (reader.caller.id, before.mentions_unread);
        let mentions_unread = if unread.is_all {
            unread.mentions(user)
        } else if counted == 0 {
            0
        } else {
            // Too many are left to look for mentions in all of them.
            counted.saturating_sub(mentions_up_to(cx.access(), chat, &before, user, up_to).await?)
        };
        let after = ChatMember { mentions_unread, ..moved };
        let changes = Changes::between(&before, &after)?;
        let update = Action::update(table_of(chat), stored.key.clone(), changes).when(match before.last_read_id {
            Some(_) => Condition::AtMost("LastReadId", item::text(up_to.to_string())),
            None => Condition::Absent("LastReadId"),
        });
        // A mention that comes in between is counted by the next attempt.
        let update = update.when(Condition::Equals("MentionsUnread", item::number(before.mentions_unread)));
        match cx.access().write(&MARK_READ, update).await {
            Ok(_) => Ok(Json(state(&cx, &reader, &after, unread.messages.len()).await?)),
            Err(error) if error.failed(0).is_some() => Err(Problem::lost_race()),
            Err(error) => Err(error.into()),
        }
    })
    .await
}
