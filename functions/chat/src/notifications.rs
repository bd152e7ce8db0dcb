//! Notifications of a user: their items, and the operations on them.

pub mod count;
pub mod delete;
pub mod list;
mod mark;
pub mod read_all;
pub mod update;
pub mod write;

use serde::{Deserialize, Serialize};
use table::{AccessPattern, Error, Stored, TableAccess};
use utoipa::ToSchema;
use web::Problem;

use crate::access::NOTIFICATIONS as ON_NOTIFICATIONS;
use crate::keys::{ReadNotificationKey, UnreadNotificationKey};
use crate::names::{NotificationId, UserId};

pub const LIST: &str = "/chat/me/notifications";
pub const ONE: &str = "/chat/me/notifications/{notificationId}";
pub const SAMPLE: &str = "/chat/me/notifications/019b76da-a800-7000-8000-000000000061";

/// The prefixes of sort keys of the two groups. An unread notification becomes a read one of the same id and time.
pub const UNREAD_PREFIX: &str = "NOTIFICATION#UNREAD#";
pub const READ_PREFIX: &str = "NOTIFICATIONREAD#";

/// One notification, which has one of two keys.
pub const ONE_NOTIFICATION: AccessPattern = AccessPattern::new("oneNotification", &[ON_NOTIFICATIONS.batch_get()]);

/// Notifications by group.
pub const LIST_NOTIFICATIONS: AccessPattern = AccessPattern::new("listNotifications", &[ON_NOTIFICATIONS.query()]);

/// The marking of notifications as read, with the number of unread ones.
pub const MARK_READ: AccessPattern =
    AccessPattern::new("markRead", &[ON_NOTIFICATIONS.delete(), ON_NOTIFICATIONS.put(), ON_NOTIFICATIONS.update()]);

/// The type of a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum NotificationType {
    Mention,
    RequestReceived,
    RequestApproved,
    RequestDenied,
    Added,
    PrivateChatStarted,
    MadeModerator,
    ReportSettled,
    Security,
}

/// A notification as the table stores it, unread or read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Notification {
    pub id: NotificationId,
    pub notification_type: NotificationType,
    /// At most 200 characters.
    pub message: String,
    /// The path of what it is about, at most 300 characters.
    pub target: String,
    pub read: bool,
    pub seen: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor_id: Option<UserId>,
    pub created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_at: Option<String>,
}

/// A notification as the API and events have it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Notification)]
pub struct NotificationView {
    pub id: NotificationId,
    #[serde(rename = "type")]
    pub notification_type: NotificationType,
    pub message: String,
    /// The path of what it is about.
    pub target: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub actor_id: Option<UserId>,
    pub created_at: String,
    pub seen: bool,
    pub read: bool,
    pub rev: u64,
}

/// The path parameter of a notification.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NotificationPath {
    pub notification_id: NotificationId,
}

/// The number of a user's unread notifications.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct UnreadCount {
    pub num: u64,
}

impl Notification {
    pub fn view(self, rev: u64) -> NotificationView {
        NotificationView {
            id: self.id,
            notification_type: self.notification_type,
            message: self.message,
            target: self.target,
            actor_id: self.actor_id,
            created_at: self.created_at,
            seen: self.seen,
            read: self.read,
            rev,
        }
    }
}

/// Returns the view of an item.
pub fn view(stored: &Stored) -> Result<NotificationView, Error> {
    Ok(stored.read::<Notification>()?.view(stored.rev.map_or(0, table::Rev::number)))
}

pub fn unread_key(user: UserId, notification: NotificationId) -> UnreadNotificationKey {
    UnreadNotificationKey { user, time: notification.time(), notification }
}

pub fn read_key(user: UserId, notification: NotificationId) -> ReadNotificationKey {
    ReadNotificationKey { user, time: notification.time(), notification }
}

/// A notification in its group.
enum Found {
    Unread(Stored),
    Read(Stored),
}

/// Finds a notification of a user, or 404. A batch is not read at one moment, so a notification that becomes a read one
/// meanwhile may be missed under both keys. It does so once, and a second batch finds it.
async fn find(table: TableAccess<'_>, user: UserId, id: NotificationId) -> Result<Found, Problem> {
    let keys = [unread_key(user, id).into(), read_key(user, id).into()];
    for _ in 0..2 {
        let mut found = table.batch_get_consistent(&keys).await?.into_iter();
        match (found.next().flatten(), found.next().flatten()) {
            (_, Some(read)) => return Ok(Found::Read(read)),
            (Some(unread), None) => return Ok(Found::Unread(unread)),
            (None, None) => {}
        }
    }
    Err(Problem::not_found())
}
