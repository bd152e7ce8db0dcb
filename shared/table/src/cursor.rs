//! Cursors: signed texts that say where a page ended. A cursor is valid only in this deployment, for the same caller,
//! on the same route with the same parameters.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit, Mac};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::Sha256;

/// The bytes of HMAC-SHA256.
const SIGNATURE: usize = 32;

#[derive(Debug, thiserror::Error)]
pub enum CursorError {
    /// No secret of this deployment signed the cursor for this binding. Answered with 400.
    #[error(
        "the cursor is invalid here; it was altered, or it belongs to another route, other parameters or another caller"
    )]
    Foreign,
    /// No secret is configured, or a position does not serialise.
    #[error("creating a cursor failed: {0}")]
    Unmade(String),
}

/// Signs a position with the first secret. The binding consists of route, parameters and caller.
pub fn seal<T: Serialize>(secrets: &[String], binding: &str, position: &T) -> Result<String, CursorError> {
    let unmade = |reason: &dyn ToString| CursorError::Unmade(reason.to_string());
    let secret = secrets.first().ok_or_else(|| unmade(&"no secret is configured"))?;
    let position = serde_json::to_vec(position).map_err(|error| unmade(&error))?;
    let signature = signer(secret, binding, &position).ok_or_else(|| unmade(&"the secret cannot sign"))?;
    let mut sealed = signature.finalize().into_bytes().to_vec();
    sealed.extend(position);
    Ok(URL_SAFE_NO_PAD.encode(sealed))
}

/// Returns the position of a cursor, if one of the secrets signed it for this binding.
pub fn open<T: DeserializeOwned>(secrets: &[String], binding: &str, cursor: &str) -> Result<T, CursorError> {
    let sealed = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| CursorError::Foreign)?;
    let (signature, position) = sealed.split_at_checked(SIGNATURE).ok_or(CursorError::Foreign)?;
    let signed_by = |secret: &String| {
        signer(secret, binding, position).is_some_and(|signer| signer.verify_slice(signature).is_ok())
    };
    if !secrets.iter().any(signed_by) {
        return Err(CursorError::Foreign);
    }
    // An earlier version may have written a position of another form.
    serde_json::from_slice(position).map_err(|_| CursorError::Foreign)
}

/// Returns the signer of a binding and a position. The binding's length comes first, so that the boundary between the
/// two is unambiguous.
fn signer(secret: &str, binding: &str, position: &[u8]) -> Option<Hmac<Sha256>> {
    let mut signer = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).ok()?;
    signer.update(&binding.len().to_be_bytes());
    signer.update(binding.as_bytes());
    signer.update(position);
    Some(signer)
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
