//! `PATCH /chat/{kind}/{chatId}/messages/{messageId}`, by the sender.

use serde::Deserialize;
use table::{AccessPattern, Action, Changes, Condition, item};
use utoipa::ToSchema;
use web::{Context, Fault, IfMatch, MergePatch, Path, Problem, Route, Rules, Sample, Tagged, Valid, problem};

use super::mentions::{self, MENTIONS};
use super::{
    BLOCKED, MEMBERSHIP, MESSAGE, MESSAGE_DELETED, Message, MessagePath, MessageView, ONE, SAMPLE, blocked, content,
    load, membership, table_of,
};
use crate::access::{CALLER, GROUP_CHATS, PRIVATE_CHATS};
use crate::caller::{BANNED, SIGNED_IN};
use crate::keys::member_key;
use crate::names::Millisecond;
use crate::rates::{self, COUNT, count};

/// The content of a message. Its sender is still a member, and not blocked by the other member of a private chat.
const EDIT: AccessPattern = AccessPattern::new(
    "edit",
    &[GROUP_CHATS.update(), GROUP_CHATS.check(), PRIVATE_CHATS.update(), PRIVATE_CHATS.check()],
);

/// The fields of a message that its sender can update.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessagePatch {
    #[schema(min_length = 1, max_length = 4000, nullable = false)]
    content: Option<String>,
}

impl Rules for MessagePatch {
    fn faults(&self) -> Vec<Fault> {
        self.content.as_deref().and_then(|content| content::fault("/content", content)).into_iter().collect()
    }
}

pub fn route() -> Route {
    Route::patch("editMessage", ONE, SIGNED_IN, edit)
        .summary("Update the content of the caller's own message; mentions do not notify again")
        .patterns(&[&CALLER, &MEMBERSHIP, &MESSAGE, &MENTIONS, &COUNT, &EDIT])
        .problems(&[
            problem::FORBIDDEN,
            BANNED,
            BLOCKED,
            problem::NOT_FOUND,
            MESSAGE_DELETED,
            problem::CONFLICT,
            problem::TOO_MANY_REQUESTS,
        ])
        .sample(Sample::new(SAMPLE).body(r#"{"content":"Hello, Bob! How are you?"}"#))
}

async fn edit(
    cx: Context,
    Path(path): Path<MessagePath>,
    tag: IfMatch,
    Valid(MergePatch(patch)): Valid<MergePatch<MessagePatch>>,
) -> Result<Tagged<MessageView>, Problem> {
    let chat = path.chat()?;
    let sender = membership(&cx, chat).await?;
    count(&cx, &rates::SENDS, &[&sender.caller.id.to_string()]).await?;
    cx.retry_stale(&tag, || async {
        let (before, stored) = load(&cx, chat, path.message_id).await?;
        if before.sender_id != sender.caller.id {
            return Err(Problem::forbidden("Only the sender of a message can update it."));
        }
        if before.deleted_at.is_some() {
            return Err(deleted());
        }
        tag.check(stored.rev)?;
        let content = patch.content.clone().or_else(|| before.content.clone());
        if content == before.content {
            return Ok(Tagged::new(&MessageView::new(before, stored.rev), stored.rev));
        }
        let after = Message {
            mentions: mentions::find(&cx, &sender, content.as_deref().unwrap_or_default()).await?,
            content,
            editted: true,
            editted_at: Some(Millisecond::now(&cx.engines().clock).to_string()),
            ..before.clone()
        };
        let update = Action::update(table_of(chat), stored.key.clone(), Changes::between(&before, &after)?)
            .when(Condition::Equals("SenderId", item::text(sender.caller.id.to_string())))
            .when(Condition::Absent("DeletedAt"));
        let member = Action::check(table_of(chat), member_key(chat, sender.caller.id));
        let mut actions = vec![tag.guard(update, &stored), member];
        // Otherwise the old messages of a blocked person would carry new ones.
        actions.extend(sender.not_blocked());
        match cx.access().transact(&EDIT, &actions).await {
            Ok(rev) => {
                // Reactions are counted meanwhile, so the message is read as it is now. The update stands if that fails.
                let read = load(&cx, chat, path.message_id).await.ok();
                let (message, rev) = read.map_or((after, Some(rev)), |(now, stored)| (now, stored.rev.or(Some(rev))));
                Ok(Tagged::new(&MessageView::new(message, rev), rev))
            }
            Err(error) if error.failed(1).is_some() => Err(Problem::not_found()),
            Err(error) if error.failed(2).is_some() => Err(blocked()),
            // The next attempt reads the message as it is now.
            Err(error) if error.failed(0).is_some() => Err(Problem::stale()),
            Err(error) => Err(error.into()),
        }
    })
    .await
}

/// The problem of a message that was deleted.
pub fn deleted() -> Problem {
    MESSAGE_DELETED.because("This message was deleted.")
}
