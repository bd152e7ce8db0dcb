//! Refresh tokens: user, session, generation, and an HMAC over them. Its key comes from the identity secret and the salt
//! of the session, so neither a table nor the secret alone is enough for a token.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use table::Secret;

use crate::names::{SessionId, UserId};

/// A refresh token whose HMAC is not verified yet.
#[derive(Clone)]
pub struct RefreshToken {
    pub user: UserId,
    pub session: SessionId,
    pub generation: u64,
    mac: Vec<u8>,
}

/// Returns the refresh token of a generation. It is the same each time.
pub fn issue(secret: &Secret, salt: &str, user: UserId, session: SessionId, generation: u64) -> Option<String> {
    let mac = keyed(secret, salt, user, session, generation)?.finalize().into_bytes();
    Some(format!("{}.{}", text(user, session, generation), URL_SAFE_NO_PAD.encode(mac)))
}

impl RefreshToken {
    pub fn parse(token: &str) -> Option<Self> {
        let mut parts = token.split('.');
        let (user, session, generation, mac) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let token = Self {
            user: user.parse().ok()?,
            session: session.parse().ok()?,
            generation: generation.parse().ok()?,
            mac: URL_SAFE_NO_PAD.decode(mac).ok()?,
        };
        parts.next().is_none().then_some(token)
    }

    /// Whether the token was issued for the session with this salt. The comparison takes the same time for each token.
    pub fn is_genuine(&self, secret: &Secret, salt: &str) -> bool {
        keyed(secret, salt, self.user, self.session, self.generation)
            .is_some_and(|keyed| keyed.verify_slice(&self.mac).is_ok())
    }
}

fn keyed(secret: &Secret, salt: &str, user: UserId, session: SessionId, generation: u64) -> Option<Hmac<Sha256>> {
    let key = secret.derive(&format!("cairn refresh token, salt {salt}"));
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).ok()?;
    mac.update(text(user, session, generation).as_bytes());
    Some(mac)
}

fn text(user: UserId, session: SessionId, generation: u64) -> String {
    format!("{user}.{session}.{generation}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_is_genuine_only_as_it_was_issued() {
        let (secret, other) = (Secret::new("hush"), Secret::new("hash"));
        let (user, session) = (UserId::at(1_772_359_200_123), SessionId::at(1_772_359_200_123));
        let issue = |generation| issue(&secret, "salt", user, session, generation).unwrap();
        let token = issue(7);
        assert_eq!(token, issue(7));
        let genuine = |token: &str, secret: &Secret, salt: &str| {
            RefreshToken::parse(token).is_some_and(|token| token.is_genuine(secret, salt))
        };
        assert!(genuine(&token, &secret, "salt"));
        assert!(!genuine(&token, &other, "salt") && !genuine(&token, &secret, "pepper"));
        let (_, mac) = token.rsplit_once('.').unwrap();
        let other_user = UserId::at(1_772_359_200_124);
        for altered in [
            format!("{user}.{session}.8.{mac}"),
            format!("{other_user}.{session}.7.{mac}"),
            format!("{user}.{session}.07.{mac}x"),
            format!("{token}.{mac}"),
            format!("{user}.{session}.7."),
            format!("{user}.{session}.7"),
            String::new(),
        ] {
            assert!(!genuine(&altered, &secret, "salt"), "{altered}");
        }
    }
}
