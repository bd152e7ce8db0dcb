//! The own issuer of chat, for people who register and log in here.

use jiff::Timestamp;
use table::access::{AccessPattern, OnSecret};
use table::{Config, Secret};
use web::issuer::{OwnIssuer, signing_key};
use web::problem::NOT_FOUND;
use web::token::Claims;
use web::{Context, Problem};

use crate::names::SessionId;
use crate::schema::IDENTITY;
use crate::users::{ADMIN, Role, User};

/// The secret of the keys.
pub const READ_IDENTITY: AccessPattern = AccessPattern::new("readIdentity", &[OnSecret(IDENTITY).read()]);

/// The name of the issuer in the `{idpid}` of its people.
pub const NAME: &str = "chat";

pub const OWN: OwnIssuer = OwnIssuer { name: NAME, audience: "cairn", secret: IDENTITY, pattern: &READ_IDENTITY };

/// The lifetime of an access token in seconds.
pub const ACCESS_TOKEN_LIFETIME: i64 = 600;

/// A token that identifies a user for ten minutes.
#[derive(Clone)]
pub struct AccessToken {
    pub token: String,
    pub expires_at: String,
}

/// Returns 404 if people sign in by other issuers only.
pub fn require_own_login(config: &Config) -> Result<(), Problem> {
    if config.own_login {
        return Ok(());
    }
    Err(NOT_FOUND.because("This platform has no logins of its own. Sign in with another issuer that it accepts."))
}

/// Issues a token for a session of a user.
pub fn issue(cx: &Context, secret: &Secret, user: &User, session: SessionId) -> Result<AccessToken, Problem> {
    let engines = cx.engines();
    let now = engines.clock.seconds();
    let exp = now + ACCESS_TOKEN_LIFETIME;
    let claims = Claims {
        iss: OWN.iss(&engines.config),
        sub: user.id.to_string(),
        aud: OWN.audience.to_owned(),
        iat: now,
        nbf: now,
        exp,
        roles: if user.role == Role::Admin { vec![ADMIN.to_owned()] } else { Vec::new() },
        sid: Some(session.to_string()),
        ..Claims::default()
    };
    let key = signing_key(secret, now).map_err(Problem::internal)?;
    let token = key.sign(&claims).map_err(Problem::internal)?;
    let expires_at = Timestamp::from_second(exp).map_err(Problem::internal)?;
    Ok(AccessToken { token, expires_at: format!("{expires_at:.3}") })
}
