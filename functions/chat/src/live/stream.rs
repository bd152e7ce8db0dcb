//! The handler of the streams' records: it adds events to feeds, creates notifications, and sends frames to clients.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures::stream::{self, StreamExt};
use table::{Access, AccessPattern, Error};
use web::{Event as Invocation, EventFailure, EventHandler, Problem, Record, records, respond_to_records};

use super::connections::{CONNECTIONS, FORGET};
use super::effects::{ConnectionChange, Effect, effects};
use super::end::{self, CLOSE_CONNECTIONS, END_SUBSCRIPTIONS};
use super::event::Event;
use super::fan_out::{FAN_OUT, FanOut, MARGIN};
use super::feed::Feed;
use super::feeds::{APPEND, FAN_OUT_DUE, MAX_APPENDED, NewEntry, append};
use super::frame::of_events;
use super::presence::{self, LAST_SEEN};
use super::rest::{self, QUEUE_REST};
use crate::access::{
    GROUP_CHATS as ON_GROUP_CHATS, NOTIFICATIONS as ON_NOTIFICATIONS, PRIVATE_CHATS as ON_PRIVATE_CHATS,
};
use crate::group_chats::{ChatMember, GroupChat};
use crate::keys::{GroupChatKey, member_key};
use crate::messages::delete::{DELETE_REACTIONS, delete_reactions};
use crate::messages::table_of;
use crate::names::{ChatId, GroupChatId, MessageId, NotificationId, UserId};
use crate::notifications::write::{
    MentionChange, NOTIFY, NOTIFY_MENTION, NewNotification, Source, count_mention, notify, notify_mention,
};
use crate::notifications::{NotificationType, read_key, unread_key};
use crate::pictures::{self, REMOVE_OWN_PICTURES, REMOVE_PICTURES};
use crate::reading::UNREAD;
use crate::schema::{GROUP_CHATS, NOTIFICATIONS, SYSTEM, TELL};
use crate::sessions::end::{END_SESSIONS, end_refused};

/// The group chat whose moderators are notified, and the members whose subscriptions may end.
const PRESENT_STATE: AccessPattern =
    AccessPattern::new("presentState", &[ON_GROUP_CHATS.get(), ON_PRIVATE_CHATS.get()]);

/// A notification in either group.
const MOVED: AccessPattern = AccessPattern::new("movedNotification", &[ON_NOTIFICATIONS.batch_get()]);

/// The feeds, and the users, that are worked on at once.
const CONCURRENCY: usize = 16;

pub fn handler() -> EventHandler {
    let handler = EventHandler::new(TELL, live).patterns(&[
        &APPEND,
        &FAN_OUT,
        &FAN_OUT_DUE,
        &QUEUE_REST,
        &FORGET,
        &NOTIFY,
        &NOTIFY_MENTION,
        &UNREAD,
        &PRESENT_STATE,
        &MOVED,
        &END_SUBSCRIPTIONS,
        &CLOSE_CONNECTIONS,
        &END_SESSIONS,
        &DELETE_REACTIONS,
        &REMOVE_PICTURES,
        &REMOVE_OWN_PICTURES,
        &CONNECTIONS,
        &LAST_SEEN,
    ]);
    handler.timeout(Duration::from_secs(120)).memory(1024)
}

async fn live(invocation: Invocation) -> Result<Bytes, EventFailure> {
    let access = invocation.access();
    let records = records(&invocation.payload, &SYSTEM, &access.engines().config)?;
    let batch = Batch {
        access,
        records: &records,
        fan_out: FanOut::new(access, invocation.deadline, MARGIN),
        failed: Failed::default(),
    };
    let work = batch.plan().await;
    if work.is_empty() {
        invocation.found_nothing();
    }
    tokio::join!(
        each(work.entries, |(feed, entries)| batch.follow(feed, entries)),
        each(work.notices, |(_, notices)| batch.notify(notices)),
        each(work.connections, |(user, changes)| batch.tell_presence(user, changes)),
    );
    // A removed member still gets the event of the removal.
    for (index, end) in work.ends {
        if let Err(problem) = batch.end(end).await {
            batch.failed.again(index, &problem);
        }
    }
    Ok(respond_to_records(batch.failed.first().and_then(|index| records.get(index))))
}

async fn each<T, F: Future<Output = ()>>(work: impl IntoIterator<Item = T>, run: impl FnMut(T) -> F) {
    stream::iter(work).for_each_concurrent(CONCURRENCY, run).await;
}

/// The records of an invocation.
struct Batch<'a> {
    access: &'a Access,
    records: &'a [Record],
    fan_out: FanOut<'a>,
    failed: Failed,
}

