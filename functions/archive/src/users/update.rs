//! `PATCH /archive/users/{userId}`

use serde::Deserialize;
use table::{Action, Changes};
use utoipa::ToSchema;
use web::{Context, IfMatch, MergePatch, Path, Problem, Route, Sample, Tagged, problem};

use super::{ONE, OWN_ACCOUNT, SAMPLE, UserPath, UserView, own_account};
use crate::access::{CALLER, ONE as ONE_ITEM, UPDATE_USER};
use crate::audit::now;
use crate::authorization::{Caller, SIGNED_IN};
use crate::item::User;
use crate::keys::UserKey;
use crate::names::Role;
use crate::schema::ARCHIVE;

/// The fields of a user that an administrator can update.
#[derive(Debug, Deserialize, ToSchema)]
pub struct UserPatch {
    #[schema(nullable = false)]
    role: Option<Role>,
    /// A disabled user is refused whatever the token says.
    #[schema(nullable = false)]
    enabled: Option<bool>,
}

pub fn route() -> Route {
    Route::patch("updateUser", ONE, SIGNED_IN, update)
        .summary("Update the role of another user, or disable the user")
        .patterns(&[&CALLER, &ONE_ITEM, &UPDATE_USER])
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, OWN_ACCOUNT, problem::CONFLICT])
        .sample(Sample::new(SAMPLE).body(r#"{"role":"volunteer"}"#).expects(409))
}

async fn update(
    cx: Context,
    Path(UserPath { user_id: user }): Path<UserPath>,
    tag: IfMatch,
    MergePatch(patch): MergePatch<UserPatch>,
) -> Result<Tagged<UserView>, Problem> {
    let caller = Caller::with_role(&cx, Role::Administrator).await?;
    if caller.is(user) {
        return Err(own_account());
    }
    cx.retry_stale(&tag, || async {
        let stored = cx.access().table(&ONE_ITEM, &ARCHIVE).get_consistent(UserKey { user }).await?;
        let stored = stored.ok_or_else(Problem::not_found)?;
        tag.check(stored.rev)?;
        let before: User = stored.read()?;
        let (role, enabled) = (patch.role.unwrap_or(before.role), patch.enabled.unwrap_or(before.enabled));
        let after = User { role, enabled, ..before.clone() };
        if after == before {
            return Ok(Tagged::new(&before.into(), stored.rev));
        }
        let after = User { updated_at: now(&cx), ..after };
        let update = Action::update(&ARCHIVE, stored.key.clone(), Changes::between(&before, &after)?);
        let rev = cx.access().write(&UPDATE_USER, update.if_unchanged(&stored)).await?;
        Ok(Tagged::new(&after.into(), rev))
    })
    .await
}
