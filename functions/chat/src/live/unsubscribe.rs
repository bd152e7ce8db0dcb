//! The end of subscriptions, as a client asks for it.

use table::{Access, AccessPattern, Action, Changes, EntityKey, Error, Key};

use super::connections::Connection;
use super::fan_out::FanOut;
use super::feed::Feed;
use super::frame::{ErrorCode, Frame};
use super::subscribe::MAX_IN_FRAME;
use crate::access::LIVE as ON_LIVE;
use crate::keys::{ConnectionKey, SubscriptionKey};
use crate::schema::LIVE;

/// The end of subscriptions of a connection.
pub const UNSUBSCRIBE: AccessPattern = AccessPattern::new("unsubscribe", &[ON_LIVE.batch_delete(), ON_LIVE.update()]);

pub async fn unsubscribe(
    access: &Access,
    fan_out: &FanOut<'_>,
    connection: &Connection,
    id: &str,
    names: &[String],
) -> Result<(), Error> {
    if names.len() > MAX_IN_FRAME {
        let detail = "A frame may name 40 feeds.";
        let refused = Frame::Error { id: Some(id), feed: None, code: ErrorCode::TooManyFeeds, detail };
        fan_out.send(&connection.id, &[refused.bytes()]).await;
        return Ok(());
    }
    let mut frames = Vec::new();
    let (mut keys, mut changes): (Vec<Key>, _) = (Vec::new(), Changes::new());
    for name in names {
        match Feed::named(name, connection.user) {
            Some(feed @ (Feed::GroupChat(_) | Feed::Presence(_))) => {
                let Connection { id: connection, user, .. } = connection.clone();
                keys.push(SubscriptionKey { feed, user, connection }.key());
                changes = changes.remove(&feed.to_string());
                frames.push(Frame::Unsubscribed { id: Some(id), feed: feed.name(), reason: "asked" }.bytes());
            }
            Some(Feed::User(_)) | None => {
                let detail = "No such feed, or one that every connection follows.";
                frames
                    .push(Frame::Error { id: Some(id), feed: Some(name), code: ErrorCode::Forbidden, detail }.bytes());
            }
        }
    }
    if !keys.is_empty() {
        access.table(&UNSUBSCRIBE, &LIVE).batch_delete(&keys).await?;
        let key = ConnectionKey { connection: connection.id.clone() };
        match access.write(&UNSUBSCRIBE, Action::update(&LIVE, key, changes)).await {
            Ok(_) | Err(Error::NotFound) => {}
            Err(error) => return Err(error),
        }
    }
    fan_out.send(&connection.id, &frames).await;
    Ok(())
}
