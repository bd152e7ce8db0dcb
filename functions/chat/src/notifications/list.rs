//! `GET /chat/me/notifications`

use serde::{Deserialize, Serialize};
use table::{Position, Stored};
use web::{Context, Json, Page, Problem, Query, Route, Sample};

use super::{LIST, LIST_NOTIFICATIONS, NotificationView, READ_PREFIX, UNREAD_PREFIX, view};
use crate::access::CALLER;
use crate::caller::{BANNED, Caller, SIGNED_IN};
use crate::keys::user_partition;
use crate::people::{Include, PEOPLE};
use crate::people_of_page::{PeoplePage, PeopleQuery};
use crate::schema::NOTIFICATIONS;

/// Where a page ends. Unread notifications come first, and all read ones after them.
#[derive(Debug, Serialize, Deserialize)]
enum End {
    Unread(Position),
    /// After this read notification, or before all of them.
    Read(Option<Position>),
}

pub fn route() -> Route {
    Route::get("listNotifications", LIST, SIGNED_IN, list)
        .summary("List the caller's notifications: the unread ones, then the read ones, each newest first")
        .patterns(&[&CALLER, &LIST_NOTIFICATIONS, &PEOPLE])
        .problems(&[BANNED])
        .sample(Sample::new(LIST))
}

async fn list(cx: Context, Query(query): Query<PeopleQuery>) -> Result<Json<PeoplePage<NotificationView>>, Problem> {
    let (caller, include) = (Caller::load(&cx).await?, query.include);
    let table = cx.access().table(&LIST_NOTIFICATIONS, &NOTIFICATIONS);
    let group = |prefix| table.query(user_partition(caller.id)).begins_with(prefix).backward();
    let limit = query.limit.0;
    let (mut items, after_read) = match cx.cursor(query.cursor.as_deref())? {
        Some(End::Read(after)) => (Vec::new(), after),
        start => {
            let after = match start {
                Some(End::Unread(after)) => Some(after),
                _ => None,
            };
            let page = group(UNREAD_PREFIX).after(after).page(limit).await?;
            if let Some(next) = page.next {
                return page_of(&cx, page.items, Some(End::Unread(next)), include).await;
            }
            (page.items, None)
        }
    };
    let missing = limit.saturating_sub(u32::try_from(items.len()).unwrap_or(u32::MAX));
    let read = group(READ_PREFIX).after(after_read);
    let next = if missing == 0 {
        read.first().await?.map(|_| End::Read(None))
    } else {
        let page = read.page(missing).await?;
        items.extend(page.items);
        page.next.map(|next| End::Read(Some(next)))
    };
    page_of(&cx, items, next, include).await
}

async fn page_of(
    cx: &Context,
    items: Vec<Stored>,
    next: Option<End>,
    include: Option<Include>,
) -> Result<Json<PeoplePage<NotificationView>>, Problem> {
    let items = items.iter().map(view).collect::<Result<_, _>>()?;
    let page = Page { items, next_cursor: cx.cursor_to(next)? };
    Ok(Json(PeoplePage::of(cx, page, include, |notification| notification.actor_id).await?))
}
