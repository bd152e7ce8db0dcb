//! `DELETE /chat/me/notifications/{notificationId}`

use table::{AccessPattern, Action, Error};
use web::{Context, IfMatch, NoContent, Path, Problem, Route, Sample, problem};

use super::mark::count;
use super::{Found, NotificationPath, ONE, ONE_NOTIFICATION, SAMPLE, find};
use crate::access::{CALLER, NOTIFICATIONS as ON_NOTIFICATIONS};
use crate::caller::{BANNED, Caller, SIGNED_IN};
use crate::schema::NOTIFICATIONS;

/// The deletion of a notification, with the number of unread ones.
const DELETE_NOTIFICATION: AccessPattern =
    AccessPattern::new("deleteNotification", &[ON_NOTIFICATIONS.delete(), ON_NOTIFICATIONS.update()]);

pub fn route() -> Route {
    Route::delete("deleteNotification", ONE, SIGNED_IN, delete)
        .summary("Delete a notification")
        .patterns(&[&CALLER, &ONE_NOTIFICATION, &DELETE_NOTIFICATION])
        .problems(&[BANNED, problem::NOT_FOUND, problem::CONFLICT])
        .sample(Sample::new(SAMPLE))
}

async fn delete(
    cx: Context,
    Path(NotificationPath { notification_id: id }): Path<NotificationPath>,
    tag: IfMatch,
) -> Result<NoContent, Problem> {
    let caller = Caller::load(&cx).await?;
    let table = cx.access().table(&ONE_NOTIFICATION, &NOTIFICATIONS);
    cx.retry_stale(&tag, || async {
        let (stored, unread) = match find(table, caller.id, id).await? {
            Found::Unread(stored) => (stored, true),
            Found::Read(stored) => (stored, false),
        };
        tag.check(stored.rev)?;
        let mut actions = vec![Action::delete(&NOTIFICATIONS, stored.key.clone()).if_unchanged(&stored)];
        if unread {
            actions.push(count(caller.id, -1));
        }
        match cx.access().transact(&DELETE_NOTIFICATION, &actions).await {
            Ok(_) => Ok(NoContent),
            // Another request has changed, moved or deleted the notification.
            Err(Error::ConditionFailed(_)) => Err(Problem::lost_race()),
            Err(Error::NotFound | Error::Stale { .. }) => Err(Problem::lost_race()),
            Err(error) => Err(error.into()),
        }
    })
    .await
}
