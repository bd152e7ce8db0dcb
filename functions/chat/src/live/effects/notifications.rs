//! Changes of notifications.

use table::{EntityKey, Error};
use web::Record;

use super::{Effect, append};
use crate::keys::{ReadNotificationKey, UnreadNotificationKey};
use crate::live::event::Event;
use crate::live::feed::Feed;
use crate::notifications::Notification;

pub fn effects(record: &Record) -> Result<Vec<Effect>, Error> {
    let unread = || UnreadNotificationKey::parse(&record.key).map(|key| (key.user, key.notification));
    let read = || ReadNotificationKey::parse(&record.key).map(|key| (key.user, key.notification));
    let Some((user, notification)) = unread().or_else(read) else { return Ok(Vec::new()) };
    let Some(new) = record.read_new::<Notification>()? else {
        return Ok(vec![Effect::NotificationRemoved { user, notification, rev: record.rev() }]);
    };
    if record.read_old::<Notification>()?.as_ref() == Some(&new) {
        return Ok(Vec::new());
    }
    let event = Event::Notification { notification: new.view(record.rev()) };
    Ok(append([Feed::User(user)], &event))
}
