//! `DELETE /chat/{kind}/{chatId}/messages/{messageId}/reactions/{reaction}`

use table::{AccessPattern, Action, Changes};
use web::{Context, NoContent, Path, Problem, Route, Sample, problem};

use super::count::{Change, count};
use super::{ONE, REACTION, ReactionPath, SAMPLE, own};
use crate::access::{CALLER, GROUP_CHATS, PRIVATE_CHATS};
use crate::caller::{BANNED, SIGNED_IN};
use crate::keys::member_key;
use crate::messages::{MEMBERSHIP, MESSAGE, load, membership, table_of};
use crate::rates::{self, COUNT};

/// The end of a reaction, counted by its message.
const UNREACT: AccessPattern = AccessPattern::new(
    "unreact",
    &[
        GROUP_CHATS.update(),
        GROUP_CHATS.delete(),
        GROUP_CHATS.check(),
        PRIVATE_CHATS.update(),
        PRIVATE_CHATS.delete(),
        PRIVATE_CHATS.check(),
    ],
);

pub fn route() -> Route {
    Route::delete("unreact", ONE, SIGNED_IN, unreact)
        .summary("Remove the caller's reaction to a message")
        .patterns(&[&CALLER, &MEMBERSHIP, &MESSAGE, &REACTION, &COUNT, &UNREACT])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND, problem::CONFLICT, problem::TOO_MANY_REQUESTS])
        .sample(Sample::new(SAMPLE))
}

async fn unreact(cx: Context, Path(path): Path<ReactionPath>) -> Result<NoContent, Problem> {
    let (chat, kind) = (path.chat()?, path.reaction()?);
    let member = membership(&cx, chat).await?;
    rates::count(&cx, &rates::SENDS, &[&member.caller.id.to_string()]).await?;
    cx.retry(|| async {
        let (message, _) = load(&cx, chat, path.message_id).await?;
        let own = own(&cx, chat, message.id, member.caller.id).await?;
        let own = own.filter(|(own, _)| own.kinds.contains(kind.as_str()) && message.deleted_at.is_none());
        // The deletion of a message removes its reactions.
        let Some((before, stored)) = own else { return Ok(NoContent) };
        let mut after = before.clone();
        after.kinds.remove(kind.as_str());
        let row = if after.kinds.is_empty() {
            Action::delete(table_of(chat), stored.key.clone())
        } else {
            Action::update(table_of(chat), stored.key.clone(), Changes::between(&before, &after)?)
        };
        let is_last = message.reactions.get(kind.as_str()).is_none_or(|count| *count <= 1);
        let change = if is_last { Change::Remove } else { Change::Decrement };
        let counted = count(&member, message.id, &kind, change)?;
        let own_member = Action::check(table_of(chat), member_key(chat, member.caller.id));
        let actions = [row.if_unchanged(&stored), counted, own_member];
        let Err(error) = cx.access().transact(&UNREACT, &actions).await else { return Ok(NoContent) };
        Err(if error.failed(2).is_some() {
            Problem::not_found()
        } else if error.failed(0).is_some() || error.failed(1).is_some() {
            Problem::lost_race()
        } else {
            error.into()
        })
    })
    .await
}
