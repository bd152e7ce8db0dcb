//! `DELETE /archive/users/{userId}`

use table::{Action, Cause};
use web::{Context, IfMatch, NoContent, Path, Problem, Route, Sample, problem};

use super::{ONE, OWN_ACCOUNT, SAMPLE, UserPath, own_account};
use crate::access::{CALLER, DELETE_USER, ONE as ONE_ITEM};
use crate::authorization::{Caller, SIGNED_IN};
use crate::item::User;
use crate::keys::{UserHashKey, UserKey};
use crate::names::{Role, UserHash};
use crate::schema::ARCHIVE;

pub fn route() -> Route {
    Route::delete("deleteUser", ONE, SIGNED_IN, delete)
        .summary("Delete another user; posts keep the id, and the person is a new user at the next sight")
        .patterns(&[&CALLER, &ONE_ITEM, &DELETE_USER])
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, OWN_ACCOUNT, problem::CONFLICT])
        .sample(Sample::new(SAMPLE).expects(409))
}

async fn delete(
    cx: Context,
    Path(UserPath { user_id: user }): Path<UserPath>,
    tag: IfMatch,
) -> Result<NoContent, Problem> {
    let caller = Caller::with_role(&cx, Role::Administrator).await?;
    if caller.is(user) {
        return Err(own_account());
    }
    cx.retry_stale(&tag, || async {
        let stored = cx.access().table(&ONE_ITEM, &ARCHIVE).get_consistent(UserKey { user }).await?;
        let stored = stored.ok_or_else(Problem::not_found)?;
        tag.check(stored.rev)?;
        let hash = UserHash::of(&stored.read::<User>()?.sort_key);
        let actions = [
            tag.guard(Action::delete(&ARCHIVE, stored.key.clone()), &stored),
            Action::delete(&ARCHIVE, UserHashKey { hash }),
        ];
        let Err(error) = cx.access().transact(&DELETE_USER, &actions).await else { return Ok(NoContent) };
        Err(match error.failed(0).map(|failed| failed.cause) {
            Some(Cause::Missing) => Problem::not_found(),
            Some(_) => Problem::stale(),
            None => error.into(),
        })
    })
    .await
}
