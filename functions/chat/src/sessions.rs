//! Sessions of people who log in here: their items, and the operations on them.

pub mod end;
pub mod jwks;
pub mod list;
pub mod log_in;
pub mod log_out;
pub mod log_out_everywhere;
pub mod refresh;
pub mod refresh_token;
mod start;

use http::header;
use serde::{Deserialize, Serialize};
use table::access::AccessPattern;
use utoipa::ToSchema;
use web::{Context, Kind};

use crate::access::{LIVE, USERS};
use crate::names::SessionId;

const LIST: &str = "/chat/sessions";
const REFRESH: &str = "/chat/sessions/refresh";
const MINE: &str = "/chat/me/sessions";
const ONE: &str = "/chat/me/sessions/{sessionId}";

pub const SESSION_ENDED: Kind = Kind::new(401, "session-ended", "Session ended");

/// The seconds after its last use for which a session lasts: 30 days.
const IDLE: i64 = 30 * 24 * 3600;

/// The seconds for which a session lasts in all: 180 days.
const LONGEST: i64 = 180 * 24 * 3600;

/// The start of a session.
pub const START_SESSION: AccessPattern = AccessPattern::new("startSession", &[LIVE.put(), USERS.check()]);

/// A session as the table stores it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Session {
    pub id: SessionId,
    /// Part of the key of its refresh tokens.
    pub salt: String,
    /// The generation of its newest refresh token.
    pub generation: u64,
    /// When the newest refresh token was issued, in microseconds since 1970.
    pub refreshed: i64,
    /// The program that has logged in, as it names itself.
    pub device: String,
    pub created_at: String,
    pub last_used_at: String,
    #[serde(rename = "expires")]
    pub expires: i64,
}

impl Session {
    /// Returns when a session that is used now expires, in seconds since 1970.
    fn expiry(id: SessionId, now: i64) -> i64 {
        (now + IDLE).min(id.time().millis().div_euclid(1000) + LONGEST)
    }
}

/// The tokens of a session.
#[derive(Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Tokens {
    /// The bearer token of requests.
    access_token: String,
    /// Gets the next tokens, once.
    refresh_token: String,
    /// When the access token expires.
    expires_at: String,
    session_id: SessionId,
}

/// Returns the device of a request: its user agent, shortened.
fn device(cx: &Context) -> String {
    const MAX_CHARS: usize = 200;
    let agent = cx.headers().get(header::USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or("unknown");
    agent.chars().take(MAX_CHARS).collect()
}
