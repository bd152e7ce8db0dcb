//! A system's own issuer of bearer tokens. Its keys are derived from a secret of the system, one for each period, so that
//! they change without a deployment and no key is stored.

use std::ops::RangeInclusive;

use table::access::AccessPattern;
use table::{Config, Secret};

use crate::token::{SigningError, SigningKey, jwks as document};

/// The seconds for which a key signs: 30 days.
pub const PERIOD: i64 = 30 * 24 * 3600;

/// The seconds for which a key is published before it signs and after it has signed: one day. It is longer than any
/// token lives, and than clients cache the published keys.
pub const OVERLAP: i64 = 24 * 3600;

/// The issuer of a system, whose tokens only this system accepts unless others are configured to trust it.
#[derive(Clone, Copy, Debug)]
pub struct OwnIssuer {
    /// Its name in the `{idpid}` of the people that it identifies.
    pub name: &'static str,
    pub audience: &'static str,
    /// The secret from which its keys are derived.
    pub secret: &'static str,
    /// The access pattern that reads the secret. Each function of a route has it.
    pub pattern: &'static AccessPattern,
}

impl OwnIssuer {
    /// Returns the `iss` claim of its tokens.
    pub fn iss(&self, config: &Config) -> String {
        format!("urn:cairn:{}{}", config.prefix, self.name)
    }
}

/// Returns the key that signs at a time in epoch seconds.
pub fn signing_key(secret: &Secret, now: i64) -> Result<SigningKey, SigningError> {
    key(secret, now.div_euclid(PERIOD))
}

/// Returns the public keys that are valid at a time, as a JWK set document (RFC 7517).
pub fn jwks(secret: &Secret, now: i64) -> Result<String, SigningError> {
    let keys = valid_periods(now).map(|period| key(secret, period)).collect::<Result<Vec<_>, _>>()?;
    Ok(document(&keys))
}

/// Returns the periods whose keys are valid at a time.
pub(crate) fn valid_periods(now: i64) -> RangeInclusive<i64> {
    now.saturating_sub(OVERLAP).div_euclid(PERIOD)..=now.saturating_add(OVERLAP).div_euclid(PERIOD)
}

fn key(secret: &Secret, period: i64) -> Result<SigningKey, SigningError> {
    SigningKey::from_secret(&secret.derive(&format!("cairn signing key, period {period}")))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    const DAY: i64 = 24 * 3600;

    /// Returns the ids of the published keys, and the id of the key that signs.
    fn ids(secret: &Secret, now: i64) -> (Vec<String>, String) {
        let ids = |document: String| {
            let document: Value = serde_json::from_str(&document).unwrap();
            let keys = document["keys"].as_array().unwrap().iter();
            keys.map(|key| key["kid"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let signing = ids(signing_key(secret, now).unwrap().jwks()).remove(0);
        (ids(jwks(secret, now).unwrap()), signing)
    }

    #[test]
    fn next_key_is_published_a_day_before_it_signs_and_the_old_one_a_day_after() {
        let secret = Secret::new("hush");
        let start = 700 * PERIOD;
        let (_, old) = ids(&secret, start - 1);
        let (_, new) = ids(&secret, start);
        assert_ne!(old, new);
        for (at, published) in [
            (start - DAY - 1, vec![&old]),
            (start - DAY, vec![&old, &new]),
            (start - 1, vec![&old, &new]),
            (start, vec![&old, &new]),
            (start + DAY - 1, vec![&old, &new]),
            (start + DAY, vec![&new]),
        ] {
            let (ids, signing) = ids(&secret, at);
            assert_eq!(ids.iter().collect::<Vec<_>>(), published, "{}", at - start);
            assert_eq!(&signing, if at < start { &old } else { &new });
        }
    }

    #[test]
    fn keys_of_another_secret_differ() {
        assert_ne!(ids(&Secret::new("one"), 0).1, ids(&Secret::new("two"), 0).1);
    }
}
