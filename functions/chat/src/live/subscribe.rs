//! Subscriptions of a connection: they are stored first, then what the client has missed is replayed.

use std::collections::{BTreeMap, HashMap};

use table::{Access, AccessPattern, Action, Backoff, Changes, Condition, EntityKey, Error, Key, item};

use super::connections::{self, CONNECTION, CONNECTION_SECONDS, Connection};
use super::fan_out::FanOut;
use super::feed::Feed;
use super::feeds::{self, MAX_REPLAYED, Missed};
use super::frame::{ErrorCode, Frame, Subscription, of_events};
use super::{presence, replay};
use crate::access::{GROUP_CHATS as ON_GROUP_CHATS, LIVE as ON_LIVE, PRIVATE_CHATS as ON_PRIVATE_CHATS};
use crate::keys::{ConnectionKey, GroupChatMemberKey, PrivateChatMemberKey, SubscriptionKey, pair_key};
use crate::names::{Millisecond, PrivateChatId, UserId};
use crate::private_chats::Pair;
use crate::schema::{GROUP_CHATS, LIVE, PRIVATE_CHATS};

/// Subscriptions, with the memberships that allow them.
pub const SUBSCRIBE: AccessPattern = AccessPattern::new(
    "subscribe",
    &[ON_PRIVATE_CHATS.batch_get(), ON_GROUP_CHATS.check(), ON_PRIVATE_CHATS.check(), ON_LIVE.update()],
);

/// Whether a subscription has not ended.
pub const STILL_SUBSCRIBED: AccessPattern = AccessPattern::new("stillSubscribed", &[ON_LIVE.batch_get()]);

/// The most feeds of a frame.
pub const MAX_IN_FRAME: usize = 40;

/// The most events that are replayed for a frame, of all its feeds together. A client reloads the other feeds over HTTP.
const MAX_REPLAYED_FOR_FRAME: u64 = 4 * MAX_REPLAYED;

/// The most subscriptions of a connection.
const MAX_SUBSCRIPTIONS: usize = 200;

/// The subscriptions of a transaction of 100 actions. Each takes up to three, and their connection takes one.
const MAX_IN_TRANSACTION: usize = 33;

/// A connection that subscribes by a frame with this id.
pub struct Subscriber<'a> {
    pub access: &'a Access,
    pub fan_out: &'a FanOut<'a>,
    pub connection: &'a Connection,
    pub id: &'a str,
}

