//! The effects of the change of an item: a pure function of the images before and after it.

mod chats;
mod communities;
mod members;
mod messages;
mod notifications;
mod people;
mod requests;

use table::Error;
use web::Record;

use super::event::Event;
use super::feed::Feed;
use crate::names::{
    ChatId, GroupChatId, MessageId, Millisecond, NotificationId, PictureId, PrivateChatId, SessionId, UserId,
};
use crate::notifications::write::{MentionChange, NewNotification};
use crate::schema::{CHAT_REQUESTS, COMMUNITIES, GROUP_CHATS, LIVE, NOTIFICATIONS, PRIVATE_CHATS, USERS};
use crate::users::SessionsFrom;

/// One effect of a change. Each may happen again, since a record is delivered at least once.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// The event is added to a feed.
    Append { feed: Feed, event: Event },
    /// A notification is gone. If it has only become a read one, there is no event.
    NotificationRemoved { user: UserId, notification: NotificationId, rev: u64 },
    /// The user gets a notification.
    Notify(NewNotification),
    /// The mentioned user gets a notification if still a member.
    Mention { chat: ChatId, message: MessageId, notification: NewNotification },
    /// An edit or the deletion of the message has changed whether it mentions the user, who is not notified.
    MentionChanged { chat: ChatId, message: MessageId, user: UserId, change: MentionChange },
    /// The reactions to a deleted message are deleted.
    DeleteReactions { chat: ChatId, message: MessageId },
    /// Those who moderate the chat get a notification.
    NotifyModerators { chat: GroupChatId, target: String, actor: UserId },
    /// The user's subscriptions to the chat end.
    EndSubscriptions { user: UserId, chat: GroupChatId },
    /// All subscriptions to the chat end.
    EndFeed { chat: GroupChatId },
    /// The first user has blocked the second one or is gone, so neither sees any more whether the other is online.
    EndPresence { chat: PrivateChatId, one: UserId, other: UserId },
    /// The connections of the user are closed, or those of one session.
    CloseConnections { user: UserId, session: Option<SessionId> },
    /// The sessions of the user that are refused are deleted.
    EndSessions { user: UserId, from: SessionsFrom },
    /// The files of a picture are deleted that a community has no more.
    RemovePicture(PictureId),
    /// The files and the item of a picture are deleted that the user has no more.
    RemoveOwnPicture { user: UserId, picture: PictureId },
    /// A connection of the user was opened or has ended.
    Connections { user: UserId, change: ConnectionChange },
}

/// How the connections of a user have changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConnectionChange {
    Opened(String),
    /// It ended at this time.
    Ended(Millisecond),
}

/// Returns the effects of a change. A change of `rev` alone has none.
pub fn effects(record: &Record) -> Result<Vec<Effect>, Error> {
    let is = |table: &table::schema::Table| record.table.name == table.name;
    if is(&GROUP_CHATS) || is(&PRIVATE_CHATS) {
        let mut effects = messages::effects(record)?;
        effects.extend(members::effects(record)?);
        effects.extend(chats::effects(record)?);
        Ok(effects)
    } else if is(&NOTIFICATIONS) {
        notifications::effects(record)
    } else if is(&CHAT_REQUESTS) {
        requests::effects(record)
    } else if is(&COMMUNITIES) {
        communities::effects(record)
    } else if is(&USERS) || is(&LIVE) {
        people::effects(record)
    } else {
        Ok(Vec::new())
    }
}

/// Returns the effects that add an event to each of these feeds.
fn append(feeds: impl IntoIterator<Item = Feed>, event: &Event) -> Vec<Effect> {
    feeds.into_iter().map(|feed| Effect::Append { feed, event: event.clone() }).collect()
}

#[cfg(test)]
mod tests;
