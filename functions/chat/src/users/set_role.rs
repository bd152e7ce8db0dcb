//! `PUT /chat/users/{userId}/role`

use serde::Deserialize;
use table::{AccessPattern, Action, Changes};
use utoipa::ToSchema;
use web::{Context, Json, Path, Problem, Route, Sample, Tagged, problem};

use super::path::UserPath;
use super::{OWN_ROLE, Role, User, UserView};
use crate::access::{CALLER, COMMUNITIES, USERS};
use crate::audit::{self, AuditedAction, Log};
use crate::caller::{BANNED, Caller, SIGNED_IN};
use crate::keys::UserKey;
use crate::schema;

/// The new role of a user, and its entry in the audit log.
const SET_ROLE: AccessPattern = AccessPattern::new("setRole", &[USERS.get(), USERS.update(), COMMUNITIES.put()]);

#[derive(Debug, Deserialize, ToSchema)]
struct RoleRequest {
    role: Role,
}

pub fn route() -> Route {
    Route::put("setRole", "/chat/users/{userId}/role", SIGNED_IN, set)
        .summary("Set the role of another user")
        .patterns(&[&CALLER, &SET_ROLE])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND, OWN_ROLE, problem::CONFLICT])
        .sample(Sample::new("/chat/users/019b76da-a800-7000-8000-000000000002/role").body(r#"{"role":"admin"}"#))
}

async fn set(
    cx: Context,
    Path(UserPath { user_id }): Path<UserPath>,
    Json(RoleRequest { role }): Json<RoleRequest>,
) -> Result<Tagged<UserView>, Problem> {
    let caller = Caller::admin(&cx).await?;
    let user = user_id.id(&cx).await?;
    if user == caller.id {
        return Err(OWN_ROLE.because("Another administrator can change your role."));
    }
    cx.retry(|| async {
        let stored = cx.access().table(&SET_ROLE, &schema::USERS).get_consistent(UserKey { user }).await?;
        let stored = stored.ok_or_else(Problem::not_found)?;
        let before: User = stored.read()?;
        if before.deleted_at.is_some() {
            return Err(Problem::not_found());
        }
        if before.role == role {
            return Ok(Tagged::new(&before.into(), stored.rev));
        }
        let after = User { role, ..before.clone() };
        let changes = Changes::between(&before, &after)?;
        let reason = match role {
            Role::Admin => "made an administrator",
            Role::User => "no longer an administrator",
        };
        let clock = &cx.engines().clock;
        let actions = [
            Action::update(&schema::USERS, stored.key.clone(), changes).if_unchanged(&stored),
            audit::entry(clock, Log::Platform, caller.id, AuditedAction::SetRole, user, reason)?,
        ];
        match cx.access().transact(&SET_ROLE, &actions).await {
            Ok(rev) => Ok(Tagged::new(&after.into(), rev)),
            Err(error) if error.failed(0).is_some() => Err(Problem::lost_race()),
            Err(error) => Err(error.into()),
        }
    })
    .await
}
