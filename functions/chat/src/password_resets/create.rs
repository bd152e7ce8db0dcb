//! `POST /chat/users/{userId}/password-resets`

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use serde::Serialize;
use table::{AccessPattern, Action};
use utoipa::ToSchema;
use web::{Context, Created, Path, Problem, Query, Route, Sample, problem};

use super::{LIFETIME, PasswordReset, key, password_of};
use crate::access::{CALLER, COMMUNITIES, LIVE};
use crate::audit::{AuditedAction, Log, ReasonQuery, entry};
use crate::caller::{BANNED, Caller, SIGNED_IN};
use crate::issuer::require_own_login;
use crate::keys::UserKey;
use crate::schema;
use crate::users::User;
use crate::users::get::GET_USER;
use crate::users::path::UserPath;

/// A new code, with its entry in the audit log.
const CREATE_RESET: AccessPattern = AccessPattern::new("createPasswordReset", &[LIVE.put(), COMMUNITIES.put()]);

/// A code that sets a password, once.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ResetCode {
    code: String,
    expires_at: String,
}

pub fn route() -> Route {
    Route::post("createPasswordReset", "/chat/users/{userId}/password-resets", SIGNED_IN, create)
        .summary("Create a code by which a user sets a new password, once and within an hour; 404 without own logins")
        .patterns(&[&CALLER, &GET_USER, &CREATE_RESET])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND])
        .sample(Sample::new("/chat/users/019b76da-a800-7000-8000-000000000002/password-resets"))
}

async fn create(
    cx: Context,
    Path(UserPath { user_id }): Path<UserPath>,
    Query(query): Query<ReasonQuery>,
) -> Result<Created<ResetCode>, Problem> {
    require_own_login(&cx.engines().config)?;
    let admin = Caller::admin(&cx).await?;
    let user = user_id.id(&cx).await?;
    let stored = cx.access().table(&GET_USER, &schema::USERS).get_consistent(UserKey { user }).await?;
    let found: User = stored.ok_or_else(Problem::not_found)?.read()?;
    if found.deleted_at.is_some() {
        return Err(Problem::not_found());
    }
    let mut random = [0; 32];
    getrandom::fill(&mut random).map_err(Problem::internal)?;
    let code = URL_SAFE_NO_PAD.encode(random);
    let expires = cx.engines().clock.seconds() + LIFETIME;
    let reset = PasswordReset { user_id: user, password: password_of(&found), expires };
    let (clock, action) = (&cx.engines().clock, AuditedAction::CreatePasswordReset);
    let actions = [
        Action::create(&schema::LIVE, key(&code)?, &reset)?,
        entry(clock, Log::Platform, admin.id, action, user, query.text())?,
    ];
    let rev = cx.access().transact(&CREATE_RESET, &actions).await?;
    let expires_at = Timestamp::from_second(expires).map_err(Problem::internal)?;
    Ok(Created::new("/chat/password-resets", rev, &ResetCode { code, expires_at: format!("{expires_at:.3}") }))
}
