//! Presence: a user is online while at least one connection has neither ended nor expired.

use table::{Access, AccessPattern, Action, Cause, Changes, Condition, Error, item};

use super::connections::{self, CONNECTIONS};
use super::effects::ConnectionChange;
use super::fan_out::FanOut;
use super::feed::Feed;
use super::frame::Frame;
use crate::access::USERS as ON_USERS;
use crate::keys::LastSeenKey;
use crate::names::{Millisecond, UserId};
use crate::schema::USERS;
use crate::users::not_deleted;

/// The time when a user was last online, with the check that the user is not deleted.
pub const LAST_SEEN: AccessPattern = AccessPattern::new("lastSeen", &[ON_USERS.update(), ON_USERS.check()]);

/// The attribute with that time.
const LAST_SEEN_AT: &str = "LastSeenAt";

/// Whether a user is online.
pub async fn is_online(access: &Access, user: UserId) -> Result<bool, Error> {
    Ok(!connections::of_user(access, &CONNECTIONS, user).await?.is_empty())
}

/// Tells the followers of a user's presence if these changes of the connections may have changed it. If a change is
/// handled late, they may be told the same again.
pub async fn changed(
    fan_out: &FanOut<'_>,
    access: &Access,
    user: UserId,
    changes: &[ConnectionChange],
) -> Result<(), Error> {
    let present = connections::of_user(access, &CONNECTIONS, user).await?;
    let oldest = present.iter().min_by_key(|(_, connection)| connection.connected_at);
    let online = match oldest {
        // The opening of the oldest connection made the user online. Another one tells nothing new.
        Some((id, _)) => {
            let opened = |change: &ConnectionChange| *change == ConnectionChange::Opened(id.text().to_owned());
            if !changes.iter().any(opened) {
                return Ok(());
            }
            true
        }
        None => {
            let ends = changes.iter().filter_map(|change| match change {
                ConnectionChange::Ended(at) => Some(*at),
                ConnectionChange::Opened(_) => None,
            });
            let Some(last_end) = ends.max() else { return Ok(()) };
            set_last_seen(access, user, last_end).await?;
            false
        }
    };
    let now = Millisecond::now(&access.engines().clock);
    // These frames have no numbers, by which a client would notice that it has missed one.
    fan_out.push_to_all(Feed::Presence(user), &[frame(user, online, now)]).await;
    Ok(())
}

/// Stores when a user was last online, unless the user is deleted or was online later. The end of an expired connection
/// may be known days after that of a later one.
async fn set_last_seen(access: &Access, user: UserId, at: Millisecond) -> Result<(), Error> {
    let at = item::text(at.to_string());
    let seen = Changes::new().set(LAST_SEEN_AT, at.clone());
    let update = Action::update(&USERS, LastSeenKey { user }, seen).when(Condition::AtMost(LAST_SEEN_AT, at));
    match access.transact(&LAST_SEEN, &[not_deleted(user), update.or_absent()]).await {
        Ok(_) => Ok(()),
        Err(error) if error.failed(0).is_some() => Ok(()),
        Err(error) if error.failed(1).is_some_and(|failed| failed.cause == Cause::Unmet) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Returns the frame that tells whether a user is online.
pub fn frame(user: UserId, online: bool, at: Millisecond) -> Vec<u8> {
    Frame::Presence { user_id: user, online, at: at.to_string() }.bytes()
}
