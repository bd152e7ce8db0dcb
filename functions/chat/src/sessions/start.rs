//! The start of a session, after its user has proved the password.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use table::{Action, Rev, Secret};
use web::{Context, Problem};

use super::{START_SESSION, Session, Tokens, device, refresh_token};
use crate::issuer;
use crate::keys::SessionKey;
use crate::names::{Millisecond, SessionId};
use crate::schema::LIVE;
use crate::users::User;

/// Stores a new session and issues its first tokens.
pub async fn start(cx: &Context, secret: &Secret, user: &User) -> Result<(Tokens, Rev), Problem> {
    let clock = &cx.engines().clock;
    let id = SessionId::now(clock);
    let now = Millisecond::now(clock).to_string();
    let session = Session {
        id,
        salt: salt()?,
        generation: 0,
        refreshed: clock.micros(),
        device: device(cx),
        created_at: now.clone(),
        last_used_at: now,
        expires: Session::expiry(id, clock.seconds()),
    };
    let tokens = tokens(cx, secret, user, &session)?;
    let create = Action::create(&LIVE, SessionKey { user: user.id, session: id }, &session)?;
    let rev = cx.access().write(&START_SESSION, create).await?;
    Ok((tokens, rev))
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
