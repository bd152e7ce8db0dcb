//! Changes of users, of their sessions and of their connections.

use table::{EntityKey, Error};
use web::Record;

use super::{ConnectionChange, Effect};
use crate::keys::{SessionKey, UserConnectionKey, UserKey};
use crate::live::connections::StoredConnection;
use crate::names::Millisecond;
use crate::pictures::dropped;
use crate::schema::USERS;
use crate::users::User;

pub fn effects(record: &Record) -> Result<Vec<Effect>, Error> {
    if record.table.name == USERS.name {
        let (Some(UserKey { user }), Some(new)) = (UserKey::parse(&record.key), &record.new) else {
            return Ok(Vec::new());
        };
        let (old, new) = (record.read_old::<User>()?, table::item::from_item::<User>(new.clone())?);
        let Some(old) = old else { return Ok(Vec::new()) };
        let deleted = old.deleted_at.is_none() && new.deleted_at.is_some();
        let banned = new.ban.is_some() && old.ban != new.ban;
        let close = (deleted || banned).then_some(Effect::CloseConnections { user, session: None });
        // The end of each session closes its connections.
        let from = new.sessions_from.filter(|from| old.sessions_from.as_ref() != Some(from));
        let end = from.map(|from| Effect::EndSessions { user, from });
        let (had, has) = ([&old.avatar_url, &old.cover_photo_url], [&new.avatar_url, &new.cover_photo_url]);
        let pictures = dropped(had, &has).into_iter().map(|picture| Effect::RemoveOwnPicture { user, picture });
        return Ok(close.into_iter().chain(end).chain(pictures).collect());
    }
    if let Some(SessionKey { user, session }) = SessionKey::parse(&record.key) {
        let ended = record.new.is_none();
        let close = Effect::CloseConnections { user, session: Some(session) };
        return Ok(if ended { vec![close] } else { Vec::new() });
    }
    if let Some(UserConnectionKey { user, connection }) = UserConnectionKey::parse(&record.key) {
        let change = match (record.read_old::<StoredConnection>()?, &record.new) {
            (None, Some(_)) => ConnectionChange::Opened(connection.text().to_owned()),
            (Some(old), None) => ConnectionChange::Ended(ended_at(&old, record)),
            _ => return Ok(Vec::new()),
        };
        return Ok(vec![Effect::Connections { user, change }]);
    }
    Ok(Vec::new())
}

/// Returns when a connection ended. DynamoDB deletes the row of an expired one up to days later.
fn ended_at(connection: &StoredConnection, removal: &Record) -> Millisecond {
    let removed_at = Millisecond::from(removal.time());
    let expired_at = Millisecond::at(connection.expires.saturating_mul(1000));
    expired_at.map_or(removed_at, |expired_at| expired_at.min(removed_at))
}
