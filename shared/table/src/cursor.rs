//! Cursors: encrypted texts that say where a page ended, since its position has keys that the caller may not see. A
//! cursor is valid only in this deployment, for the same caller, on the same route with the same parameters.

use aws_lc_rs::aead::{AES_256_GCM_SIV, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::Sha256;

use crate::secret::Secret;

#[derive(Debug, thiserror::Error)]
pub enum CursorError {
    /// No secret of this deployment sealed the cursor for this binding. Answered with 400.
    #[error(
        "the cursor is invalid here; it was altered, or it belongs to another route, other parameters, another caller or \
         another version of the API"
    )]
    Foreign,
    /// No secret is configured, or a position does not serialise.
    #[error("creating a cursor failed: {0}")]
    Unmade(String),
}

/// Encrypts a position with a key of the first secret. The binding consists of route, parameters and caller. The same
/// position has the same cursor, so that pages have stable entity tags.
pub fn seal<T: Serialize>(secrets: &[String], binding: &str, position: &T) -> Result<String, CursorError> {
    let unmade = |reason: &dyn ToString| CursorError::Unmade(reason.to_string());
    let secret = secrets.first().map(Secret::new).ok_or_else(|| unmade(&"no secret is configured"))?;
    let mut position = serde_json::to_vec(position).map_err(|error| unmade(&error))?;
    let unencrypted = || unmade(&"the secret cannot encrypt");
    let nonce = nonce(&secret, binding, &position).ok_or_else(unencrypted)?;
    let key = key(&secret).ok_or_else(unencrypted)?;
    let bound = Aad::from(binding.as_bytes());
    let sealed = key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), bound, &mut position);
    sealed.map_err(|_| unencrypted())?;
    Ok(URL_SAFE_NO_PAD.encode([nonce.as_slice(), position.as_slice()].concat()))
}

/// Returns the position of a cursor, if a key of one of the secrets encrypted it for this binding.
pub fn open<T: DeserializeOwned>(secrets: &[String], binding: &str, cursor: &str) -> Result<T, CursorError> {
    let sealed = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| CursorError::Foreign)?;
    let (nonce, sealed) = sealed.split_first_chunk::<NONCE_LEN>().ok_or(CursorError::Foreign)?;
    let position = secrets.iter().find_map(|secret| {
        let mut position = sealed.to_vec();
        let bound = Aad::from(binding.as_bytes());
        let key = key(&Secret::new(secret))?;
        let opened = key.open_in_place(Nonce::assume_unique_for_key(*nonce), bound, &mut position).ok()?;
        Some(opened.to_vec())
    });
    // An earlier version may have written a position of another form.
    serde_json::from_slice(&position.ok_or(CursorError::Foreign)?).map_err(|_| CursorError::Foreign)
}

fn key(secret: &Secret) -> Option<LessSafeKey> {
    UnboundKey::new(&AES_256_GCM_SIV, &secret.derive("encrypt cursors")).ok().map(LessSafeKey::new)
}

/// Returns a nonce that only the same position with the same binding has again. The binding's length comes first, so that
/// the boundary between the two is unambiguous.
fn nonce(secret: &Secret, binding: &str, position: &[u8]) -> Option<[u8; NONCE_LEN]> {
    let mut mac = Hmac::<Sha256>::new_from_slice(&secret.derive("nonces of cursors")).ok()?;
    mac.update(&binding.len().to_be_bytes());
    mac.update(binding.as_bytes());
    mac.update(position);
    mac.finalize().into_bytes().first_chunk().copied()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn secrets(secrets: &[&str]) -> Vec<String> {
        secrets.iter().map(|&secret| secret.to_owned()).collect()
    }

    #[test]
    fn cursor_opens_while_its_secret_is_configured() {
        let cursor = seal(&secrets(&["old"]), "list", &7).unwrap();
        assert_eq!(open::<u8>(&secrets(&["new", "old"]), "list", &cursor).unwrap(), 7);
        assert!(matches!(open::<u8>(&secrets(&["new"]), "list", &cursor), Err(CursorError::Foreign)));
        let cursor = seal(&secrets(&["new", "old"]), "list", &7).unwrap();
        assert_eq!(open::<u8>(&secrets(&["new"]), "list", &cursor).unwrap(), 7);
        assert!(matches!(seal(&[], "list", &7), Err(CursorError::Unmade(_))));
    }

    #[test]
    fn cursor_with_another_type_of_position_is_foreign() {
        let secrets = secrets(&["secret"]);
        let cursor = seal(&secrets, "list", &7).unwrap();
        assert!(matches!(open::<String>(&secrets, "list", &cursor), Err(CursorError::Foreign)));
    }

    #[test]
    fn cursor_does_not_show_its_position_and_is_the_same_for_the_same() {
        let seal = |position: &str| seal(&secrets(&["secret"]), "list", &position).unwrap();
        let cursor = seal("record_household#14");
        assert_eq!(cursor, seal("record_household#14"));
        assert_ne!(cursor, seal("record_household#15"));
        let bytes = URL_SAFE_NO_PAD.decode(cursor).unwrap();
        assert!(!bytes.windows(9).any(|part| part == b"household"));
    }

    proptest! {
        #[test]
        fn cursor_opens_for_its_own_binding_only(binding: String, other: String, position: Vec<(String, i64)>) {
            let secrets = secrets(&["secret"]);
            let cursor = seal(&secrets, &binding, &position).unwrap();
            prop_assert_eq!(open::<Vec<(String, i64)>>(&secrets, &binding, &cursor).unwrap(), position);
            if other != binding {
                prop_assert!(open::<Vec<(String, i64)>>(&secrets, &other, &cursor).is_err());
            }
        }

        #[test]
        fn altered_cursor_does_not_open(place: prop::sample::Index, with in "[A-Za-z0-9_-]", text in ".{0,80}") {
            let secrets = secrets(&["secret"]);
            let cursor = seal(&secrets, "list", &"where").unwrap();
            let place = place.index(cursor.len());
            let (mut changed, longer) = (cursor.clone(), format!("{cursor}{with}"));
            changed.replace_range(place..=place, &with);
            prop_assert_eq!(open::<String>(&secrets, "list", &changed).is_ok(), changed == cursor);
            prop_assert!(open::<String>(&secrets, "list", cursor.get(..place).unwrap()).is_err());
            prop_assert!(open::<String>(&secrets, "list", &longer).is_err());
            prop_assert!(open::<String>(&secrets, "list", &text).is_err());
        }
    }
}
