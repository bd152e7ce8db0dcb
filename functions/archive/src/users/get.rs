//! `GET /archive/users/{userId}`

use web::{Context, Path, Problem, Route, Sample, Tagged, problem};

use super::{ONE, SAMPLE, UserPath, UserView};
use crate::access::{CALLER, ONE as ONE_ITEM};
use crate::authorization::{Caller, SIGNED_IN};
use crate::item::User;
use crate::keys::UserKey;
use crate::names::Role;
use crate::schema::ARCHIVE;

pub fn route() -> Route {
    Route::get("getUser", ONE, SIGNED_IN, get)
        .summary("Get a user")
        .patterns(&[&CALLER, &ONE_ITEM])
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND])
        .sample(Sample::new(SAMPLE))
}

async fn get(cx: Context, Path(UserPath { user_id: user }): Path<UserPath>) -> Result<Tagged<UserView>, Problem> {
    Caller::with_role(&cx, Role::Administrator).await?;
    let stored = cx.access().table(&ONE_ITEM, &ARCHIVE).get_consistent(UserKey { user }).await?;
    let stored = stored.ok_or_else(Problem::not_found)?;
    Ok(Tagged::new(&stored.read::<User>()?.into(), stored.rev))
}
