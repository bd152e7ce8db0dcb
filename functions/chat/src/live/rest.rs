//! The followers of a feed past the first ones. They are served by a queue, 500 by each message, at most once a second
//! however fast events come: each message delivers all events since the first one that made it due.

use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use table::access::OnQueue;
use table::{Access, AccessPattern, Error, Position};
use web::{Event, EventFailure, EventHandler};

use super::connections::FORGET;
use super::fan_out::{FAN_OUT, FanOut, MARGIN};
use super::feed::Feed;
use super::feeds::{self, Begun, Entry, FAN_OUT_DUE, MAX_REPLAYED, Missed, REPLAY, Rest};
use super::frame::of_events;
use super::replay::{self, MESSAGES_OF_GROUP_CHATS};
use crate::schema::{FAN_OUT_QUEUE, FAN_OUT_REST, LIVE};

/// The message for the next followers.
pub const QUEUE_REST: AccessPattern = AccessPattern::new("queueRest", &[OnQueue(FAN_OUT_QUEUE).send()]);

/// A message about a chat that has no events.
const SAMPLE_MESSAGE: &str = r#"{"feed":"groupchat/019b76da-a800-7000-8000-000000000029","from":1,"after":{"pk":"SUB#groupchat/019b76da-a800-7000-8000-000000000029","sk":"USER#019b76da-a800-7000-8000-000000000001#SaMpLe="},"first":false}"#;

/// How long events are collected for the followers past the first.
const DELAY: Duration = Duration::from_secs(1);

#[derive(Debug, Serialize, Deserialize)]
struct Message {
    feed: String,
    /// The first number to deliver.
    from: u64,
    /// The followers up to this position have been served.
    after: Position,
    /// Whether this is the first message of a fan-out.
    first: bool,
}

pub fn handler() -> EventHandler {
    let handler = EventHandler::new(FAN_OUT_REST, fan_out_rest);
    handler
        .patterns(&[&FAN_OUT_DUE, &FAN_OUT, &QUEUE_REST, &REPLAY, &MESSAGES_OF_GROUP_CHATS, &FORGET])
        .sample_message(SAMPLE_MESSAGE)
}

/// Queues the followers after a position, unless a message that is queued already will serve them.
pub async fn begin(access: &Access, feed: Feed, from: u64, after: Position) -> Result<(), Error> {
    let rest = Rest { from, after: sort_key(&after)? };
    if !feeds::set_fan_out_due(access, feed, &rest).await? {
        return Ok(());
    }
    let message = Message { feed: feed.to_string(), from, after, first: true };
    access.queue(&QUEUE_REST, FAN_OUT_QUEUE).send_after(&message, DELAY).await
}

async fn fan_out_rest(event: Event) -> Result<Bytes, EventFailure> {
    for message in event.messages()? {
        serve(&event, message).await.map_err(EventFailure::new)?;
    }
    Ok(Bytes::from_static(b"{}"))
}

async fn serve(event: &Event, message: Message) -> Result<(), Error> {
    let access = event.access();
    let feed: Feed = message.feed.parse().map_err(|_| Error::Misfit("a message names no feed".to_owned()))?;
    let rest = Rest { from: message.from, after: sort_key(&message.after)? };
    let begun = match message.first {
        true => feeds::begin_fan_out(access, feed, rest).await?,
        false => feeds::head(access, feed).await?.map(|head| Begun { head, rest, is_kept: false }),
    };
    let Some(begun) = begun else { return Ok(()) };
    deliver(event, feed, &begun, message).await?;
    feeds::finish_fan_out(access, feed, &begun).await
}

/// Delivers the events of a fan-out to its next followers, and queues those after them.
async fn deliver(event: &Event, feed: Feed, begun: &Begun, message: Message) -> Result<(), Error> {
    let access = event.access();
    let Some((from, entries)) = events(access, feed, begun, message.from).await? else { return Ok(()) };
    let entries = replay::with_messages(access, &MESSAGES_OF_GROUP_CHATS, entries).await?;
    let frames = of_events(feed, false, &entries);
    let fan_out = FanOut::new(access, event.deadline, MARGIN);
    let (followers, others) = fan_out.followers(feed, Some(FanOut::after(feed, &begun.rest.after))).await?;
    if let Some(after) = others {
        let next = Message { feed: message.feed, from, after, first: false };
        access.queue(&QUEUE_REST, FAN_OUT_QUEUE).send(&next).await?;
    }
    fan_out.deliver(feed, followers, &frames).await;
    Ok(())
}

/// Reads the events of a fan-out, and returns them with the first number. They are only those of its own message if the
/// others, which an earlier fan-out has not delivered, have expired.
async fn events(access: &Access, feed: Feed, begun: &Begun, own: u64) -> Result<Option<(u64, Vec<Entry>)>, Error> {
    for from in [begun.rest.from, own] {
        // Followers who miss more ask for it.
        let known = from.saturating_sub(1).max(begun.head.saturating_sub(MAX_REPLAYED));
        match feeds::missed(access, feed, known, begun.head, MAX_REPLAYED).await? {
            Missed::Entries(entries) => return Ok(Some((from, entries))),
            Missed::TooMuch => {}
        }
    }
    Ok(None)
}

/// Returns the sort key of a position among the followers.
fn sort_key(position: &Position) -> Result<String, Error> {
    let key = position.key(&LIVE).and_then(|key| key.sk);
    key.ok_or_else(|| Error::Misfit("a message names no position".to_owned()))
}
