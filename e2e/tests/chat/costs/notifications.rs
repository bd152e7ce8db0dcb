//! Notifications, which the measured calls of `live` create.

use chat::keys::UnreadCountKey;
use chat::names::NotificationId;
use chat::notifications::{Notification, NotificationType, UnreadCount, unread_key};
use chat::schema::NOTIFICATIONS;
use reqwest::Method;
use serde_json::json;
use table::EntityKey;

use super::Stage;
use crate::chat::conversation::user_id;
use crate::chat::stage::{Chat, Member};
use crate::harness::table::stored;

const LIST: &str = "/chat/me/notifications";

/// Writes unread notifications directly, and returns their ids.
pub async fn write(chat: &Chat, member: &Member, count: i64) -> Vec<NotificationId> {
    let (user, now) = (user_id(member), chat.cairn.clock.micros() / 1000);
    let ids: Vec<NotificationId> = (0..count).map(|number| NotificationId::at(now - 1000 * (count - number))).collect();
    let item = |id: &NotificationId| {
        let notification = Notification {
            id: *id,
            notification_type: NotificationType::Mention,
            message: "You were mentioned in a message.".to_owned(),
            target: format!("/chat/groupchats/{id}/messages/{id}"),
            read: false,
            seen: false,
            actor_id: Some(user),
            created_at: id.time().to_string(),
            read_at: None,
        };
        stored(&NOTIFICATIONS, &unread_key(user, *id).key(), &notification)
    };
    let table = chat.cairn.table_of(&NOTIFICATIONS);
    table.put_all(ids.iter().map(item).collect()).await;
    let num = u64::try_from(count).unwrap();
    table.put(stored(&NOTIFICATIONS, &UnreadCountKey { user }.key(), &UnreadCount { num })).await;
    ids
}

pub async fn measure(stage: &mut Stage) {
    let Stage { chat, measured, .. } = stage;
    let ids = write(chat, &chat.cy, 30).await;
    let cy = &chat.cy.user;
    let of = |number: usize| format!("{LIST}/{}", ids[number]);
    measured.of("25 notifications", cy.get(LIST), 200).await;
    measured.of("the number of unread notifications", cy.get(&format!("{LIST}/count")), 200).await;
    measured.of("mark a notification as seen", cy.patch(&of(0), json!({ "seen": true })), 200).await;
    measured.of("mark a notification as read", cy.patch(&of(0), json!({ "read": true })), 200).await;
    measured.of("delete a notification", cy.delete(&of(1)), 204).await;
    for number in 2..5 {
        cy.delete(&of(number)).await.is(204);
    }
    let all = cy.call(Method::POST, &format!("{LIST}/read-all"));
    measured.of("mark 25 notifications as read", all, 200).await;
}
