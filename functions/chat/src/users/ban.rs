//! `PUT /chat/users/{userId}/ban`

use jiff::Timestamp;
use serde::Deserialize;
use table::{AccessPattern, Action, Changes};
use utoipa::ToSchema;
use web::{Context, Fault, Json, NoContent, Path, Problem, Route, Sample, problem};

use super::path::UserPath;
use super::{Ban, OWN_ROLE, SessionsFrom, User};
use crate::access::{CALLER, COMMUNITIES, USERS};
use crate::audit::{self, AuditedAction, Log};
use crate::caller::{BANNED, Caller, SIGNED_IN};
use crate::keys::UserKey;
use crate::live::end::CLOSE_CONNECTIONS;
use crate::schema;
use crate::sessions::end::{END_SESSIONS, end_all};

pub const BAN: &str = "/chat/users/{userId}/ban";
pub const SAMPLE_BAN: &str = "/chat/users/019b76da-a800-7000-8000-000000000002/ban";

/// The ban of a user or its end, and its entry in the audit log.
pub const BAN_USER: AccessPattern = AccessPattern::new("banUser", &[USERS.get(), USERS.update(), COMMUNITIES.put()]);

#[derive(Debug, Deserialize, ToSchema)]
struct BanRequest {
    #[schema(min_length = 1, max_length = 200)]
    reason: String,
    /// The end of the ban. Without it the ban lasts until it is removed.
    #[serde(default)]
    #[schema(nullable = false, format = DateTime)]
    until: Option<String>,
}

pub fn route() -> Route {
    Route::put("banUser", BAN, SIGNED_IN, ban)
        .summary("Ban another user from the platform, and end the user's sessions")
        .patterns(&[&CALLER, &BAN_USER, &END_SESSIONS, &CLOSE_CONNECTIONS])
        .problems(&[problem::FORBIDDEN, BANNED, problem::NOT_FOUND, OWN_ROLE, problem::CONFLICT])
        .sample(Sample::new(SAMPLE_BAN).body(r#"{"reason":"Spam"}"#))
}

async fn ban(
    cx: Context,
    Path(UserPath { user_id }): Path<UserPath>,
    Json(request): Json<BanRequest>,
) -> Result<NoContent, Problem> {
    let caller = Caller::admin(&cx).await?;
    let until = request.until.as_deref().map(|until| end(until, cx.engines().clock.now())).transpose()?;
    let user = user_id.id(&cx).await?;
    if user == caller.id {
        return Err(OWN_ROLE.because("You cannot ban yourself."));
    }
    let ban = Ban { reason: request.reason.clone(), by: caller.id, until };
    set(&cx, &caller, user, Some(ban), AuditedAction::BanUser, &request.reason).await?;
    end_all(cx.access(), user).await?;
    Ok(NoContent)
}

/// Sets or removes the ban of a user, and enters it into the audit log. A change that is no change is not entered.
pub async fn set(
    cx: &Context,
    caller: &Caller,
    user: crate::names::UserId,
    ban: Option<Ban>,
    action: AuditedAction,
    reason: &str,
) -> Result<(), Problem> {
    cx.retry(|| async {
        let stored = cx.access().table(&BAN_USER, &schema::USERS).get_consistent(UserKey { user }).await?;
        let stored = stored.ok_or_else(Problem::not_found)?;
        let before: User = stored.read()?;
        if before.deleted_at.is_some() {
            return Err(Problem::not_found());
        }
        if before.ban == ban {
            return Ok(());
        }
        let clock = &cx.engines().clock;
        let sessions_from = match &ban {
            Some(_) => Some(SessionsFrom::now(clock, None)),
            None => before.sessions_from.clone(),
        };
        let after = User { ban: ban.clone(), sessions_from, ..before.clone() };
        let changes = Changes::between(&before, &after)?;
        let actions = [
            Action::update(&schema::USERS, stored.key.clone(), changes).if_unchanged(&stored),
            audit::entry(clock, Log::Platform, caller.id, action, user, reason)?,
        ];
        match cx.access().transact(&BAN_USER, &actions).await {
            Ok(_) => Ok(()),
            Err(error) if error.failed(0).is_some() => Err(Problem::lost_race()),
            Err(error) => Err(error.into()),
        }
    })
    .await
}

/// Returns the end of a ban as it is stored, to the millisecond.
fn end(until: &str, now: Timestamp) -> Result<String, Problem> {
    let fault = |detail: &str| Problem::faults(vec![Fault::pointer("/until", detail)]);
    let until: Timestamp = until.parse().map_err(|_| fault("must be a time such as 2026-03-01T10:00:00Z"))?;
    if until <= now {
        return Err(fault("must be in the future"));
    }
    Ok(format!("{until:.3}"))
}
