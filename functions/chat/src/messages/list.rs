//! `GET /chat/{kind}/{chatId}/messages`

use std::str::FromStr;

use jiff::{RoundMode, Timestamp, TimestampRound, Unit};
use serde::{Deserialize, Serialize};
use table::{AccessPattern, Key, Position, Stored, item};
use utoipa::ToSchema;
use web::{Context, Fault, Json, Limit, Path, Problem, Query, Route, Sample, problem};

use super::{
    ChatPath, LIST, MEMBERSHIP, MessageView, OWN_REACTIONS, SAMPLE_LIST, add_own_reactions, membership, table_of,
};
use crate::access::{CALLER, GROUP_CHATS, PRIVATE_CHATS};
use crate::caller::{BANNED, SIGNED_IN};
use crate::keys::{MESSAGE_PREFIX, chat_partition, message_key};
use crate::names::{ChatId, MessageId, Millisecond};
use crate::people::{self, Include, PEOPLE, PersonName};

/// The messages of a chat.
pub const MESSAGES: AccessPattern = AccessPattern::new("messages", &[GROUP_CHATS.query(), PRIVATE_CHATS.query()]);

/// The query of a history. At most one of `before`, `after` and `around` is allowed.
#[derive(Clone, Debug, Deserialize, ToSchema)]
pub struct HistoryQuery {
    /// Lists older messages than this message, or messages before this time, newest first.
    #[schema(min_length = 1, example = "2026-03-01T10:00:00.123Z", nullable = false)]
    before: Option<String>,
    /// Lists newer messages than this message, or messages from this time on, oldest first.
    #[schema(min_length = 1, nullable = false)]
    after: Option<String>,
    /// Lists this message and messages on both sides of it, or on both sides of this time, newest first.
    #[schema(min_length = 1, nullable = false)]
    around: Option<String>,
    #[serde(default)]
    limit: Limit,
    #[schema(min_length = 1)]
    cursor: Option<String>,
    #[schema(nullable = false)]
    include: Option<Include>,
}

/// A part of a chat's history.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct MessagePage {
    items: Vec<MessageView>,
    /// The page after the last item.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// The page of newer messages, before the first item. Only with `around`.
    #[serde(skip_serializing_if = "Option::is_none")]
    previous_cursor: Option<String>,
    /// With `include=people`: the senders and the people who are mentioned, each once.
    #[serde(skip_serializing_if = "Option::is_none")]
    people: Option<Vec<PersonName>>,
}

pub fn route() -> Route {
    Route::get("listMessages", LIST, SIGNED_IN, list)
        .summary(
            "List the messages of a chat. A message can be stored up to 2 s later than its id says: to poll, list \
             `after` a time 5 s before the newest known message, and ignore known ids",
        )
        .patterns(&[&CALLER, &MEMBERSHIP, &MESSAGES, &OWN_REACTIONS, &PEOPLE])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND])
        .sample(Sample::new(SAMPLE_LIST))
}

/// A place in the history: a message, or a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Message(MessageId),
    Time(Millisecond),
}

/// The side of a place on which messages are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Side {
    Older,
    Newer,
}

/// The place of a cursor: messages on this side of a sort key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Start {
    side: Side,
    sk: String,
}

/// Messages in the order of reading, away from the place where it started.
struct Part {
    items: Vec<Stored>,
    /// The place from which there are more.
    more: Option<String>,
}

async fn list(
    cx: Context,
    Path(path): Path<ChatPath>,
    Query(query): Query<HistoryQuery>,
) -> Result<Json<MessagePage>, Problem> {
    let chat = path.chat()?;
    let reader = membership(&cx, chat).await?;
    let limit = query.limit.0;
    let cursor: Option<Start> = cx.cursor(query.cursor.as_deref())?;
    let [before, after, around] =
        [("before", &query.before), ("after", &query.after), ("around", &query.around)].map(parse);
    let history = History { cx: &cx, chat };
    let (items, next, previous) = match (before?, after?, around?, cursor) {
        (None, None, None, None) => {
            let part = history.read(Side::Older, None, limit, true).await?;
            (part.items, part.more.map(older), None)
        }
        (Some(place), None, None, None) => {
            let part = history.read(Side::Older, Some(place.sk(chat)), limit, false).await?;
            (part.items, part.more.map(older), None)
        }
        (None, Some(place), None, None) => {
            let part = history.read(Side::Newer, Some(place.sk(chat)), limit, true).await?;
            (part.items, part.more.map(newer), None)
        }
        (None, None, Some(place), None) => {
            let newer_limit = limit / 2;
            let newest = history.read(Side::Newer, Some(place.sk(chat)), newer_limit, false).await?;
            let rest = history.read(Side::Older, Some(place.end(chat)), limit - newer_limit, false).await?;
            let items = newest.items.into_iter().rev().chain(rest.items).collect();
            (items, rest.more.map(older), newest.more.map(newer))
        }
        (_, after, around, Some(Start { side, sk })) if query.is_single() => {
            let mut part = history.read(side, Some(sk), limit, after.is_some()).await?;
            match (side, around) {
                (Side::Newer, Some(_)) => {
                    part.items.reverse();
                    (part.items, None, part.more.map(newer))
                }
                (Side::Newer, None) => (part.items, part.more.map(newer), None),
                (Side::Older, _) => (part.items, part.more.map(older), None),
            }
        }
        _ => return Err(Problem::bad_request("Only one of `before`, `after` and `around` is allowed.")),
    };
    let mut items = items.iter().map(MessageView::read).collect::<Result<Vec<_>, _>>()?;
    add_own_reactions(cx.access(), chat, reader.caller.id, &mut items).await?;
    let named = items.iter().flat_map(|message| message.mentions.iter().copied().chain([message.sender_id]));
    Ok(Json(MessagePage {
        people: people::names(&cx, query.include, named).await?,
        items,
        next_cursor: cx.cursor_to(next)?,
        previous_cursor: cx.cursor_to(previous)?,
    }))
}

