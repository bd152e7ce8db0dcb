//! `$connect`: a client opens the socket with a ticket.

use bytes::Bytes;
use http::StatusCode;
use table::{AccessPattern, Action, Backoff, Clock, Error, Escaped, Stored};
use web::{Event, EventFailure, EventHandler, SocketEvent, socket};

use super::connections::{self, CONNECTION_SECONDS, CONNECTIONS, StoredConnection};
use super::end::{self, CLOSE_CONNECTIONS};
use super::tickets::{self, Ticket};
use crate::access::{LIVE as ON_LIVE, USERS as ON_USERS};
use crate::keys::{ConnectionKey, SessionKey, UserConnectionKey, UserKey};
use crate::names::{SessionId, UserId};
use crate::schema::{CONNECT, LIVE, USERS};
use crate::users::User;

/// The ticket, the user whom it names, and the new connection.
const OPEN: AccessPattern = AccessPattern::new(
    "openConnection",
    &[ON_LIVE.get(), ON_USERS.get(), ON_LIVE.delete(), ON_LIVE.put(), ON_USERS.check(), ON_LIVE.check()],
);

/// The most connections of a user. Another one closes the oldest.
const MAX_CONNECTIONS: usize = 10;

pub fn handler() -> EventHandler {
    EventHandler::new(CONNECT, connect).patterns(&[&OPEN, &CONNECTIONS, &CLOSE_CONNECTIONS])
}

async fn connect(event: Event) -> Result<Bytes, EventFailure> {
    let socket_event = SocketEvent::parse(&event.payload)?;
    let opened = open(&event, &socket_event).await.map_err(EventFailure::new)?;
    Ok(socket::respond(if opened { StatusCode::OK } else { StatusCode::UNAUTHORIZED }))
}

/// Stores the connection. Returns false if the ticket is not valid.
async fn open(event: &Event, socket_event: &SocketEvent) -> Result<bool, Error> {
    let access = event.access();
    let Some(ticket) = socket_event.query.get("ticket") else { return Ok(false) };
    let (Ok(key), Ok(connection)) = (tickets::key(ticket), Escaped::new(&*socket_event.connection)) else {
        return Ok(false);
    };
    let Some(ticket) = access.table(&OPEN, &LIVE).get_consistent(&key).await? else { return Ok(false) };
    let Ticket { user_id: user, session_id, .. } = ticket.read()?;
    let clock = &access.engines().clock;
    let mut backoff = Backoff::new();
    loop {
        let stored = access.table(&OPEN, &USERS).get_consistent(UserKey { user }).await?;
        let Some(stored) = stored.filter(|stored| may_connect(stored, session_id, clock)) else { return Ok(false) };
        let new = StoredConnection {
            user_id: user,
            session_id,
            connected_at: clock.micros() / 1000,
            expires: clock.seconds() + CONNECTION_SECONDS,
        };
        let mut actions = vec![
            Action::delete(&LIVE, &key),
            Action::create(&LIVE, ConnectionKey { connection: connection.clone() }, &new)?,
            Action::create(&LIVE, UserConnectionKey { user, connection: connection.clone() }, &new)?,
            // A ban after this check finds the connection and closes it.
            Action::check(&USERS, stored.key.clone()).if_unchanged(&stored),
        ];
        // So does the end of the session.
        actions.extend(session_id.map(|session| Action::check(&LIVE, SessionKey { user, session })));
        match access.transact(&OPEN, &actions).await {
            Ok(_) => break,
            Err(error) if error.failed(0).or(error.failed(4)).is_some() => return Ok(false),
            // Another request has changed the user.
            Err(error) if error.failed(3).is_some() && backoff.wait().await => {}
            Err(error) => return Err(error),
        }
    }
    close_oldest(event, user).await?;
    Ok(true)
}

/// Whether the user is neither banned nor deleted, and the session was not ended with all others.
fn may_connect(stored: &Stored, session: Option<SessionId>, clock: &Clock) -> bool {
    let Ok(user) = stored.read::<User>() else { return false };
    let is_banned = user.ban.as_ref().is_some_and(|ban| ban.lasts(clock));
    user.deleted_at.is_none() && !is_banned && !session.is_some_and(|session| user.refuses(session))
}

async fn close_oldest(event: &Event, user: UserId) -> Result<(), Error> {
    let mut open = connections::of_user(event.access(), &CONNECTIONS, user).await?;
    let excess = open.len().saturating_sub(MAX_CONNECTIONS);
    if excess == 0 {
        return Ok(());
    }
    open.sort_by_key(|(_, connection)| connection.connected_at);
    let oldest: Vec<Escaped> = open.into_iter().take(excess).map(|(id, _)| id).collect();
    end::close(event.access(), user, &oldest).await
}
