//! `GET /chat/usernames/{username}`

use serde::Deserialize;
use table::AccessPattern;
use table::part::Escaped;
use utoipa::ToSchema;
use web::{Context, Path, Problem, Route, Sample, Tagged, problem};

use super::{Guard, User, UserView};
use crate::access::{CALLER, USERS};
use crate::caller::{BANNED, Caller, SIGNED_IN};
use crate::keys::{UserKey, UsernameKey};
use crate::{schema, usernames};

/// A user by username.
const GET_BY_USERNAME: AccessPattern = AccessPattern::new("getUserByUsername", &[USERS.get()]);

#[derive(Debug, Deserialize, ToSchema)]
struct UsernamePath {
    #[schema(min_length = 1, example = "ann")]
    username: String,
}

pub fn route() -> Route {
    Route::get("getUserByUsername", "/chat/usernames/{username}", SIGNED_IN, get)
        .summary("Get a user by username")
        .patterns(&[&CALLER, &GET_BY_USERNAME])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND])
        .sample(Sample::new("/chat/usernames/samples"))
}

async fn get(cx: Context, Path(UsernamePath { username }): Path<UsernamePath>) -> Result<Tagged<UserView>, Problem> {
    Caller::load(&cx).await?;
    let username = Escaped::new(usernames::stored(&username)).map_err(|_| Problem::not_found())?;
    let users = cx.access().table(&GET_BY_USERNAME, &schema::USERS);
    let guard = users.get(UsernameKey { username }).await?.ok_or_else(Problem::not_found)?;
    let user = guard.read::<Guard>()?.user_id;
    let stored = users.get(UserKey { user }).await?.ok_or_else(Problem::not_found)?;
    Ok(Tagged::new(&stored.read::<User>()?.into(), stored.rev))
}