fn older(sk: String) -> Start {
    Start { side: Side::Older, sk }
}

fn newer(sk: String) -> Start {
    Start { side: Side::Newer, sk }
}

impl HistoryQuery {
    /// Whether at most one place is given.
    fn is_single(&self) -> bool {
        [&self.before, &self.after, &self.around].into_iter().flatten().count() <= 1
    }
}

fn parse((name, text): (&str, &Option<String>)) -> Result<Option<Place>, Problem> {
    let fault = |_| Problem::faults(vec![Fault::parameter(name, "must be the id of a message or a time in RFC 3339")]);
    text.as_deref().map(str::parse).transpose().map_err(fault)
}

impl FromStr for Place {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        if let Ok(id) = text.parse() {
            return Ok(Self::Message(id));
        }
        // A message is not before a time within its millisecond, so the time is rounded up.
        let round = TimestampRound::new().smallest(Unit::Millisecond).mode(RoundMode::Ceil);
        let time = text.parse::<Timestamp>().ok().and_then(|time| time.round(round).ok());
        time.and_then(|time| Millisecond::at(time.as_millisecond())).map(Self::Time).ok_or(())
    }
}

impl Place {
    /// Returns the sort key of the place. Messages on either side have other keys.
    fn sk(self, chat: ChatId) -> String {
        match self {
            Self::Message(id) => message_key(chat, id).sk.unwrap_or_default(),
            Self::Time(time) => format!("{MESSAGE_PREFIX}{time}"),
        }
    }

    /// Returns the sort key after the place, to which the message itself is older.
    fn end(self, chat: ChatId) -> String {
        match self {
            Self::Message(_) => format!("{}~", self.sk(chat)),
            Self::Time(_) => self.sk(chat),
        }
    }
}

/// The messages of a chat.
struct History<'a> {
    cx: &'a Context,
    chat: ChatId,
}

impl History<'_> {
    /// Reads up to `limit` messages on one side of a sort key, the nearest first; without a sort key, the newest.
    async fn read(&self, side: Side, from: Option<String>, limit: u32, consistent: bool) -> Result<Part, Problem> {
        let table = table_of(self.chat);
        let messages = self.cx.access().table(&MESSAGES, table).query(chat_partition(self.chat));
        let mut messages = messages.begins_with(MESSAGE_PREFIX);
        if side == Side::Older {
            messages = messages.backward();
        }
        if consistent {
            messages = messages.consistent();
        }
        let position = from.as_ref().map(|sk| self.position(&messages, sk)).transpose()?;
        let messages = messages.after(position);
        if limit == 0 {
            let more = messages.first().await?.and(from);
            return Ok(Part { items: Vec::new(), more });
        }
        let page = messages.page(limit).await?;
        let last = page.items.last().and_then(|last| last.key.sk.clone());
        Ok(Part { more: page.next.and(last), items: page.items })
    }

    /// Returns the position at a sort key, which need not be that of a message.
    fn position(&self, messages: &table::Query<'_>, sk: &str) -> Result<Position, Problem> {
        let key = Key::new(chat_partition(self.chat), sk);
        let item = item::key_item(table_of(self.chat), &key);
        let position = messages.position_of(&Stored { key, rev: None, item });
        position.ok_or_else(|| Problem::internal("a position in the history lacks its key"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn place_is_a_message_or_a_time_rounded_up() {
        let id = MessageId::at(1_772_359_200_123);
        assert_eq!(id.to_string().parse(), Ok(Place::Message(id)));
        for text in ["2026-03-01T10:00:00.123Z", "2026-03-01T11:00:00.123+01:00", "2026-03-01T10:00:00.1225Z"] {
            assert_eq!(text.parse(), Ok(Place::Time(id.time())), "{text}");
        }
        for text in ["", "x", "2026-03-01", "1969-12-31T23:59:59Z", "-000001-01-01T00:00:00Z"] {
            assert_eq!(text.parse::<Place>(), Err(()), "{text}");
        }
    }

    #[test]
    fn message_is_newer_than_its_time_and_older_than_the_place_after_it() {
        let chat = ChatId::Private(crate::names::PrivateChatId::at(1));
        let id = MessageId::at(1_772_359_200_123);
        let (key, time) = (Place::Message(id).sk(chat), Place::Time(id.time()));
        assert!(time.sk(chat) < key && time.end(chat) < key);
        assert!(key < Place::Message(id).end(chat));
        assert!(Place::Message(id).end(chat) < Place::Time(Millisecond::at(id.time().millis() + 1).unwrap()).sk(chat));
    }
}
