//! `POST /chat/{kind}/{chatId}/messages`

use std::collections::BTreeSet;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use table::{AccessPattern, Action, Changes, Clock, Condition, Error, Escaped, Failed, Item, Rev, item};
use tokio::time::{Instant, timeout};
use utoipa::ToSchema;
use uuid::Uuid;
use web::{Context, Created, Fault, IdempotencyKey, Json, Path, Problem, Route, Rules, Sample, Valid, problem};

use super::mentions::{self, MENTIONS};
use super::{
    BLOCKED, ChatPath, GONE, LIST, MEMBERSHIP, MESSAGE, Membership, Message, MessageView, SAMPLE_LIST, blocked,
    content, membership, path_of, table_of,
};
use crate::access::{CALLER, GROUP_CHATS, LIVE, PRIVATE_CHATS};
use crate::caller::{BANNED, SIGNED_IN};
use crate::group_chats::ChatMember;
use crate::keys::{SentKey, chat_key, member_key, message_key};
use crate::names::{ChatId, MessageId, UserId};
use crate::rates::{self, COUNT, count};
use crate::schema;

/// A new message with its guard, which moves the sender's position; or the guard of one that was sent before. The other
/// member of a private chat has neither blocked the sender nor been deleted.
const SEND: AccessPattern = AccessPattern::new(
    "send",
    &[
        GROUP_CHATS.put(),
        GROUP_CHATS.update(),
        PRIVATE_CHATS.put(),
        PRIVATE_CHATS.update(),
        PRIVATE_CHATS.check(),
        LIVE.get(),
        LIVE.put(),
    ],
);

/// How long a message may be stored later than its id says. A client that reads messages after the newest that it knows
/// starts a few seconds before.
const MAX_DELAY: Duration = Duration::from_millis(1500);

/// How long further ids are tried, within the time of the request.
const MAX_TIME: Duration = Duration::from_secs(8);

/// How long a message is not sent again with the same idempotency key.
const GUARD_SECONDS: i64 = 24 * 60 * 60;

/// A new message.
#[derive(Clone, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewMessage {
    /// Stored byte for byte. Has a visible character, and no control characters but newlines and tabs.
    #[schema(min_length = 1, max_length = 4000)]
    content: String,
    /// A message of the same chat.
    #[serde(default)]
    #[schema(nullable = false)]
    reply_to: Option<MessageId>,
}

impl Rules for NewMessage {
    fn faults(&self) -> Vec<Fault> {
        content::fault("/content", &self.content).into_iter().collect()
    }
}

/// The message that was sent with an idempotency key. Its content is that of the request, so it is not kept twice.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Sent {
    message_id: MessageId,
    #[serde(with = "serde_dynamo::string_set", default, skip_serializing_if = "BTreeSet::is_empty")]
    mentions: BTreeSet<UserId>,
    fingerprint: String,
    #[serde(rename = "expires")]
    expires: i64,
}

