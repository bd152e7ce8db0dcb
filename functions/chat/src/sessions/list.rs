//! `GET /chat/me/sessions`

use serde::Serialize;
use table::AccessPattern;
use utoipa::ToSchema;
use web::{Context, Page, PageQuery, Problem, Query, Route, Sample, problem};

use super::{MINE, Session};
use crate::access::{CALLER, LIVE};
use crate::caller::{BANNED, Caller, SIGNED_IN};
use crate::keys::{SESSION_PREFIX, user_partition};
use crate::names::SessionId;
use crate::schema;

/// The sessions of a user.
pub const LIST_SESSIONS: AccessPattern = AccessPattern::new("listSessions", &[LIVE.query()]);

/// A session of the caller.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Session)]
struct SessionView {
    id: SessionId,
    /// The program that has logged in, as it names itself.
    device: String,
    created_at: String,
    last_used_at: String,
    /// Whether this request belongs to it.
    current: bool,
}

pub fn route() -> Route {
    Route::get("listSessions", MINE, SIGNED_IN, list)
        .summary("List the caller's sessions, the newest first")
        .patterns(&[&CALLER, &LIST_SESSIONS])
        .problems(&[problem::FORBIDDEN, BANNED])
        .sample(Sample::new(MINE))
}

async fn list(cx: Context, Query(query): Query<PageQuery>) -> Result<Page<SessionView>, Problem> {
    let caller = Caller::load(&cx).await?;
    let sessions = cx.access().table(&LIST_SESSIONS, &schema::LIVE).query(user_partition(caller.id));
    let sessions = sessions.begins_with(SESSION_PREFIX).backward().consistent();
    let after = cx.cursor(query.cursor.as_deref())?;
    let found = sessions.after(after).page(query.limit.0).await?;
    cx.page(found, |stored| {
        let session: Session = stored.read()?;
        Ok(SessionView {
            current: caller.session == Some(session.id),
            id: session.id,
            device: session.device,
            created_at: session.created_at,
            last_used_at: session.last_used_at,
        })
    })
}
