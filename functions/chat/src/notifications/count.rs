//! `GET /chat/me/notifications/count`

use serde::Serialize;
use table::AccessPattern;
use utoipa::ToSchema;
use web::{Context, Json, Problem, Route, Sample};

use super::UnreadCount;
use crate::access::{CALLER, NOTIFICATIONS as ON_NOTIFICATIONS};
use crate::caller::{BANNED, Caller, SIGNED_IN};
use crate::keys::UnreadCountKey;
use crate::schema::NOTIFICATIONS;

/// The number of a user's unread notifications.
const COUNT_UNREAD: AccessPattern = AccessPattern::new("countUnread", &[ON_NOTIFICATIONS.get()]);

const PATH: &str = "/chat/me/notifications/count";

/// The exact number of unread notifications.
#[derive(Debug, Serialize, ToSchema)]
pub struct Unread {
    unread: u64,
}

pub fn route() -> Route {
    Route::get("countUnread", PATH, SIGNED_IN, count)
        .summary("Get the number of the caller's unread notifications")
        .patterns(&[&CALLER, &COUNT_UNREAD])
        .problems(&[BANNED])
        .sample(Sample::new(PATH))
}

async fn count(cx: Context) -> Result<Json<Unread>, Problem> {
    let caller = Caller::load(&cx).await?;
    let key = UnreadCountKey { user: caller.id };
    let stored = cx.access().table(&COUNT_UNREAD, &NOTIFICATIONS).get_consistent(key).await?;
    let count = stored.map(|stored| stored.read::<UnreadCount>()).transpose()?;
    Ok(Json(Unread { unread: count.map_or(0, |count| count.num) }))
}
