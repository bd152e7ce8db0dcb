//! Feeds in the table: a head with the number of the last event, and the events by their numbers. Numbers are dense, and
//! every event up to the head can be read for [`ENTRY_SECONDS`].

mod fan_out_due;

use serde::{Deserialize, Serialize};
use table::item::{from_item, number};
use table::{Access, AccessPattern, Action, Backoff, Changes, Clock, Condition, EntityKey, Error, Key, Number};

use super::event::Event;
use super::feed::Feed;
use crate::access::LIVE as ON_LIVE;
use crate::keys::{FeedEntryKey, FeedHeadKey};
use crate::names::Millisecond;
use crate::schema::LIVE;

pub use fan_out_due::{Begun, FAN_OUT_DUE, Rest, begin_fan_out, finish_fan_out, head, set_fan_out_due};

/// The events that are added to a feed, with its head.
pub const APPEND: AccessPattern = AccessPattern::new("appendEvents", &[ON_LIVE.get(), ON_LIVE.put(), ON_LIVE.update()]);

/// The last numbers of feeds.
pub const HEADS: AccessPattern = AccessPattern::new("feedHeads", &[ON_LIVE.batch_get()]);

/// The last numbers of feeds that a client begins to follow.
pub const FOLLOW: AccessPattern = AccessPattern::new("followFeeds", &[ON_LIVE.batch_get(), ON_LIVE.put()]);

/// The events after a number.
pub const REPLAY: AccessPattern = AccessPattern::new("replayEvents", &[ON_LIVE.query()]);

/// The most events of one transaction, which has 100 actions with the head.
pub const MAX_APPENDED: usize = 99;

/// The most events that are replayed. A client that misses more reloads over HTTP.
pub const MAX_REPLAYED: u64 = 1000;

const ENTRY_SECONDS: i64 = 48 * 3600;
const HEAD_SECONDS: i64 = 30 * 24 * 3600;
const N: &str = "N";

/// An event for a feed.
#[derive(Clone, Debug, PartialEq)]
pub struct NewEntry {
    /// The key of the change, the same at each delivery of its record.
    pub key: String,
    pub at: Millisecond,
    pub event: Event,
}

/// An event of a feed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entry {
    pub n: u64,
    pub key: String,
    pub at: String,
    #[serde(flatten)]
    pub event: Event,
}

