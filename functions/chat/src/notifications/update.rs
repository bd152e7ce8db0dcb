//! `PATCH /chat/me/notifications/{notificationId}`

use serde::Deserialize;
use table::{AccessPattern, Action, Changes, Error, Stored, item};
use utoipa::ToSchema;
use web::{Context, Fault, IfMatch, MergePatch, Path, Problem, Route, Sample, Tagged, problem};

use super::mark::{count, move_to_read};
use super::{
    Found, MARK_READ, Notification, NotificationPath, NotificationView, ONE, ONE_NOTIFICATION, SAMPLE, find, view,
};
use crate::access::{CALLER, NOTIFICATIONS as ON_NOTIFICATIONS};
use crate::caller::{BANNED, Caller, SIGNED_IN};
use crate::names::{Millisecond, UserId};
use crate::schema::NOTIFICATIONS;

/// The marking of a notification as seen.
const MARK_SEEN: AccessPattern = AccessPattern::new("markSeen", &[ON_NOTIFICATIONS.update()]);

/// The marks of a notification. They can be set and not be removed.
#[derive(Debug, Deserialize, ToSchema)]
pub struct NotificationPatch {
    #[schema(nullable = false)]
    seen: Option<bool>,
    /// A read notification is also seen.
    #[schema(nullable = false)]
    read: Option<bool>,
}

pub fn route() -> Route {
    Route::patch("updateNotification", ONE, SIGNED_IN, update)
        .summary("Mark a notification as seen or read")
        .patterns(&[&CALLER, &ONE_NOTIFICATION, &MARK_SEEN, &MARK_READ])
        .problems(&[BANNED, problem::NOT_FOUND, problem::UNPROCESSABLE, problem::CONFLICT])
        .sample(Sample::new(SAMPLE).body(r#"{"read":true}"#))
}

async fn update(
    cx: Context,
    Path(NotificationPath { notification_id: id }): Path<NotificationPath>,
    tag: IfMatch,
    MergePatch(patch): MergePatch<NotificationPatch>,
) -> Result<Tagged<NotificationView>, Problem> {
    let caller = Caller::load(&cx).await?;
    let table = cx.access().table(&ONE_NOTIFICATION, &NOTIFICATIONS);
    cx.retry_stale(&tag, || async {
        let (stored, is_read) = match find(table, caller.id, id).await? {
            Found::Read(stored) => (stored, true),
            Found::Unread(stored) => (stored, false),
        };
        tag.check(stored.rev)?;
        let now: Notification = stored.read()?;
        let set_back = [("/seen", now.seen, patch.seen), ("/read", now.read, patch.read)].into_iter();
        let set_back = set_back.filter(|(_, before, after)| *before && *after == Some(false));
        let faults: Vec<_> = set_back.map(|(at, ..)| Fault::pointer(at, "cannot be set back to false")).collect();
        if !faults.is_empty() {
            return Err(Problem::unprocessable(faults));
        }
        let wants = |mark: Option<bool>| mark == Some(true);
        if wants(patch.read) && !is_read {
            read(&cx, caller.id, &stored).await
        } else if wants(patch.seen) && !now.seen {
            let seen = Changes::new().set("Seen", item::flag(true));
            let action = Action::update(&NOTIFICATIONS, stored.key.clone(), seen).if_unchanged(&stored);
            let rev = cx.access().write(&MARK_SEEN, action).await.map_err(lost)?;
            Ok(Tagged::new(&Notification { seen: true, ..now }.view(rev.number()), rev))
        } else {
            Ok(Tagged::new(&view(&stored)?, stored.rev))
        }
    })
    .await
}

async fn read(cx: &Context, user: UserId, stored: &Stored) -> Result<Tagged<NotificationView>, Problem> {
    let read_at = Millisecond::now(&cx.engines().clock).to_string();
    let [delete, create] = move_to_read(user, stored, &read_at)?;
    let rev = cx.access().transact(&MARK_READ, &[delete, create, count(user, -1)]).await.map_err(lost)?;
    let notification: Notification = stored.read()?;
    Ok(Tagged::new(&Notification { read: true, seen: true, ..notification }.view(rev.number()), rev))
}

/// Another request has changed, moved or deleted the notification.
fn lost(error: Error) -> Problem {
    match error {
        Error::NotFound | Error::Stale { .. } | Error::ConditionFailed(_) => Problem::lost_race(),
        error => error.into(),
    }
}
