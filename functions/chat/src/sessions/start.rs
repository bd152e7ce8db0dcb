//! The start of a session, after its user has proved the password.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use table::{Action, Condition, Rev, Secret, item};
use web::{Context, Problem};

use super::{START_SESSION, Session, Tokens, device, refresh_token};
use crate::issuer;
use crate::keys::{SessionKey, UserKey};
use crate::names::{Millisecond, SessionId};
use crate::schema::{LIVE, USERS};
use crate::users::User;

/// Stores a new session and issues its first tokens. `hash` is that of the password. 409 if the password was changed,
/// or the user banned or deleted, in the meantime: the sessions from before that have ended.
pub async fn start(cx: &Context, secret: &Secret, user: &User, hash: &str) -> Result<(Tokens, Rev), Problem> {
    let clock = &cx.engines().clock;
    let id = SessionId::now(clock);
    let now = Millisecond::now(clock).to_string();
    let session = Session {
        id,
        salt: salt()?,
        generation: 0,
        refreshed: clock.micros(),
        refreshed_before: Vec::new(),
        device: device(cx),
        created_at: now.clone(),
        last_used_at: now,
        expires: Session::expiry(id, clock.seconds()),
    };
    let tokens = tokens(cx, secret, user, &session)?;
    let same_user = Action::check(&USERS, UserKey { user: user.id })
        .when(Condition::Equals("PasswordHash", item::text(hash)))
        .when(Condition::Absent("DeletedAt"));
    // A ban whose time is over stays on the item.
    let same_user = if user.ban.is_none() { same_user.when(Condition::Absent("Ban")) } else { same_user };
    let actions = [Action::create(&LIVE, SessionKey { user: user.id, session: id }, &session)?, same_user];
    match cx.access().transact(&START_SESSION, &actions).await {
        Ok(rev) => Ok((tokens, rev)),
        Err(error) if error.failed(1).is_some() => Err(Problem::lost_race()),
        Err(error) => Err(error.into()),
    }
}

/// Returns the tokens of a session's newest generation.
pub fn tokens(cx: &Context, secret: &Secret, user: &User, session: &Session) -> Result<Tokens, Problem> {
    let access = issuer::issue(cx, secret, user, session.id)?;
    let refresh = refresh_token::issue(secret, &session.salt, user.id, session.id, session.generation);
    Ok(Tokens {
        access_token: access.token,
        refresh_token: refresh.ok_or_else(|| Problem::internal("a refresh token cannot be signed"))?,
        expires_at: access.expires_at,
        session_id: session.id,
    })
}

fn salt() -> Result<String, Problem> {
    let mut salt = [0; 16];
    getrandom::fill(&mut salt).map_err(Problem::internal)?;
    Ok(URL_SAFE_NO_PAD.encode(salt))
}