/// The events of a feed after a number.
#[derive(Clone, Debug, PartialEq)]
pub enum Missed {
    Entries(Vec<Entry>),
    /// Too many events are missing, or they have expired.
    TooMuch,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct StoredEntry {
    key: String,
    at: String,
    /// JSON without the content of messages.
    event: String,
    #[serde(rename = "expires")]
    expires: i64,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Head {
    n: u64,
    /// Since when a fan-out to the followers past the first is due, in milliseconds since 1970, or 0.
    #[serde(default)]
    fanout_due: i64,
    /// The first number that this fan-out delivers.
    #[serde(skip_serializing_if = "Option::is_none")]
    fanout_from: Option<u64>,
    /// The sort key of the subscription after which it begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    fanout_after: Option<String>,
    /// What the last fan-out delivers that has begun with more than its message says, until it has done so.
    #[serde(skip_serializing_if = "Option::is_none")]
    begun_from: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    begun_after: Option<String>,
    #[serde(rename = "expires")]
    expires: i64,
}

impl Head {
    fn new(n: u64, clock: &Clock) -> Self {
        Self {
            n,
            fanout_due: 0,
            fanout_from: None,
            fanout_after: None,
            begun_from: None,
            begun_after: None,
            expires: clock.seconds() + HEAD_SECONDS,
        }
    }
}

/// Adds up to [`MAX_APPENDED`] events to a feed, all or none, and returns the number of the first.
pub async fn append(access: &Access, feed: Feed, entries: &[NewEntry]) -> Result<u64, Error> {
    let clock = &access.engines().clock;
    let key = FeedHeadKey { feed };
    let stored = access.table(&APPEND, &LIVE).get_consistent(&key).await?;
    let mut head = stored.map(|stored| stored.read::<Head>()).transpose()?.map(|head| head.n);
    let mut backoff = Backoff::new();
    loop {
        let before = head.unwrap_or_else(|| new_head(clock));
        let (mut actions, last) = (Vec::with_capacity(entries.len() + 1), before + entries.len() as u64);
        let expires = clock.seconds() + HEAD_SECONDS;
        actions.push(match head {
            Some(n) => {
                let moved = Changes::new().set(N, number(last)).set("expires", number(expires));
                Action::update(&LIVE, &key, moved).when(Condition::Equals(N, number(n)))
            }
            None => Action::create(&LIVE, &key, &Head::new(last, clock))?,
        });
        for (n, entry) in (before + 1..).zip(entries) {
            actions.push(Action::create(&LIVE, FeedEntryKey { feed, number: Number(n) }, &entry.stored(clock)?)?);
        }
        match access.transact(&APPEND, &actions).await {
            Ok(_) => return Ok(before + 1),
            // Another writer has moved the head, or it has expired.
            Err(error) => match error.failed(0) {
                Some(failed) => head = failed.item.clone().map(from_item::<Head>).transpose()?.map(|head| head.n),
                None => return Err(error),
            },
        }
        if !backoff.wait().await {
            return Err(Error::Conflict);
        }
    }
}

/// Returns the number of the last event of each feed, none for a feed without events.
pub async fn heads(access: &Access, feeds: &[Feed]) -> Result<Vec<Option<u64>>, Error> {
    let found = access.table(&HEADS, &LIVE).batch_get(&keys(feeds)).await?;
    found.into_iter().map(|head| Ok(head.map(|head| head.read::<Head>()).transpose()?.map(|head| head.n))).collect()
}

/// Returns the number of the last event of each feed, strongly consistent. A feed without events gets its first number
/// now, so that a follower recognises that it has missed the first event.
pub async fn follow(access: &Access, feeds: &[Feed]) -> Result<Vec<u64>, Error> {
    let clock = &access.engines().clock;
    let mut backoff = Backoff::new();
    loop {
        let found = access.table(&FOLLOW, &LIVE).batch_get_consistent(&keys(feeds)).await?;
        let mut heads = Vec::with_capacity(feeds.len());
        for (head, feed) in found.into_iter().zip(feeds) {
            if let Some(head) = head {
                heads.push(head.read::<Head>()?.n);
                continue;
            }
            let head = Head::new(new_head(clock), clock);
            let create = Action::create(&LIVE, FeedHeadKey { feed: *feed }, &head)?;
            match access.write(&FOLLOW, create).await {
                Ok(_) => heads.push(head.n),
                Err(Error::Exists) => break,
                Err(error) => return Err(error),
            }
        }
        if heads.len() == feeds.len() {
            return Ok(heads);
        }
        if !backoff.wait().await {
            return Err(Error::Conflict);
        }
    }
}

/// Reads the events after a number up to a head, unless they are more than a number or [`MAX_REPLAYED`].
pub async fn missed(access: &Access, feed: Feed, after: u64, head: u64, most: u64) -> Result<Missed, Error> {
    if after == head {
        return Ok(Missed::Entries(Vec::new()));
    }
    // A number above the head belongs to a feed that was lost.
    if after > head || head - after > most.min(MAX_REPLAYED) {
        return Ok(Missed::TooMuch);
    }
    let first = FeedEntryKey { feed, number: Number(after + 1) }.key();
    let last = FeedEntryKey { feed, number: Number(head) }.key();
    let entries = access.table(&REPLAY, &LIVE).query(first.pk.clone());
    let entries = entries.between(first.sk.unwrap_or_default(), last.sk.unwrap_or_default()).consistent();
    let mut read = Vec::new();
    for (n, stored) in (after + 1..).zip(entries.all().await?) {
        if FeedEntryKey::parse(&stored.key).is_none_or(|key| key.number != Number(n)) {
            return Ok(Missed::TooMuch);
        }
        let StoredEntry { key, at, event, .. } = stored.read()?;
        let event = serde_json::from_str(&event).map_err(|error| Error::Misfit(error.to_string()))?;
        read.push(Entry { n, key, at, event });
    }
    let complete = read.last().is_some_and(|last| last.n == head);
    Ok(if complete { Missed::Entries(read) } else { Missed::TooMuch })
}

fn keys(feeds: &[Feed]) -> Vec<Key> {
    feeds.iter().map(|feed| FeedHeadKey { feed: *feed }.key()).collect()
}

/// Returns the first number of a feed. It is above those of a head that was lost.
fn new_head(clock: &Clock) -> u64 {
    u64::try_from(Millisecond::now(clock).millis()).unwrap_or_default() * 1000
}

impl NewEntry {
    /// Returns the event with its number.
    pub fn numbered(self, n: u64) -> Entry {
        Entry { n, key: self.key, at: self.at.to_string(), event: self.event }
    }

    fn stored(&self, clock: &Clock) -> Result<StoredEntry, Error> {
        let event = serde_json::to_string(&self.event.clone().without_content());
        Ok(StoredEntry {
            key: self.key.clone(),
            at: self.at.to_string(),
            event: event.map_err(|error| Error::Misfit(error.to_string()))?,
            expires: clock.seconds() + ENTRY_SECONDS,
        })
    }
}
