//! `GET /chat/users/{userId}`

use table::AccessPattern;
use web::{Context, Path, Problem, Route, Sample, Tagged, problem};

use super::path::UserPath;
use super::{ONE, User, UserView};
use crate::access::{CALLER, USERS};
use crate::caller::{BANNED, Caller, SIGNED_IN};
use crate::keys::UserKey;
use crate::schema;

/// A user by id.
pub const GET_USER: AccessPattern = AccessPattern::new("getUser", &[USERS.get()]);

pub fn route() -> Route {
    Route::get("getUser", ONE, SIGNED_IN, get)
        .summary("Get a user")
        .patterns(&[&CALLER, &GET_USER])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND])
        .sample(Sample::new("/chat/users/me"))
}

async fn get(cx: Context, Path(UserPath { user_id }): Path<UserPath>) -> Result<Tagged<UserView>, Problem> {
    let caller = Caller::load(&cx).await?;
    let user = user_id.id_for(caller.id);
    let stored = cx.access().table(&GET_USER, &schema::USERS).get(UserKey { user }).await?;
    let stored = stored.ok_or_else(Problem::not_found)?;
    Ok(Tagged::new(&stored.read::<User>()?.into(), stored.rev))
}
