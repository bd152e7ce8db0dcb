//! Connections of the socket as the table stores them: by their own id, and among those of their user.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use table::{Access, AccessPattern, EntityKey, Error, Escaped, Item, Key, Rev, Stored};

use super::feed::Feed;
use crate::access::LIVE as ON_LIVE;
use crate::keys::{ConnectionKey, SubscriptionKey, UserConnectionKey, user_partition};
use crate::names::{SessionId, UserId};
use crate::schema::LIVE;

/// A connection by its id.
pub const CONNECTION: AccessPattern = AccessPattern::new("connection", &[ON_LIVE.get()]);

/// The connections of a user.
pub const CONNECTIONS: AccessPattern = AccessPattern::new("connections", &[ON_LIVE.query()]);

/// The removal of a connection that has ended, with its subscriptions.
pub const FORGET: AccessPattern = AccessPattern::new("forgetConnection", &[ON_LIVE.get(), ON_LIVE.batch_delete()]);

/// API Gateway closes every connection after two hours.
pub const CONNECTION_SECONDS: i64 = 2 * 3600 + 5 * 60;

/// The prefix of the connections in their user's partition.
pub const CONNECTION_PREFIX: &str = "CONN#";

/// A connection as the table stores it, in the item of its id. There each subscription is an attribute of its feed's
/// name, so that subscriptions begin and end without reading the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct StoredConnection {
    pub user_id: UserId,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// Milliseconds since 1970.
    pub connected_at: i64,
    #[serde(rename = "expires")]
    pub expires: i64,
}

/// A connection and its subscriptions.
#[derive(Clone, Debug)]
pub struct Connection {
    pub id: Escaped,
    pub user: UserId,
    /// The revision of its item, which each change of its subscriptions raises.
    pub rev: Option<Rev>,
    pub feeds: BTreeSet<Feed>,
}

/// Loads a connection. Returns none for one that has ended.
pub async fn load(access: &Access, pattern: &'static AccessPattern, id: &Escaped) -> Result<Option<Connection>, Error> {
    let key = ConnectionKey { connection: id.clone() };
    let Some(stored) = access.table(pattern, &LIVE).get_consistent(key).await? else { return Ok(None) };
    let connection: StoredConnection = stored.read()?;
    let (user, rev) = (connection.user_id, stored.rev);
    Ok(Some(Connection { id: id.clone(), user, rev, feeds: feeds(&stored.item) }))
}

/// Returns the connections of a user, strongly consistent.
pub async fn of_user(
    access: &Access,
    pattern: &'static AccessPattern,
    user: UserId,
) -> Result<Vec<(Escaped, StoredConnection)>, Error> {
    let connections = access.table(pattern, &LIVE).query(user_partition(user));
    let found = connections.begins_with(CONNECTION_PREFIX).consistent().all().await?;
    found.iter().filter_map(|stored| of_row(stored).transpose()).collect()
}

/// Removes a connection that has ended, its subscriptions, and the item by which it was found.
pub async fn forget(access: &Access, id: &Escaped, found_by: Option<Key>) -> Result<(), Error> {
    let mut keys = load(access, &FORGET, id).await?.map(|connection| connection.keys()).unwrap_or_default();
    keys.extend(found_by);
    access.table(&FORGET, &LIVE).batch_delete(&keys).await
}

impl Connection {
    /// Returns the keys of all its items.
    pub fn keys(&self) -> Vec<Key> {
        let subscription = |feed| SubscriptionKey { feed, user: self.user, connection: self.id.clone() }.key();
        let mut keys: Vec<Key> = self.feeds.iter().copied().map(subscription).collect();
        keys.push(UserConnectionKey { user: self.user, connection: self.id.clone() }.key());
        keys.push(ConnectionKey { connection: self.id.clone() }.key());
        keys
    }
}

/// Returns the feeds that are attributes of a connection.
pub fn feeds(item: &Item) -> BTreeSet<Feed> {
    item.keys().filter_map(|name| name.parse().ok()).collect()
}

fn of_row(stored: &Stored) -> Result<Option<(Escaped, StoredConnection)>, Error> {
    let Some(key) = UserConnectionKey::parse(&stored.key) else { return Ok(None) };
    Ok(Some((key.connection, stored.read()?)))
}
