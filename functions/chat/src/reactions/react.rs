//! `PUT /chat/{kind}/{chatId}/messages/{messageId}/reactions/{reaction}`

use table::{AccessPattern, Action, Changes};
use web::{Context, Kind, NoContent, Path, Problem, Route, Sample, problem};

use super::count::{Change, count};
use super::{MAX_KINDS, ONE, REACTION, ReactionPath, SAMPLE, own};
use crate::access::{CALLER, GROUP_CHATS, PRIVATE_CHATS};
use crate::caller::{BANNED, SIGNED_IN};
use crate::keys::{member_key, reaction_key};
use crate::messages::edit::deleted;
use crate::messages::{BLOCKED, MEMBERSHIP, MESSAGE, MESSAGE_DELETED, Reaction, blocked, load, membership, table_of};
use crate::rates::{self, COUNT};

const TOO_MANY_KINDS: Kind = Kind::new(409, "too-many-kinds", "Too many kinds of reactions");

/// A reaction, counted by its message. The other member of a private chat has not blocked the caller.
const REACT: AccessPattern = AccessPattern::new(
    "react",
    &[
        GROUP_CHATS.put(),
        GROUP_CHATS.update(),
        GROUP_CHATS.check(),
        PRIVATE_CHATS.put(),
        PRIVATE_CHATS.update(),
        PRIVATE_CHATS.check(),
    ],
);

pub fn route() -> Route {
    Route::put("react", ONE, SIGNED_IN, react)
        .summary("Add a reaction to a message: one emoji, or a name such as `:wave:`")
        .patterns(&[&CALLER, &MEMBERSHIP, &MESSAGE, &REACTION, &COUNT, &REACT])
        .problems(&[
            problem::FORBIDDEN,
            BANNED,
            BLOCKED,
            problem::NOT_FOUND,
            MESSAGE_DELETED,
            TOO_MANY_KINDS,
            problem::CONFLICT,
            problem::TOO_MANY_REQUESTS,
        ])
        .sample(Sample::new(SAMPLE))
}

async fn react(cx: Context, Path(path): Path<ReactionPath>) -> Result<NoContent, Problem> {
    let (chat, kind) = (path.chat()?, path.reaction()?);
    let member = membership(&cx, chat).await?;
    rates::count(&cx, &rates::SENDS, &[&member.caller.id.to_string()]).await?;
    cx.retry(|| async {
        let (message, _) = load(&cx, chat, path.message_id).await?;
        if message.deleted_at.is_some() {
            return Err(deleted());
        }
        let own = own(&cx, chat, message.id, member.caller.id).await?;
        if own.as_ref().is_some_and(|(own, _)| own.kinds.contains(kind.as_str())) {
            return Ok(NoContent);
        }
        let is_counted = message.reactions.contains_key(kind.as_str());
        if !is_counted && message.reactions.len() >= MAX_KINDS {
            return Err(TOO_MANY_KINDS.because(format!("A message has at most {MAX_KINDS} kinds of reactions.")));
        }
        let row = match &own {
            Some((before, stored)) => {
                let mut after = before.clone();
                after.kinds.insert(kind.to_string());
                let changes = Changes::between(before, &after)?;
                Action::update(table_of(chat), stored.key.clone(), changes).if_unchanged(stored)
            }
            None => {
                let reaction = Reaction { kinds: [kind.to_string()].into() };
                Action::create(table_of(chat), reaction_key(chat, message.id, member.caller.id), &reaction)?
            }
        };
        let change = if is_counted { Change::Increment } else { Change::Insert };
        let counted = count(&member, message.id, &kind, change)?;
        let own_member = Action::check(table_of(chat), member_key(chat, member.caller.id));
        let mut actions = vec![row, counted, own_member];
        actions.extend(member.not_blocked());
        let Err(error) = cx.access().transact(&REACT, &actions).await else { return Ok(NoContent) };
        Err(if error.failed(2).is_some() {
            Problem::not_found()
        } else if error.failed(3).is_some() {
            blocked()
        } else if error.failed(0).is_some() || error.failed(1).is_some() {
            Problem::lost_race()
        } else {
            error.into()
        })
    })
    .await
}
