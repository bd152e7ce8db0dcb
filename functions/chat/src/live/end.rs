//! Ending subscriptions and connections, after a commit and before its response: nothing that is committed later reaches
//! the person. The stream handler does the same again, for a request that was stopped in between. It tells clients only
//! until a time, since API Gateway may answer none of many posts; then it ends the other subscriptions without a frame.

use futures::stream::{self, TryStreamExt};
use table::access::OnSocket;
use table::{Access, AccessPattern, Action, Changes, Delivery, EntityKey, Error, Escaped, Key};
use tokio::time::Instant;
use web::Problem;

use super::connections::{self, Connection, feeds};
use super::feed::Feed;
use super::frame::Frame;
use crate::access::LIVE as ON_LIVE;
use crate::keys::{ConnectionKey, SubscriptionKey};
use crate::names::{ChatId, GroupChatId, SessionId, UserId};
use crate::schema::LIVE;

/// The subscriptions of a user to a feed, and their end.
pub const END_SUBSCRIPTIONS: AccessPattern = AccessPattern::new(
    "endSubscriptions",
    &[ON_LIVE.query(), ON_LIVE.batch_delete(), ON_LIVE.update(), OnSocket.post()],
);

/// The connections of a user, and their end.
pub const CLOSE_CONNECTIONS: AccessPattern = AccessPattern::new(
    "closeConnections",
    &[ON_LIVE.query(), ON_LIVE.batch_get(), ON_LIVE.batch_delete(), OnSocket.close()],
);

/// The subscriptions that are read at once, and those that are ended concurrently.
const PAGE: u32 = 100;
const CONCURRENCY: usize = 25;

/// Ends the subscriptions of a user to a chat. The client gets `unsubscribed` with this reason. Private chats have no
/// subscriptions: their events go to all connections of both members.
pub async fn end_subscriptions(
    access: &Access,
    user: UserId,
    chat: ChatId,
    reason: &'static str,
    tell_until: Option<Instant>,
) -> Result<(), Problem> {
    match chat {
        ChatId::Group(chat) => Ok(end(access, Feed::GroupChat(chat), Some(user), reason, tell_until).await?),
        ChatId::Private(_) => Ok(()),
    }
}

/// Ends the view of two users on whether the other is online, after one has blocked the other.
pub async fn end_presence(
    access: &Access,
    one: UserId,
    other: UserId,
    tell_until: Option<Instant>,
) -> Result<(), Problem> {
    end(access, Feed::Presence(one), Some(other), "removed", tell_until).await?;
    Ok(end(access, Feed::Presence(other), Some(one), "removed", tell_until).await?)
}

/// Ends all subscriptions to a chat that is being deleted.
pub async fn end_feed(access: &Access, chat: GroupChatId, tell_until: Option<Instant>) -> Result<(), Problem> {
    Ok(end(access, Feed::GroupChat(chat), None, "deleted", tell_until).await?)
}

/// Closes the connections of a user, or only those of one session.
pub async fn close_connections(access: &Access, user: UserId, session: Option<SessionId>) -> Result<(), Problem> {
    let found = connections::of_user(access, &CLOSE_CONNECTIONS, user).await?.into_iter();
    let ended = found.filter(|(_, connection)| session.is_none() || connection.session_id == session);
    let ended: Vec<Escaped> = ended.map(|(id, _)| id).collect();
    Ok(close(access, user, &ended).await?)
}

/// Removes connections of a user with their subscriptions, and closes them.
pub async fn close(access: &Access, user: UserId, ids: &[Escaped]) -> Result<(), Error> {
    let table = access.table(&CLOSE_CONNECTIONS, &LIVE);
    let keys: Vec<Key> = ids.iter().map(|id| ConnectionKey { connection: id.clone() }.key()).collect();
    let stored = table.batch_get_consistent(&keys).await?;
    let connection = |(id, stored): (&Escaped, Option<table::Stored>)| Connection {
        id: id.clone(),
        user,
        rev: stored.as_ref().and_then(|stored| stored.rev),
        feeds: stored.map(|stored| feeds(&stored.item)).unwrap_or_default(),
    };
    let keys: Vec<Key> = ids.iter().zip(stored).flat_map(|pair| connection(pair).keys()).collect();
    table.batch_delete(&keys).await?;
    for id in ids {
        // A connection that API Gateway fails to close gets nothing any more, since its items are gone.
        best_effort(access.close(&CLOSE_CONNECTIONS, id.text()).await)?;
    }
    Ok(())
}

/// Ends the subscriptions to a feed, of one user or of all. Clients are told until the given time.
async fn end(
    access: &Access,
    feed: Feed,
    user: Option<UserId>,
    reason: &'static str,
    tell_until: Option<Instant>,
) -> Result<(), Error> {
    let table = access.table(&END_SUBSCRIPTIONS, &LIVE);
    let prefix = user.map_or_else(|| "USER#".to_owned(), |user| format!("USER#{user}#"));
    let subscriptions = table.query(format!("SUB#{feed}")).begins_with(prefix).consistent();
    let is_late = move || tell_until.is_some_and(|until| Instant::now() >= until);
    loop {
        let page = subscriptions.page(PAGE).await?;
        let keys: Vec<Key> = page.items.into_iter().map(|stored| stored.key).collect();
        let connections = keys.iter().filter_map(SubscriptionKey::parse).map(|key| Ok(key.connection));
        let tell = |connection: Escaped| async move {
            let changes = Changes::new().remove(&feed.to_string());
            let key = ConnectionKey { connection: connection.clone() };
            match access.write(&END_SUBSCRIPTIONS, Action::update(&LIVE, key, changes)).await {
                Ok(_) | Err(Error::NotFound) => {}
                Err(error) => return Err(error),
            }
            if is_late() {
                return Ok(());
            }
            let frame = Frame::Unsubscribed { id: None, feed: feed.name(), reason }.bytes();
            // The subscription has ended whether or not the client learns it.
            best_effort(access.post(&END_SUBSCRIPTIONS, connection.text(), frame).await)
        };
        // The frames are sent before the rows are deleted. A run that is stopped in between sends them again. In the
        // other order the next run would not find the rows, and the clients would get no frame.
        stream::iter(connections).try_for_each_concurrent(CONCURRENCY, tell).await?;
        if is_late() {
            tracing::warn!(%feed, "the time to tell clients is up; subscriptions may have ended without a frame");
        }
        table.batch_delete(&keys).await?;
        if page.next.is_none() {
            return Ok(());
        }
    }
}

fn best_effort(outcome: Result<Delivery, Error>) -> Result<(), Error> {
    match outcome {
        Ok(_) => Ok(()),
        Err(error @ Error::Undeclared(_)) => Err(error),
        Err(error) => {
            tracing::warn!(%error, "a connection was not told of its end, or not closed");
            Ok(())
        }
    }
}
