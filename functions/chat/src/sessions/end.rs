//! The end of sessions: their rows are deleted and their connections closed, so that neither can be used again. The access
//! token of a session that was logged out lives out its ten minutes.

use table::Access;
use table::access::AccessPattern;
use web::Problem;

use crate::access::LIVE;
use crate::keys::{SESSION_PREFIX, user_partition};
use crate::live::end::close_connections;
use crate::names::{SessionId, UserId};
use crate::schema;
use crate::users::SessionsFrom;

/// The sessions of a user. An operation that ends sessions has [`CLOSE_CONNECTIONS`](crate::live::end::CLOSE_CONNECTIONS), too.
pub const END_SESSIONS: AccessPattern = AccessPattern::new("endSessions", &[LIVE.query(), LIVE.batch_delete()]);

/// Ends all sessions of a user, and closes all connections.
pub async fn end_all(access: &Access, user: UserId) -> Result<(), Problem> {
    end(access, user, |_| true).await?;
    close_connections(access, user, None).await
}

/// Ends the other sessions of a user, and closes their connections.
pub async fn end_others(access: &Access, user: UserId, kept: Option<SessionId>) -> Result<(), Problem> {
    for session in end(access, user, |session| Some(session) != kept).await? {
        close_connections(access, user, Some(session)).await?;
    }
    Ok(())
}

/// Deletes the sessions of a user that are refused, whose records then close their connections. An operation has done it
/// already unless it was stopped. Sessions that have begun since go on.
pub async fn end_refused(access: &Access, user: UserId, from: &SessionsFrom) -> Result<(), Problem> {
    end(access, user, |session| from.refuses(session)).await.map(|_| ())
}

/// Deletes some sessions of a user, and returns them.
async fn end(access: &Access, user: UserId, is_ended: impl Fn(SessionId) -> bool) -> Result<Vec<SessionId>, Problem> {
    let live = access.table(&END_SESSIONS, &schema::LIVE);
    let mut ended = Vec::new();
    let mut after = None;
    loop {
        let query = live.query(user_partition(user)).begins_with(SESSION_PREFIX).consistent();
        let page = query.after(after).page(100).await?;
        let sessions = page.items.into_iter().filter_map(|stored| {
            let session = stored.key.sk.as_ref()?.strip_prefix(SESSION_PREFIX)?.parse::<SessionId>().ok()?;
            is_ended(session).then_some((session, stored.key))
        });
        let (sessions, keys): (Vec<_>, Vec<_>) = sessions.unzip();
        live.batch_delete(&keys).await?;
        ended.extend(sessions);
        after = page.next;
        if after.is_none() {
            return Ok(ended);
        }
    }
}