pub fn route() -> Route {
    Route::post("sendMessage", LIST, SIGNED_IN, send)
        .summary("Send a message; the header `Idempotency-Key` is required and is a UUID")
        .patterns(&[&CALLER, &MEMBERSHIP, &MESSAGE, &MENTIONS, &COUNT, &SEND])
        .problems(&[
            problem::FORBIDDEN,
            BANNED,
            BLOCKED,
            GONE,
            problem::NOT_FOUND,
            problem::CONFLICT,
            problem::TOO_MANY_REQUESTS,
            problem::UNPROCESSABLE,
            problem::KEY_REUSED,
        ])
        .sample(
            Sample::new(SAMPLE_LIST)
                .body(r#"{"content":"Hello, Bob!"}"#)
                .headers(&[("idempotency-key", "5f0c7127-0be9-4d0c-8d3c-6d1f3f1d6a01")]),
        )
}

async fn send(
    cx: Context,
    Path(path): Path<ChatPath>,
    once: IdempotencyKey,
    Valid(Json(new)): Valid<Json<NewMessage>>,
) -> Result<Created<MessageView>, Problem> {
    let chat = path.chat()?;
    let sender = membership(&cx, chat).await?;
    require_not_deleted(&cx, chat).await?;
    let (key, fingerprint) = required(&once)?;
    let guard = SentKey {
        chat: Escaped::new(chat.to_string()).map_err(Problem::internal)?,
        user: sender.caller.id,
        key: Escaped::new(key).map_err(Problem::internal)?,
    };
    if let Err(refused) = count(&cx, &rates::SENDS, &[&sender.caller.id.to_string()]).await {
        // A client that retries learns of its message even above the limit. Only then does that cost a read.
        let earlier = cx.access().table(&SEND, &schema::LIVE).get_consistent(guard).await?;
        return earlier.map_or(Err(refused), |earlier| replay(&sender, new, earlier.item, &fingerprint));
    }
    if let Some(reply_to) = new.reply_to {
        let fault = || vec![Fault::pointer("/replyTo", "is not a message of this chat")];
        let messages = cx.access().table(&MESSAGE, table_of(chat));
        // The message may have been sent just now.
        let found = messages.get_consistent(message_key(chat, reply_to)).await?;
        found.ok_or_else(|| Problem::unprocessable(fault()))?;
    }
    let mentions = mentions::find(&cx, &sender, &new.content).await?;
    let mut member = sender.member.clone();
    let end = Instant::now() + MAX_TIME;
    while Instant::now() < end {
        let id = next_id(&cx.engines().clock, &member);
        let message = Message {
            reply_to: new.reply_to,
            mentions: mentions.clone(),
            member_ids: member.member_ids.clone(),
            ..Message::new(id, sender.caller.id, new.content.clone())
        };
        let sent = Sent {
            message_id: id,
            mentions: mentions.clone(),
            fingerprint: fingerprint.clone(),
            expires: cx.engines().clock.seconds() + GUARD_SECONDS,
        };
        let actions = actions(&sender, &member, &message, &guard, &sent)?;
        match timeout(MAX_DELAY, cx.access().transact(&SEND, &actions)).await {
            Ok(Ok(rev)) => return Ok(created(chat, message, rev)),
            // The guard tells whether an attempt that was given up has been carried out after all.
            Err(_) => {}
            Ok(Err(error)) => {
                if let Some(earlier) = error.failed(GUARD) {
                    let earlier = earlier.item.clone().ok_or_else(Problem::conflict)?;
                    return replay(&sender, new, earlier, &fingerprint);
                }
                if let Some(refused) = error.failed(OTHER_MEMBER) {
                    return Err(refusal(refused));
                }
                member = moved(error)?;
            }
        }
    }
    Err(Problem::conflict())
}

/// 404 for a group chat that is being deleted. Its item is not in the transaction, where it would make senders conflict
/// with each other. A message that is on its way during the mark of the chat is deleted with the others.
async fn require_not_deleted(cx: &Context, chat: ChatId) -> Result<(), Problem> {
    let ChatId::Group(_) = chat else { return Ok(()) };
    let stored = cx.access().table(&MEMBERSHIP, table_of(chat)).get_consistent(chat_key(chat)).await?;
    let is_deleted = stored.is_some_and(|stored| stored.item.contains_key("DeletingAt"));
    if is_deleted { Err(Problem::not_found()) } else { Ok(()) }
}

/// The places of the actions in the transaction.
const MEMBER: usize = 1;
const GUARD: usize = 2;
const OTHER_MEMBER: usize = 3;

fn actions(
    sender: &Membership,
    member: &ChatMember,
    message: &Message,
    guard: &SentKey,
    sent: &Sent,
) -> Result<Vec<Action>, Problem> {
    let (chat, table, id) = (sender.chat, table_of(sender.chat), message.id);
    let own_id = || item::text(id.to_string());
    let moved =
        Changes::new().set("LastReadId", own_id()).set("LastSentId", own_id()).set("MentionsUnread", item::number(0));
    let below = |name, position: Option<MessageId>| match position {
        Some(_) => Condition::AtMost(name, own_id()),
        None => Condition::Absent(name),
    };
    let position = Action::update(table, member_key(chat, sender.caller.id), moved)
        .when(Condition::Absent("GoneAt"))
        .when(below("LastReadId", member.last_read_id))
        .when(below("LastSentId", member.last_sent_id));
    let mut actions = vec![
        Action::create(table, message_key(chat, id), message)?,
        position,
        Action::create(&schema::LIVE, guard, sent)?,
    ];
    if let Some(other) = sender.other() {
        let other = Action::check(table, member_key(chat, other));
        actions.push(other.when(Condition::Absent("BlockedAt")).when(Condition::Absent("GoneAt")));
    }
    Ok(actions)
}

/// Returns a new id after all that the sender has read and sent: the present time, or the millisecond after them.
fn next_id(clock: &Clock, member: &ChatMember) -> MessageId {
    let id = MessageId::now(clock);
    match member.last_read_id.max(member.last_sent_id) {
        Some(last) if last >= id => MessageId::at(last.time().millis() + 1),
        _ => id,
    }
}

/// Returns the idempotency key and the fingerprint of its request, or 400.
fn required(once: &IdempotencyKey) -> Result<(String, String), Problem> {
    let fault = |detail: &str| Problem::faults(vec![Fault::header("idempotency-key", detail)]);
    let request = once.idempotency().ok_or_else(|| fault("is required: a UUID that is new for each message"))?;
    let is_long = request.key.len() == uuid::fmt::Hyphenated::LENGTH;
    let key = Uuid::parse_str(&request.key).ok().filter(|_| is_long).ok_or_else(|| fault("must be a UUID"))?;
    Ok((key.to_string(), request.fingerprint.clone()))
}

/// Returns the response to the first request with the same key, from its guard and from this same request.
fn replay(
    sender: &Membership,
    new: NewMessage,
    guard: Item,
    fingerprint: &str,
) -> Result<Created<MessageView>, Problem> {
    let rev = item::rev(&guard).ok_or_else(|| Problem::internal("a sent guard has no revision"))?;
    let sent: Sent = item::from_item(guard)?;
    if sent.fingerprint != fingerprint {
        return Err(Problem::key_reused());
    }
    let first = Message {
        reply_to: new.reply_to,
        mentions: sent.mentions,
        ..Message::new(sent.message_id, sender.caller.id, new.content)
    };
    Ok(created(sender.chat, first, rev))
}

fn created(chat: ChatId, message: Message, rev: Rev) -> Created<MessageView> {
    let location = format!("{}/messages/{}", path_of(chat), message.id);
    Created::new(location, rev, &MessageView::new(message, Some(rev)))
}

/// Returns the problem of a condition on the other member of a private chat.
pub fn refusal(refused: &Failed) -> Problem {
    match &refused.item {
        Some(item) if !item.contains_key("GoneAt") => blocked(),
        _ => GONE.because("This person was deleted."),
    }
}

/// Returns the sender's member item after a condition on it has failed: the position has moved on.
fn moved(error: Error) -> Result<ChatMember, Problem> {
    let Some(failed) = error.failed(MEMBER) else { return Err(error.into()) };
    let member: Option<ChatMember> = failed.item.clone().map(item::from_item).transpose()?;
    // Without the item the sender has left the chat.
    member.filter(|member| member.gone_at.is_none()).ok_or_else(Problem::not_found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(read: Option<i64>, sent: Option<i64>) -> ChatMember {
        let user = UserId::at(1);
        ChatMember {
            last_read_id: read.map(MessageId::at),
            last_sent_id: sent.map(MessageId::at),
            ..ChatMember::new(String::new(), user, String::new())
        }
    }

    #[test]
    fn id_follows_all_that_the_sender_has_read_and_sent() {
        let clock = Clock::system();
        let now = MessageId::now(&clock).time().millis();
        let ahead = now + 60_000;
        for (read, sent) in [(Some(ahead), None), (None, Some(ahead)), (Some(ahead - 5), Some(ahead))] {
            let id = next_id(&clock, &member(read, sent));
            assert_eq!(id.time().millis(), ahead + 1);
        }
        for (read, sent) in [(None, None), (Some(1), Some(2))] {
            assert!(next_id(&clock, &member(read, sent)).time().millis() >= now);
        }
    }
}
