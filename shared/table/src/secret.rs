//! Secrets, the keys that are derived from them, and those that a process has read.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use hkdf::Hkdf;
use sha2::Sha256;

/// The value of a secret. It never appears in debug output.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// Derives the key of a purpose (HKDF-SHA-256, RFC 5869, without a salt). A key reveals neither the secret nor the
    /// keys of other purposes.
    pub fn derive(&self, purpose: &str) -> [u8; 32] {
        let mut key = [0; 32];
        if Hkdf::<Sha256>::new(None, self.0.as_bytes()).expand(purpose.as_bytes(), &mut key).is_err() {
            crate::never!("HKDF-SHA-256 did not derive 32 bytes");
        }
        key
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret")
    }
}

/// The secrets that a process has read, by their logical names.
#[derive(Debug, Default)]
pub(crate) struct Cache(RwLock<HashMap<&'static str, Known>>);

#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub secret: Arc<Secret>,
    /// The time in epoch seconds at which the secret is read again.
    pub until: i64,
}

impl Cache {
    pub fn get(&self, name: &str) -> Option<Known> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    pub fn set(&self, name: &'static str, known: Known) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(name, known);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_different_purposes_or_secrets_differ() {
        let (one, other) = (Secret::new("one"), Secret::new("other"));
        assert_eq!(one.derive("sign"), one.derive("sign"));
        assert_ne!(one.derive("sign"), one.derive("seal"));
        assert_ne!(one.derive("sign"), other.derive("sign"));
        assert_ne!(one.derive("sign"), [0; 32]);
    }

    #[test]
    fn debug_output_has_no_value() {
        assert_eq!(format!("{:?}", Secret::new("hush")), "Secret");
    }
}
