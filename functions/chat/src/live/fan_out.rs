//! Delivery of frames to connections. It never fails: a client that misses a frame sees the hole in the numbers.

use std::time::Duration;

use futures::stream::{self, StreamExt};
use table::Delivery;
use table::access::OnSocket;
use table::{Access, AccessPattern, EntityKey, Error, Escaped, Key, Position};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::connections::{self, forget};
use super::feed::Feed;
use crate::access::LIVE as ON_LIVE;
use crate::keys::SubscriptionKey;
use crate::schema::LIVE;

/// The connections that follow a feed, and their frames.
pub const FAN_OUT: AccessPattern = AccessPattern::new("fanOut", &[ON_LIVE.query(), OnSocket.post()]);

/// The most connections that are served at once.
const MAX_RECIPIENTS: u32 = 500;

/// The posts in flight of one invocation.
const CONCURRENCY: usize = 100;

/// The attempts to post a frame, within about two seconds.
const ATTEMPTS: u32 = 3;
const MAX_PAUSE: Duration = Duration::from_millis(900);

/// The part of its time that an invocation keeps for what it writes after its posts. API Gateway may answer none of
/// many posts, and an invocation that runs out of time is repeated with all its posts.
pub const MARGIN: Duration = Duration::from_secs(15);

/// How long after its opening a connection may answer 410 because `$connect` has not returned yet.
const OPENING_MILLIS: i64 = 30_000;

/// Delivers frames. One invocation has one, which limits its posts and their time.
pub struct FanOut<'a> {
    access: &'a Access,
    posts: Semaphore,
    /// When the last post may begin.
    until: Instant,
}

/// A connection that follows a feed.
pub struct Recipient {
    connection: Escaped,
    /// The item by which it follows the feed.
    follows_by: Option<Key>,
    /// When it was opened, in milliseconds since 1970, if that may have been just now.
    opened_at: Option<i64>,
}

impl<'a> FanOut<'a> {
    /// Returns the fan-out of an invocation that must end by a deadline. No post begins in the last part of its time.
    pub fn new(access: &'a Access, deadline: Instant, margin: Duration) -> Self {
        let until = deadline.checked_sub(margin).unwrap_or(deadline);
        Self { access, posts: Semaphore::new(CONCURRENCY), until }
    }

    /// Returns when the last post may begin.
    pub fn until(&self) -> Instant {
        self.until
    }

    /// Delivers frames to the first connections that follow a feed. Returns the position after the last of these
    /// connections, if there are others.
    pub async fn push(&self, feed: Feed, frames: &[Vec<u8>]) -> Option<Position> {
        self.push_after(feed, None, frames).await
    }

    /// Delivers frames to all connections that follow a feed.
    pub async fn push_to_all(&self, feed: Feed, frames: &[Vec<u8>]) {
        let mut after = self.push(feed, frames).await;
        while after.is_some() {
            after = self.push_after(feed, after, frames).await;
        }
    }

    async fn push_after(&self, feed: Feed, after: Option<Position>, frames: &[Vec<u8>]) -> Option<Position> {
        match self.followers(feed, after).await {
            Ok((followers, rest)) => {
                self.deliver(feed, followers, frames).await;
                rest
            }
            Err(error) => {
                tracing::error!(%feed, %error, "reading the followers of a feed failed; they miss frames");
                None
            }
        }
    }

    /// Returns the first connections that follow a feed, or those after a position, and the position after the last of
    /// them if there are others.
    pub async fn followers(
        &self,
        feed: Feed,
        after: Option<Position>,
    ) -> Result<(Vec<Recipient>, Option<Position>), Error> {
        if let Feed::User(user) = feed {
            let found = connections::of_user(self.access, &FAN_OUT, user).await?.into_iter();
            let recipient = |(connection, stored): (_, connections::StoredConnection)| Recipient {
                connection,
                follows_by: None,
                opened_at: Some(stored.connected_at),
            };
            return Ok((found.map(recipient).collect(), None));
        }
        let followers = self.access.table(&FAN_OUT, &LIVE).query(partition(feed)).consistent();
        let page = followers.after(after).page(MAX_RECIPIENTS).await?;
        let recipient = |stored: table::Stored| {
            let connection = SubscriptionKey::parse(&stored.key)?.connection;
            // A client subscribes after `$connect` has returned.
            Some(Recipient { connection, follows_by: Some(stored.key), opened_at: None })
        };
        Ok((page.items.into_iter().filter_map(recipient).collect(), page.next))
    }

    /// Returns the position after the subscription with this sort key.
    pub fn after(feed: Feed, sk: &str) -> Position {
        Position::after(&LIVE, &Key { pk: partition(feed), sk: Some(sk.to_owned()) })
    }

    /// Delivers frames to these connections, to each in order.
    pub async fn deliver(&self, feed: Feed, recipients: Vec<Recipient>, frames: &[Vec<u8>]) {
        let dropped = stream::iter(recipients)
            .map(|recipient| self.deliver_to(recipient, frames))
            .buffer_unordered(CONCURRENCY)
            .fold(0, |dropped, failed| async move { dropped + u32::from(failed) })
            .await;
        if dropped > 0 {
            tracing::warn!(%feed, dropped, "connections missed frames; their clients will see the hole");
        }
    }

    /// Delivers frames to one connection. Returns whether it missed any.
    pub async fn send(&self, connection: &Escaped, frames: &[Vec<u8>]) -> bool {
        self.deliver_to(Recipient { connection: connection.clone(), follows_by: None, opened_at: None }, frames).await
    }

    /// Delivers frames to a connection. Returns whether it missed any.
    async fn deliver_to(&self, recipient: Recipient, frames: &[Vec<u8>]) -> bool {
        for frame in frames {
            match self.post(&recipient, frame).await {
                Delivery::Sent => {}
                Delivery::Busy => return true,
                Delivery::Gone => {
                    if let Err(error) = forget(self.access, &recipient.connection, recipient.follows_by).await {
                        tracing::warn!(%error, "removing a connection that has ended failed; it will expire");
                    }
                    return false;
                }
            }
        }
        false
    }

    async fn post(&self, recipient: &Recipient, frame: &[u8]) -> Delivery {
        for attempt in 1..=ATTEMPTS {
            let outcome = {
                let _permit = self.posts.acquire().await;
                if Instant::now() >= self.until {
                    return Delivery::Busy;
                }
                self.access.post(&FAN_OUT, recipient.connection.text(), frame).await
            };
            match outcome {
                Ok(Delivery::Sent) => return Delivery::Sent,
                Ok(Delivery::Gone) if !self.is_opening(recipient) => return Delivery::Gone,
                Ok(Delivery::Gone | Delivery::Busy) => {}
                Err(error) => {
                    tracing::error!(%error, "posting a frame was refused");
                    return Delivery::Busy;
                }
            }
            if attempt < ATTEMPTS {
                tokio::time::sleep(MAX_PAUSE.mul_f64(fastrand::f64())).await;
            }
        }
        Delivery::Busy
    }

    fn is_opening(&self, recipient: &Recipient) -> bool {
        let now = self.access.engines().clock.micros() / 1000;
        recipient.opened_at.is_some_and(|opened_at| now - opened_at < OPENING_MILLIS)
    }
}

/// Returns the partition of the subscriptions of a feed.
fn partition(feed: Feed) -> String {
    format!("SUB#{feed}")
}
