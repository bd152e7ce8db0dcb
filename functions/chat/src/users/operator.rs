//! Operations on users past the API, by an operator with permissions in the account.

use std::sync::Arc;

use table::part::Escaped;
use table::{Access, AccessPattern, Action, Changes, Engines, Error, item};

use super::Guard;
use crate::access::USERS;
use crate::keys::{UserKey, UsernameKey};
use crate::names::UserId;
use crate::{schema, usernames};

/// The first administrator, whom no other can make.
const MAKE_ADMIN: AccessPattern = AccessPattern::new("makeAdmin", &[USERS.get(), USERS.update()]);

/// Gives a user the role of an administrator. Returns none if no user has this name.
pub async fn make_admin(engines: Arc<Engines>, username: &str) -> Result<Option<UserId>, Error> {
    let access = Access::new(engines, &[&MAKE_ADMIN]);
    let Ok(username) = Escaped::new(usernames::stored(username)) else { return Ok(None) };
    let guard = access.table(&MAKE_ADMIN, &schema::USERS).get_consistent(UsernameKey { username }).await?;
    let Some(guard) = guard else { return Ok(None) };
    let user = guard.read::<Guard>()?.user_id;
    let admin = Action::update(&schema::USERS, UserKey { user }, Changes::new().set("Role", item::text("admin")));
    let live = table::Condition::Absent("DeletedAt");
    match access.write(&MAKE_ADMIN, admin.when(live)).await {
        Ok(_) => Ok(Some(user)),
        Err(Error::NotFound | Error::ConditionFailed(_)) => Ok(None),
        Err(error) => Err(error),
    }
}
