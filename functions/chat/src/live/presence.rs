//! Presence: a user is online while at least one connection has neither ended nor expired.

use table::{Access, AccessPattern, Action, Changes, Error, item};

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
    let now = connections::of_user(access, &CONNECTIONS, user).await?;
    let oldest = now.iter().min_by_key(|(_, connection)| connection.connected_at);
    let online = match oldest {
        // The opening of the oldest connection made the user online. Another one tells nothing new.
        Some((id, _)) => {
            let opened = |change: &ConnectionChange| *change == ConnectionChange::Opened(id.text().to_owned());
            changes.iter().any(opened).then_some(true)
        }
        None => changes.contains(&ConnectionChange::Ended).then_some(false),
    };
    let Some(online) = online else { return Ok(()) };
    let at = Millisecond::now(&access.engines().clock);
    if !online {
        let seen = Changes::new().set("LastSeenAt", item::text(at.to_string()));
        let actions = [not_deleted(user), Action::update(&USERS, LastSeenKey { user }, seen).or_absent()];
        match access.transact(&LAST_SEEN, &actions).await {
            Ok(_) => {}
            Err(error) if error.failed(0).is_some() => {}
            Err(error) => return Err(error),
        }
    }
    // These frames have no numbers, by which a client would notice that it has missed one.
    fan_out.push_to_all(Feed::Presence(user), &[frame(user, online, at)]).await;
    Ok(())
}

/// Returns the frame that tells whether a user is online.
pub fn frame(user: UserId, online: bool, at: Millisecond) -> Vec<u8> {
    Frame::Presence { user_id: user, online, at: at.to_string() }.bytes()
}
