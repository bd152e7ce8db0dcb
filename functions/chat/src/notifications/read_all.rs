//! `POST /chat/me/notifications/read-all`

use serde::Serialize;
use table::{Error, Stored};
use tokio::time::{Duration, Instant};
use utoipa::ToSchema;
use web::{Context, Json, Problem, Route, Sample, problem};

use super::mark::{count, move_to_read};
use super::{LIST_NOTIFICATIONS, MARK_READ, UNREAD_PREFIX};
use crate::access::CALLER;
use crate::caller::{BANNED, Caller, SIGNED_IN};
use crate::keys::user_partition;
use crate::names::{Millisecond, UserId};
use crate::schema::NOTIFICATIONS;

const PATH: &str = "/chat/me/notifications/read-all";

/// The notifications of a transaction. Each takes two of its 100 actions, and the number of unread ones takes one.
const MOVES: u32 = 49;

/// The time before the end of the request at which no further transaction is begun.
const MARGIN: Duration = Duration::from_secs(3);

/// The number of notifications that were marked as read.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReadAll {
    read: u64,
    /// Whether the time of the request was over before all were marked. The client sends it again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    more: bool,
}

pub fn route() -> Route {
    Route::post("readAll", PATH, SIGNED_IN, read_all)
        .summary("Mark as read the notifications from before this request")
        .patterns(&[&CALLER, &LIST_NOTIFICATIONS, &MARK_READ])
        .problems(&[BANNED, problem::CONFLICT])
        .sample(Sample::new(PATH))
}

async fn read_all(cx: Context) -> Result<Json<ReadAll>, Problem> {
    let caller = Caller::load(&cx).await?;
    let start = Millisecond::now(&cx.engines().clock);
    let mut read = 0;
    loop {
        // A notification that another request has marked meanwhile makes the transaction fail, and is then gone.
        let moved = cx.retry(|| move_some(&cx, caller.id, start)).await?;
        read += moved;
        let more = moved == u64::from(MOVES);
        if !more || cx.deadline().saturating_duration_since(Instant::now()) < MARGIN {
            return Ok(Json(ReadAll { read, more }));
        }
    }
}

/// Marks some of the notifications from before this time, and returns their number.
async fn move_some(cx: &Context, user: UserId, start: Millisecond) -> Result<u64, Problem> {
    let table = cx.access().table(&LIST_NOTIFICATIONS, &NOTIFICATIONS);
    let before = table.query(user_partition(user)).between(UNREAD_PREFIX, format!("{UNREAD_PREFIX}{start}"));
    let unread: Vec<Stored> = before.consistent().page(MOVES).await?.items;
    let moved = i64::try_from(unread.len()).unwrap_or_default();
    if moved == 0 {
        return Ok(0);
    }
    let mut actions = vec![count(user, -moved)];
    for stored in &unread {
        actions.extend(move_to_read(user, stored, &start.to_string())?);
    }
    match cx.access().transact(&MARK_READ, &actions).await {
        Ok(_) => Ok(moved.unsigned_abs()),
        Err(Error::ConditionFailed(_)) => Err(Problem::lost_race()),
        Err(error) => Err(error.into()),
    }
}
