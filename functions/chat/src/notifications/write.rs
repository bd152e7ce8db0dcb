//! The creation of notifications, each once however often the stream delivers its record.

use serde::Serialize;
use table::item::{flag, number};
use table::{Access, AccessPattern, Action, Backoff, Cause, Changes, Error};

use super::mark::count;
use super::{Notification, NotificationType, unread_key};
use crate::access::{
    GROUP_CHATS as ON_GROUP_CHATS, LIVE as ON_LIVE, NOTIFICATIONS as ON_NOTIFICATIONS,
    PRIVATE_CHATS as ON_PRIVATE_CHATS, USERS as ON_USERS,
};
use crate::group_chats::ChatMember;
use crate::keys::{MadeKey, member_key};
use crate::messages::table_of;
use crate::names::{ChatId, MessageId, Millisecond, NotificationId, UserId};
use crate::reading::unread;
use crate::schema::{LIVE, NOTIFICATIONS};
use crate::users::not_deleted;

/// A notification, the guard that makes it unique, the number of unread ones, and the check that the user is not deleted.
pub const NOTIFY: AccessPattern =
    AccessPattern::new("notify", &[ON_LIVE.put(), ON_NOTIFICATIONS.put(), ON_NOTIFICATIONS.update(), ON_USERS.check()]);

/// The notification of a mention, with the member who is mentioned, or the mention that was deleted.
pub const NOTIFY_MENTION: AccessPattern = AccessPattern::new(
    "notifyMention",
    &[
        ON_GROUP_CHATS.get(),
        ON_PRIVATE_CHATS.get(),
        ON_LIVE.put(),
        ON_NOTIFICATIONS.put(),
        ON_NOTIFICATIONS.update(),
        ON_USERS.check(),
        ON_GROUP_CHATS.update(),
        ON_PRIVATE_CHATS.update(),
    ],
);

/// How long the guard keeps a notification from being created again. A stream delivers its records for 24 h.
const GUARD_SECONDS: i64 = 48 * 3600;

/// A notification for a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewNotification {
    pub user: UserId,
    pub notification_type: NotificationType,
    /// The path of what it is about.
    pub target: String,
    /// The user who caused it.
    pub actor: Option<UserId>,
}

/// The change that causes notifications: its key with revision, and its time.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    pub key: &'a str,
    pub time: Millisecond,
}

#[derive(Serialize)]
struct Guard {
    expires: i64,
}

impl NotificationType {
    /// Returns the message. It has no names, which would outlive the user or the chat.
    pub fn message(self) -> &'static str {
        match self {
            Self::Mention => "You were mentioned in a message.",
            Self::RequestReceived => "A user asks to join a group chat that you moderate.",
            Self::RequestApproved => "Your request to join a group chat was approved.",
            Self::RequestDenied => "Your request to join a group chat was denied.",
            Self::Added => "You were added to a group chat.",
            Self::PrivateChatStarted => "A user has started a private chat with you.",
            Self::MadeModerator => "You are now a moderator.",
            Self::ReportSettled => "Your report was settled.",
            Self::Security => {
                "A login was ended, since its refresh token was used a second time. Change your password if it was \
                 not you."
            }
        }
    }
}

/// Creates a notification, unless it was created before or the user is deleted.
pub async fn notify(access: &Access, source: Source<'_>, new: &NewNotification) -> Result<(), Error> {
    match access.transact(&NOTIFY, &creation(access, source, new)?).await {
        Err(error) if is_not_needed(&error) => Ok(()),
        outcome => outcome.map(|_| ()),
    }
}

/// Creates the notification of a mention, counts the mention for the member, and shows the chat again. Does nothing if
/// the user has left the chat.
pub async fn notify_mention(
    access: &Access,
    source: Source<'_>,
    new: &NewNotification,
    chat: ChatId,
    message: MessageId,
) -> Result<(), Error> {
    let table = table_of(chat);
    let mut backoff = Backoff::new();
    loop {
        let key = member_key(chat, new.user);
        let Some(stored) = access.table(&NOTIFY_MENTION, table).get_consistent(key.clone()).await? else {
            return Ok(());
        };
        let member: ChatMember = stored.read()?;
        let mut actions = creation(access, source, new)?;
        let mut changes = Changes::new();
        if member.hidden {
            changes = changes.set("Hidden", flag(false));
        }
        if member.last_read_id < Some(message) {
            let unread = unread(access, chat, &member).await?;
            let is_known = unread.messages.iter().any(|unread| unread.id == message);
            // Marking messages as read may have counted this one already. A later edit or deletion has its own record.
            let counts_all = unread.is_all && is_known;
            let mentions = if counts_all { unread.mentions(new.user) } else { member.mentions_unread + 1 };
            changes = changes.set("MentionsUnread", number(mentions));
        }
        if !changes.is_empty() {
            actions.push(Action::update(table, key, changes).if_unchanged(&stored));
        }
        if write_mention(access, &actions).await? {
            return Ok(());
        }
        if !backoff.wait().await {
            return Err(Error::Conflict);
        }
    }
}

