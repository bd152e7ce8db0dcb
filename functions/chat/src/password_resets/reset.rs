//! `POST /chat/password-resets`

use serde::Deserialize;
use table::{AccessPattern, Action, Changes, Condition, item};
use utoipa::ToSchema;
use web::{Context, Fault, Json, Kind, NoContent, Problem, Route, Rules, Sample, Valid, Who, problem};

use super::{PasswordReset, key, password_of};
use crate::access::{LIVE, USERS};
use crate::issuer::require_own_login;
use crate::keys::UserKey;
use crate::live::end::CLOSE_CONNECTIONS;
use crate::passwords::Password;
use crate::schema;
use crate::sessions::end::{END_SESSIONS, end_all};
use crate::users::{SessionsFrom, User};

pub const BAD_CODE: Kind = Kind::new(403, "bad-code", "Wrong or used code");

/// The use of a code, and the user's new password.
const RESET_PASSWORD: AccessPattern =
    AccessPattern::new("resetPassword", &[LIVE.get(), LIVE.delete(), USERS.get(), USERS.update()]);

#[derive(Deserialize, ToSchema)]
struct Reset {
    #[serde(default)]
    #[schema(required = true, min_length = 1, max_length = 100)]
    code: String,
    #[serde(default)]
    #[schema(required = true)]
    password: Password,
}

impl Rules for Reset {
    fn faults(&self) -> Vec<Fault> {
        self.password.faults("/password", "", None)
    }
}

pub fn route() -> Route {
    Route::post("resetPassword", "/chat/password-resets", Who::Public, reset)
        .summary("Set a new password by a code, and end all sessions of its user; 404 without own logins")
        .patterns(&[&RESET_PASSWORD, &END_SESSIONS, &CLOSE_CONNECTIONS])
        .problems(&[BAD_CODE, problem::NOT_FOUND, problem::CONFLICT])
        .sample(Sample::new("/chat/password-resets").body(r#"{"code":"RESET-CODE","password":"moss on stones"}"#))
}

async fn reset(cx: Context, Valid(Json(request)): Valid<Json<Reset>>) -> Result<NoContent, Problem> {
    require_own_login(&cx.engines().config)?;
    let bad_code = || {
        let detail = "The code is wrong, used, or older than an hour or than the password. Ask for another one.";
        BAD_CODE.because(detail)
    };
    let stored = cx.access().table(&RESET_PASSWORD, &schema::LIVE).get_consistent(key(&request.code)?).await?;
    let reset: PasswordReset = stored.ok_or_else(bad_code)?.read()?;
    let key_of_user = UserKey { user: reset.user_id };
    let stored = cx.access().table(&RESET_PASSWORD, &schema::USERS).get_consistent(key_of_user).await?;
    let stored = stored.ok_or_else(bad_code)?;
    let user: User = stored.read()?;
    if user.deleted_at.is_some() || password_of(&user) != reset.password {
        return Err(bad_code());
    }
    request.password.check("/password", &user)?;
    let password_hash = Some(request.password.hash(&cx).await?);
    let sessions_from = Some(SessionsFrom::now(&cx.engines().clock, None));
    let after = User { password_hash, sessions_from, ..user.clone() };
    let same = match &user.password_hash {
        Some(hash) => Condition::Equals("PasswordHash", item::text(hash)),
        None => Condition::Absent("PasswordHash"),
    };
    let update = Action::update(&schema::USERS, stored.key.clone(), Changes::between(&user, &after)?);
    let actions =
        [Action::delete(&schema::LIVE, key(&request.code)?), update.when(Condition::Absent("DeletedAt")).when(same)];
    match cx.access().transact(&RESET_PASSWORD, &actions).await {
        Ok(_) => {}
        Err(table::Error::ConditionFailed(_)) => return Err(bad_code()),
        Err(error) => return Err(error.into()),
    }
    end_all(cx.access(), user.id).await?;
    Ok(NoContent)
}
