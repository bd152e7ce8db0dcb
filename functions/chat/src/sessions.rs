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
use table::Clock;
use table::access::AccessPattern;
use utoipa::ToSchema;
use web::{Context, Kind};

use crate::access::{LIVE, USERS};
use crate::names::{Millisecond, SessionId};

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
    /// When those before it were issued, the latest last, as far as their predecessors may still be repeated.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refreshed_before: Vec<i64>,
    /// The program that has logged in, as it names itself.
    pub device: String,
    pub created_at: String,
    pub last_used_at: String,
    #[serde(rename = "expires")]
    pub expires: i64,
}

/// The microseconds for which a refresh token that was used still gets its successor: an answer may be lost, and two
/// windows of a browser may refresh at the same time.
const GRACE: i64 = 20_000_000;

/// The most earlier tokens that may be repeated. A client that refreshes more often within the time is no browser.
const MAX_REPEATED: usize = 20;

impl Session {
    /// Returns this session with its next refresh token.
    fn advanced(&self, clock: &Clock) -> Self {
        let now = clock.micros();
        let mut before = self.refreshed_before.clone();
        if self.generation > 0 {
            before.push(self.refreshed);
        }
        let expired = before.iter().take_while(|issued| now > **issued + GRACE).count();
        let excess = before.len().saturating_sub(MAX_REPEATED).max(expired);
        Self {
            generation: self.generation + 1,
            refreshed: now,
            refreshed_before: before.split_off(excess),
            last_used_at: Millisecond::now(clock).to_string(),
            expires: Self::expiry(self.id, clock.seconds()),
            ..self.clone()
        }
    }

    /// Whether the refresh token of a generation that was used may be repeated, since its successor was issued just now.
    fn may_repeat(&self, generation: u64, now: i64) -> bool {
        let later = self.generation.checked_sub(generation.saturating_add(1));
        let Some(later) = later.and_then(|later| usize::try_from(later).ok()) else { return false };
        let mut issued = std::iter::once(self.refreshed).chain(self.refreshed_before.iter().rev().copied());
        issued.nth(later).is_some_and(|issued| now <= issued + GRACE)
    }

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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn session(clock: &Clock) -> Session {
        Session {
            id: SessionId::now(clock),
            salt: String::new(),
            generation: 0,
            refreshed: clock.micros(),
            refreshed_before: Vec::new(),
            device: String::new(),
            created_at: String::new(),
            last_used_at: String::new(),
            expires: 0,
        }
    }

    #[test]
    fn used_token_may_be_repeated_for_20_seconds_of_its_own() {
        let clock = Clock::system();
        let seconds = |seconds| clock.advance(Duration::from_secs(seconds));
        let repeated = |session: &Session| {
            let now = clock.micros();
            (0..=session.generation + 1).filter(|generation| session.may_repeat(*generation, now)).collect::<Vec<_>>()
        };
        let first = session(&clock).advanced(&clock);
        seconds(12);
        let second = first.advanced(&clock);
        assert_eq!(repeated(&second), [0, 1]);
        seconds(10);
        assert_eq!(repeated(&second), [1]);
        let third = second.advanced(&clock);
        assert_eq!((repeated(&third), third.refreshed_before.len()), (vec![1, 2], 1));
        seconds(25);
        assert_eq!(repeated(&third), Vec::<u64>::new());
        assert_eq!(third.advanced(&clock).refreshed_before, Vec::<i64>::new());
    }

    #[test]
    fn session_keeps_the_times_of_few_tokens() {
        let clock = Clock::system();
        let newest = (0..50).fold(session(&clock), |session, _| session.advanced(&clock));
        assert_eq!(newest.refreshed_before.len(), MAX_REPEATED);
        assert!(newest.may_repeat(29, clock.micros()) && !newest.may_repeat(28, clock.micros()));
    }
}