/// The effects of a batch of records, by what keeps an order. Each number is the index of a record.
#[derive(Default)]
struct Work {
    entries: BTreeMap<Feed, Vec<(usize, NewEntry)>>,
    /// The notifications of a user change one counter, so they are created one after another.
    notices: BTreeMap<UserId, Vec<(usize, Notice)>>,
    connections: BTreeMap<UserId, Vec<(usize, ConnectionChange)>>,
    ends: Vec<(usize, Effect)>,
}

impl Work {
    fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.notices.is_empty() && self.connections.is_empty() && self.ends.is_empty()
    }
}

enum Notice {
    New(NewNotification),
    Mention(NewNotification, (ChatId, MessageId)),
    MentionChanged(UserId, (ChatId, MessageId), MentionChange),
}

impl Notice {
    fn user(&self) -> UserId {
        match self {
            Self::New(notification) | Self::Mention(notification, _) => notification.user,
            Self::MentionChanged(user, ..) => *user,
        }
    }
}

/// The first record that must be delivered again. Records after it are delivered again with it.
struct Failed(AtomicUsize);

impl Default for Failed {
    fn default() -> Self {
        Self(AtomicUsize::new(usize::MAX))
    }
}

impl Failed {
    fn check(&self, index: usize, outcome: Result<(), Error>) {
        match outcome {
            Ok(()) => {}
            // Another delivery would fail alike, and delay the records after it.
            Err(error @ (Error::Misfit(_) | Error::TooLarge | Error::Key(_))) => {
                tracing::error!(%error, "effect of a record was skipped");
            }
            Err(error) => self.again(index, &error),
        }
    }

    fn again(&self, index: usize, error: &dyn Display) {
        tracing::warn!(%error, "effect of a record failed; the record will be delivered again");
        self.0.fetch_min(index, Ordering::Relaxed);
    }

    fn first(&self) -> Option<usize> {
        Some(self.0.load(Ordering::Relaxed)).filter(|index| *index < usize::MAX)
    }
}

