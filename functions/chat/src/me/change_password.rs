//! `PUT /chat/me/password`

use serde::Deserialize;
use table::{AccessPattern, Action, Changes};
use utoipa::ToSchema;
use web::{Context, Json, NoContent, Problem, Route, Sample, problem};

use super::proof;
use crate::access::{CALLER, USERS};
use crate::caller::{BANNED, Caller, SIGNED_IN};
use crate::live::end::CLOSE_CONNECTIONS;
use crate::passwords::{Password, WRONG_PASSWORD};
use crate::sessions::end::{END_SESSIONS, end_others};
use crate::users::{SessionsFrom, User};
use crate::{rates, schema};

/// The caller's new password.
const CHANGE_PASSWORD: AccessPattern = AccessPattern::new("changePassword", &[USERS.update()]);

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct NewPassword {
    password: Password,
    current_password: Password,
}

pub fn route() -> Route {
    Route::put("changePassword", "/chat/me/password", SIGNED_IN, change)
        .summary("Change the caller's password, and end the other sessions")
        .patterns(&[&CALLER, &CHANGE_PASSWORD, &rates::COUNT, &END_SESSIONS, &CLOSE_CONNECTIONS])
        .problems(&[problem::FORBIDDEN, BANNED, WRONG_PASSWORD, problem::CONFLICT, problem::TOO_MANY_REQUESTS])
        .sample(
            Sample::new("/chat/me/password")
                .body(r#"{"password":"fern on stones","currentPassword":"moss on stones"}"#),
        )
}

async fn change(cx: Context, Json(request): Json<NewPassword>) -> Result<NoContent, Problem> {
    let caller = Caller::load(&cx).await?;
    if caller.user.password_hash.is_none() {
        return Err(Problem::forbidden("Another issuer signs you in, so that you have no password here."));
    }
    request.password.check("/password", &caller.user)?;
    proof::require(&cx, &caller.user, "/currentPassword", Some(&request.current_password)).await?;
    let password_hash = Some(request.password.hash(&cx).await?);
    let sessions_from = Some(SessionsFrom::now(&cx.engines().clock, caller.session));
    let after = User { password_hash, sessions_from, ..caller.user.clone() };
    let changes = Changes::between(&caller.user, &after)?;
    let change = Action::update(&schema::USERS, caller.stored.key.clone(), changes).if_unchanged(&caller.stored);
    cx.access().write(&CHANGE_PASSWORD, change).await.map_err(|error| match error {
        // The proof was of the password that another request has changed.
        table::Error::Stale { .. } | table::Error::NotFound => Problem::conflict(),
        error => error.into(),
    })?;
    end_others(cx.access(), caller.id, caller.session).await?;
    Ok(NoContent)
}
