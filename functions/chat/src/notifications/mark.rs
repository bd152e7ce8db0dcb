//! Marking a notification as read: it moves to the other group, with its id and time.

use table::{Action, Changes, Error, Stored};

use super::{Notification, read_key};
use crate::keys::UnreadCountKey;
use crate::names::UserId;
use crate::schema::NOTIFICATIONS;

/// Returns the deletion of an unread notification and the creation of the read one.
pub fn move_to_read(user: UserId, unread: &Stored, read_at: &str) -> Result<[Action; 2], Error> {
    let notification: Notification = unread.read()?;
    let key = read_key(user, notification.id);
    let read = Notification { read: true, seen: true, read_at: Some(read_at.to_owned()), ..notification };
    Ok([
        Action::delete(&NOTIFICATIONS, unread.key.clone()).if_unchanged(unread),
        Action::create(&NOTIFICATIONS, key, &read)?,
    ])
}

/// Returns the change of the number of unread notifications.
pub fn count(user: UserId, change: i64) -> Action {
    Action::update(&NOTIFICATIONS, UnreadCountKey { user }, Changes::new().add("Num", change))
}
