//! Changes of users, of their sessions and of their connections.

use table::{EntityKey, Error};

use super::{ConnectionChange, Effect};
use crate::keys::{SessionKey, UserConnectionKey, UserKey};
use crate::live::record::Record;
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
        return Ok(if deleted || banned { vec![Effect::CloseConnections { user, session: None }] } else { Vec::new() });
    }
    if let Some(SessionKey { user, session }) = SessionKey::parse(&record.key) {
        let ended = record.new.is_none();
        let close = Effect::CloseConnections { user, session: Some(session) };
        return Ok(if ended { vec![close] } else { Vec::new() });
    }
    if let Some(UserConnectionKey { user, connection }) = UserConnectionKey::parse(&record.key) {
        let change = match (&record.old, &record.new) {
            (None, Some(_)) => ConnectionChange::Opened(connection.text().to_owned()),
            (Some(_), None) => ConnectionChange::Ended,
            _ => return Ok(Vec::new()),
        };
        return Ok(vec![Effect::Connections { user, change }]);
    }
    Ok(Vec::new())
}