impl Subscriber<'_> {
    pub async fn subscribe(&self, wanted: &[Subscription]) -> Result<(), Error> {
        if wanted.len() > MAX_IN_FRAME {
            self.refuse(None, ErrorCode::TooManyFeeds, "A frame may name 40 feeds.").await;
            return Ok(());
        }
        let mut feeds: BTreeMap<Feed, Option<u64>> = BTreeMap::new();
        for Subscription { feed, after } in wanted {
            match Feed::named(feed, self.connection.user) {
                Some(named) => {
                    feeds.insert(named, *after);
                }
                None => self.forbid(feed).await,
            }
        }
        if !has_room(self.connection, feeds.keys()) {
            self.refuse_more().await;
            return Ok(());
        }
        // Every connection follows the feed of its user.
        let (own, others): (Vec<Feed>, Vec<Feed>) = feeds.keys().partition(|feed| matches!(feed, Feed::User(_)));
        let mut stored = own;
        let pairs = self.pairs(&others).await?;
        let mut connection = self.connection.clone();
        for chunk in others.chunks(MAX_IN_TRANSACTION) {
            stored.extend(self.store(&mut connection, chunk, &pairs).await?);
        }
        let numbered: Vec<Feed> = stored.iter().copied().filter(|feed| !matches!(feed, Feed::Presence(_))).collect();
        let heads: HashMap<Feed, u64> =
            numbered.iter().copied().zip(feeds::follow(self.access, &numbered).await?).collect();
        let mut replayed = 0;
        for feed in stored {
            let after = feeds.get(&feed).copied().flatten();
            replayed += self.begin(feed, after, heads.get(&feed).copied(), MAX_REPLAYED_FOR_FRAME - replayed).await?;
        }
        Ok(())
    }

    /// Finds the private chats with the users whose presence is followed.
    async fn pairs(&self, feeds: &[Feed]) -> Result<HashMap<UserId, PrivateChatId>, Error> {
        let own = self.connection.user;
        let followed = feeds.iter().filter_map(|feed| match feed {
            Feed::Presence(user) if *user != own => Some(*user),
            _ => None,
        });
        let users: Vec<UserId> = followed.collect();
        if users.is_empty() {
            return Ok(HashMap::new());
        }
        let keys: Vec<Key> = users.iter().map(|user| pair_key(own, *user)).collect();
        let found = self.access.table(&SUBSCRIBE, &PRIVATE_CHATS).batch_get_consistent(&keys).await?;
        let pair = |(user, stored): (UserId, Option<table::Stored>)| {
            Some(stored?.read::<Pair>().map(|pair| (user, pair.chat_id)))
        };
        users.into_iter().zip(found).filter_map(pair).collect()
    }

    /// Stores subscriptions in one transaction with the memberships that allow them. Returns those that are allowed.
    /// Frames of one connection may arrive at the same time, so the limit holds for the connection as it was read.
    async fn store(
        &self,
        connection: &mut Connection,
        feeds: &[Feed],
        pairs: &HashMap<UserId, PrivateChatId>,
    ) -> Result<Vec<Feed>, Error> {
        let mut allowed: Vec<(Feed, Vec<Action>)> = Vec::new();
        for feed in feeds {
            match self.conditions(*feed, pairs) {
                Some(conditions) => allowed.push((*feed, conditions)),
                None => self.forbid(&feed.name()).await,
            }
        }
        let mut backoff = Backoff::new();
        while !allowed.is_empty() {
            if !has_room(connection, allowed.iter().map(|(feed, _)| feed)) {
                self.refuse_more().await;
                return Ok(Vec::new());
            }
            let expires = item::number(self.access.engines().clock.seconds() + CONNECTION_SECONDS);
            let (mut actions, mut of_action) = (Vec::new(), Vec::new());
            let mut changes = Changes::new();
            for (feed, conditions) in &allowed {
                let key = SubscriptionKey { feed: *feed, user: connection.user, connection: connection.id.clone() };
                let subscribe = Action::update(&LIVE, key, Changes::new().set("expires", expires.clone())).or_absent();
                actions.extend(conditions.iter().cloned().chain([subscribe]));
                of_action.resize(actions.len(), *feed);
                changes = changes.set(&feed.to_string(), item::flag(true));
            }
            let rev = connection.rev.ok_or_else(|| Error::Misfit("a connection has no revision".to_owned()))?;
            let key = ConnectionKey { connection: connection.id.clone() };
            actions.push(Action::update(&LIVE, key, changes).if_rev(rev));
            let error = match self.access.transact(&SUBSCRIBE, &actions).await {
                Ok(rev) => {
                    connection.rev = Some(rev);
                    connection.feeds.extend(allowed.iter().map(|(feed, _)| *feed));
                    break;
                }
                Err(error) => error,
            };
            // Another frame has changed the subscriptions, or the connection has ended.
            if error.failed(of_action.len()).is_some() {
                if !backoff.wait().await {
                    return Err(Error::Conflict);
                }
                match connections::load(self.access, &CONNECTION, &connection.id).await? {
                    Some(present) => *connection = present,
                    None => return Ok(Vec::new()),
                }
                continue;
            }
            let failed = of_action.iter().enumerate().filter(|(index, _)| error.failed(*index).is_some());
            let failed: Vec<Feed> = failed.map(|(_, feed)| *feed).collect();
            if failed.is_empty() {
                return Err(error);
            }
            for (feed, _) in allowed.extract_if(.., |(feed, _)| failed.contains(feed)) {
                self.forbid(&feed.name()).await;
            }
        }
        Ok(allowed.into_iter().map(|(feed, _)| feed).collect())
    }

    /// Returns the conditions under which the user may follow a feed. Returns none if that is never allowed.
    fn conditions(&self, feed: Feed, pairs: &HashMap<UserId, PrivateChatId>) -> Option<Vec<Action>> {
        let own = self.connection.user;
        match feed {
            Feed::User(_) => Some(Vec::new()),
            Feed::GroupChat(chat) => Some(vec![Action::check(&GROUP_CHATS, GroupChatMemberKey { chat, user: own })]),
            Feed::Presence(other) => {
                let chat = *pairs.get(&other)?;
                let member = |user| {
                    let check = Action::check(&PRIVATE_CHATS, PrivateChatMemberKey { chat, user });
                    check.when(Condition::Absent("BlockedAt")).when(Condition::Absent("GoneAt"))
                };
                Some(vec![member(own), member(other)])
            }
        }
    }

    /// Sends what the client has missed, up to a number of events, and then that the subscription has begun. Returns the
    /// number of events.
    async fn begin(&self, feed: Feed, after: Option<u64>, head: Option<u64>, most: u64) -> Result<u64, Error> {
        let (mut frames, mut replayed) = (Vec::new(), 0);
        match (feed, after, head) {
            (Feed::Presence(user), ..) => {
                let online = presence::is_online(self.access, user).await?;
                frames.push(presence::frame(user, online, Millisecond::now(&self.access.engines().clock)));
            }
            (_, Some(after), Some(head)) => match feeds::missed(self.access, feed, after, head, most).await? {
                Missed::Entries(entries) => {
                    replayed = entries.len() as u64;
                    let entries = replay::with_messages(self.access, &replay::MESSAGES, entries).await?;
                    frames.extend(of_events(feed, true, &entries));
                }
                Missed::TooMuch => {
                    self.send(&[Frame::Resync { id: self.id, feed: feed.name(), head }.bytes()]).await;
                    return Ok(0);
                }
            },
            _ => {}
        }
        frames.push(Frame::Subscribed { id: self.id, feed: feed.name(), head }.bytes());
        // What was committed after the end of the membership must not be sent. It ends the subscription before it is
        // confirmed, so all that was read while the subscription existed may be sent.
        if self.is_subscribed(feed).await? {
            self.send(&frames).await;
        }
        Ok(replayed)
    }

    async fn is_subscribed(&self, feed: Feed) -> Result<bool, Error> {
        let (user, connection) = (self.connection.user, self.connection.id.clone());
        let key = match feed {
            Feed::User(_) => ConnectionKey { connection }.key(),
            Feed::GroupChat(_) | Feed::Presence(_) => SubscriptionKey { feed, user, connection }.key(),
        };
        let found = self.access.table(&STILL_SUBSCRIBED, &LIVE).batch_get_consistent(&[key]).await?;
        Ok(found.iter().any(Option::is_some))
    }

    async fn forbid(&self, feed: &str) {
        self.refuse(Some(feed), ErrorCode::Forbidden, "No such feed, or you are not allowed to follow it.").await;
    }

    async fn refuse_more(&self) {
        self.refuse(None, ErrorCode::TooManyFeeds, "A connection may follow 200 feeds.").await;
    }

    async fn refuse(&self, feed: Option<&str>, code: ErrorCode, detail: &str) {
        self.send(&[Frame::Error { id: Some(self.id), feed, code, detail }.bytes()]).await;
    }

    async fn send(&self, frames: &[Vec<u8>]) {
        self.fan_out.send(&self.connection.id, frames).await;
    }
}

/// Whether a connection may follow these feeds as well. The feed of its user, which it follows anyway, does not count.
fn has_room<'f>(connection: &Connection, feeds: impl Iterator<Item = &'f Feed>) -> bool {
    let new = feeds.filter(|feed| !connection.feeds.contains(feed) && !matches!(feed, Feed::User(_)));
    connection.feeds.len() + new.count() <= MAX_SUBSCRIPTIONS
}