/// How an edit or the deletion of a message changes who is mentioned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MentionChange {
    Added,
    Removed,
}

impl MentionChange {
    fn apply(self, mentions: u64) -> u64 {
        match self {
            Self::Added => mentions + 1,
            Self::Removed => mentions.saturating_sub(1),
        }
    }
}

/// Counts a mention that an edit has added, without a notification, or subtracts one that is no longer in the message.
/// Does nothing if the member has read the message.
pub async fn count_mention(
    access: &Access,
    source: Source<'_>,
    user: UserId,
    (chat, message): (ChatId, MessageId),
    change: MentionChange,
) -> Result<(), Error> {
    let table = table_of(chat);
    let mut backoff = Backoff::new();
    loop {
        let key = member_key(chat, user);
        let Some(stored) = access.table(&NOTIFY_MENTION, table).get_consistent(key.clone()).await? else {
            return Ok(());
        };
        let member: ChatMember = stored.read()?;
        if member.last_read_id >= Some(message) || change.apply(member.mentions_unread) == member.mentions_unread {
            return Ok(());
        }
        let unread = unread(access, chat, &member).await?;
        let mentions = if unread.is_all { unread.mentions(user) } else { change.apply(member.mentions_unread) };
        if mentions == member.mentions_unread {
            return Ok(());
        }
        let changes = Changes::new().set("MentionsUnread", number(mentions));
        let update = Action::update(table, key, changes).if_unchanged(&stored);
        // A record that is delivered again counts nothing again.
        let id = NotificationId::derived(source.time, &format!("{}/{user}", source.key));
        let actions = [guard(access, id)?, update];
        if write_mention(access, &actions).await? {
            return Ok(());
        }
        if !backoff.wait().await {
            return Err(Error::Conflict);
        }
    }
}

/// Writes what a mention changes, unless that is not needed. Returns false if the member has read, sent or left meanwhile.
async fn write_mention(access: &Access, actions: &[Action]) -> Result<bool, Error> {
    match access.transact(&NOTIFY_MENTION, actions).await {
        Ok(_) => Ok(true),
        Err(error) if is_not_needed(&error) => Ok(true),
        Err(Error::ConditionFailed(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns the guard, which comes first, the unread notification, the change of their number, and the check of the user.
fn creation(access: &Access, source: Source<'_>, new: &NewNotification) -> Result<Vec<Action>, Error> {
    let NewNotification { user, notification_type, target, actor } = new.clone();
    let id = NotificationId::derived(source.time, &format!("{}/{user}", source.key));
    let notification = Notification {
        id,
        notification_type,
        message: notification_type.message().to_owned(),
        target,
        read: false,
        seen: false,
        actor_id: actor,
        created_at: source.time.to_string(),
        read_at: None,
    };
    Ok(vec![
        guard(access, id)?,
        Action::create(&NOTIFICATIONS, unread_key(user, id), &notification)?,
        count(user, 1).or_absent(),
        not_deleted(user),
    ])
}

/// The place of the check that the user is not deleted among the actions.
const OF_USER: usize = 3;

/// Returns the item that keeps something from being done a second time.
fn guard(access: &Access, id: NotificationId) -> Result<Action, Error> {
    let guard = Guard { expires: access.engines().clock.seconds() + GUARD_SECONDS };
    Action::create(&LIVE, MadeKey { notification: id }, &guard)
}

/// Whether it was done before, or the user is deleted.
fn is_not_needed(error: &Error) -> bool {
    error.failed(0).is_some_and(|failed| failed.cause == Cause::Exists) || error.failed(OF_USER).is_some()
}