impl Batch<'_> {
    async fn plan(&self) -> Work {
        let mut work = Work::default();
        for (index, record) in self.records.iter().enumerate() {
            match effects(record) {
                Ok(effects) => {
                    for effect in effects {
                        self.failed.check(index, self.add(&mut work, index, record, effect).await);
                    }
                }
                Err(error) => self.failed.check(index, Err(error)),
            }
        }
        work
    }

    async fn add(&self, work: &mut Work, index: usize, record: &Record, effect: Effect) -> Result<(), Error> {
        let mut append = |feed, event| {
            let entry = NewEntry { key: record.event_key(), at: record.time().into(), event };
            work.entries.entry(feed).or_default().push((index, entry));
        };
        let mut notify = |notice: Notice| {
            let notices = work.notices.entry(notice.user()).or_default();
            notices.push((index, notice));
        };
        match effect {
            Effect::Append { feed, event } => append(feed, event),
            Effect::NotificationRemoved { user, notification, rev } => {
                if self.is_gone(user, notification).await? {
                    append(Feed::User(user), Event::NotificationDeleted { notification_id: notification, rev });
                }
            }
            Effect::Notify(notification) => notify(Notice::New(notification)),
            Effect::Mention { chat, message, notification } => notify(Notice::Mention(notification, (chat, message))),
            Effect::MentionChanged { chat, message, user, change } => {
                notify(Notice::MentionChanged(user, (chat, message), change));
            }
            Effect::NotifyModerators { chat, target, actor } => {
                for user in self.moderators(chat).await? {
                    let (target, notification_type) = (target.clone(), NotificationType::RequestReceived);
                    notify(Notice::New(NewNotification { user, notification_type, target, actor: Some(actor) }));
                }
            }
            Effect::Connections { user, change } => {
                work.connections.entry(user).or_default().push((index, change));
            }
            Effect::EndSubscriptions { .. }
            | Effect::EndFeed { .. }
            | Effect::EndPresence { .. }
            | Effect::CloseConnections { .. }
            | Effect::EndSessions { .. }
            | Effect::DeleteReactions { .. }
            | Effect::RemovePicture(_)
            | Effect::RemoveOwnPicture { .. } => work.ends.push((index, effect)),
        }
        Ok(())
    }

    /// Whether a notification exists in neither group.
    async fn is_gone(&self, user: UserId, notification: NotificationId) -> Result<bool, Error> {
        let keys = [unread_key(user, notification).into(), read_key(user, notification).into()];
        let found = self.access.table(&MOVED, &NOTIFICATIONS).batch_get_consistent(&keys).await?;
        Ok(found.iter().all(Option::is_none))
    }

    async fn moderators(&self, chat: GroupChatId) -> Result<Vec<UserId>, Error> {
        let stored = self.access.table(&PRESENT_STATE, &GROUP_CHATS).get_consistent(GroupChatKey { chat }).await?;
        let Some(stored) = stored else { return Ok(Vec::new()) };
        let chat: GroupChat = stored.read()?;
        let mut users = chat.moderators;
        users.insert(chat.owner);
        Ok(users.into_iter().collect())
    }

    /// Adds events to a feed, and delivers them to its followers.
    async fn follow(&self, feed: Feed, entries: Vec<(usize, NewEntry)>) {
        for chunk in entries.chunks(MAX_APPENDED) {
            let new: Vec<NewEntry> = chunk.iter().map(|(_, entry)| entry.clone()).collect();
            match append(self.access, feed, &new).await {
                Ok(first) => {
                    let numbered: Vec<_> = (first..).zip(new).map(|(n, entry)| entry.numbered(n)).collect();
                    let rest = self.fan_out.push(feed, &of_events(feed, false, &numbered)).await;
                    if let Some(after) = rest
                        && let Err(error) = rest::begin(self.access, feed, first, after).await
                    {
                        tracing::error!(%feed, %error, "a fan-out was not queued; its followers will see the hole");
                    }
                }
                Err(error) => {
                    let index = chunk.first().map_or(0, |(index, _)| *index);
                    return self.failed.check(index, Err(error));
                }
            }
        }
    }

    async fn notify(&self, notices: Vec<(usize, Notice)>) {
        for (index, notice) in notices {
            let Some(record) = self.records.get(index) else { continue };
            let source = Source { key: &record.event_key(), time: record.time().into() };
            let done = match notice {
                Notice::New(notification) => notify(self.access, source, &notification).await,
                Notice::Mention(notification, (chat, message)) => {
                    notify_mention(self.access, source, &notification, chat, message).await
                }
                Notice::MentionChanged(user, message, change) => {
                    count_mention(self.access, source, user, message, change).await
                }
            };
            self.failed.check(index, done);
        }
    }

    async fn tell_presence(&self, user: UserId, changes: Vec<(usize, ConnectionChange)>) {
        let index = changes.first().map_or(0, |(index, _)| *index);
        let changes: Vec<ConnectionChange> = changes.into_iter().map(|(_, change)| change).collect();
        self.failed.check(index, presence::changed(&self.fan_out, self.access, user, &changes).await);
    }

    async fn member(&self, chat: ChatId, user: UserId) -> Result<Option<ChatMember>, Error> {
        let table = self.access.table(&PRESENT_STATE, table_of(chat));
        table.get_consistent(member_key(chat, user)).await?.map(|stored| stored.read()).transpose()
    }

    /// Whether a group chat is deleted, or is being deleted. Its members are then deleted with it.
    async fn is_deleted(&self, chat: GroupChatId) -> Result<bool, Error> {
        let stored = self.access.table(&PRESENT_STATE, &GROUP_CHATS).get_consistent(GroupChatKey { chat }).await?;
        let chat = stored.map(|stored| stored.read::<GroupChat>()).transpose()?;
        Ok(chat.is_none_or(|chat| chat.deleting_at.is_some()))
    }

    /// Ends subscriptions and connections, or deletes reactions and pictures. An operation has done so already unless it was stopped.
    async fn end(&self, effect: Effect) -> Result<(), Problem> {
        let tell_until = Some(self.fan_out.until());
        match effect {
            Effect::EndSubscriptions { user, chat } => match self.member(chat.into(), user).await? {
                // The user has joined again since.
                Some(_) => Ok(()),
                None => {
                    let reason = if self.is_deleted(chat).await? { "deleted" } else { "removed" };
                    end::end_subscriptions(self.access, user, chat.into(), reason, tell_until).await
                }
            },
            Effect::EndFeed { chat } => end::end_feed(self.access, chat, tell_until).await,
            Effect::EndPresence { chat, one, other } => match self.member(chat.into(), one).await? {
                Some(member) if member.blocked_at.is_none() && member.gone_at.is_none() => Ok(()),
                _ => end::end_presence(self.access, one, other, tell_until).await,
            },
            Effect::CloseConnections { user, session } => end::close_connections(self.access, user, session).await,
            Effect::EndSessions { user, from } => end_refused(self.access, user, &from).await,
            Effect::DeleteReactions { chat, message } => {
                Ok(delete_reactions(self.access, &DELETE_REACTIONS, chat, message).await?)
            }
            Effect::RemovePicture(picture) => Ok(pictures::remove(self.access, &REMOVE_PICTURES, picture).await?),
            Effect::RemoveOwnPicture { user, picture } => Ok(pictures::remove_own(self.access, user, picture).await?),
            _ => Ok(()),
        }
    }
}
