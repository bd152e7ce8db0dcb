//! Signing of bearer tokens: by a system's own issuer, on one machine and in tests.

use std::fmt;

use jsonwebtoken::jwk::{Jwk, JwkSet, PublicKeyUse, ThumbprintHash};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde::Serialize;

/// An Ed25519 key pair that signs tokens. Only [`SigningKey::to_pkcs8`] reveals the private key.
#[derive(Clone)]
pub struct SigningKey {
    pkcs8: Vec<u8>,
    public: Jwk,
}

/// The claims of a token, with times in epoch seconds. [`crate::Known`] is the caller that they identify.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Claims {
    pub iss: String,
    pub sub: String,
    pub aud: String,
    pub iat: i64,
    pub nbf: i64,
    pub exp: i64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub roles: Vec<String>,
    /// The scopes, separated by spaces.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub scope: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    pub email_verified: bool,
    /// The id of the session in which the token was issued.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sid: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SigningError {
    #[error("no random bytes available: {0}")]
    NoRandomness(String),
    #[error("not an Ed25519 key in PKCS #8")]
    NotAKey,
    #[error("token not signed: {0}")]
    NotSigned(String),
}

/// PKCS #8 of an Ed25519 key (RFC 8410, section 7) before the 32 bytes of the key.
const PKCS8_PREFIX: [u8; 16] =
    [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];

impl SigningKey {
    pub fn generate() -> Result<Self, SigningError> {
        let mut secret = [0; 32];
        getrandom::fill(&mut secret).map_err(|error| SigningError::NoRandomness(error.to_string()))?;
        Self::from_secret(&secret)
    }

    /// Creates the key pair of a private key (RFC 8032, section 5.1.5).
    pub(crate) fn from_secret(secret: &[u8; 32]) -> Result<Self, SigningError> {
        Self::from_pkcs8([PKCS8_PREFIX.as_slice(), secret].concat())
    }

    /// Parses a key that [`SigningKey::to_pkcs8`] returned.
    pub fn from_pkcs8(pkcs8: Vec<u8>) -> Result<Self, SigningError> {
        let key = EncodingKey::from_ed_der(&pkcs8);
        let mut public = Jwk::from_encoding_key(&key, Algorithm::EdDSA).map_err(|_| SigningError::NotAKey)?;
        let thumbprint = public.thumbprint(ThumbprintHash::SHA256).map_err(|_| SigningError::NotAKey)?;
        public.common.key_id = Some(thumbprint);
        public.common.public_key_use = Some(PublicKeyUse::Signature);
        Ok(Self { pkcs8, public })
    }

    /// Returns the private key (RFC 8410), which must be kept secret.
    pub fn to_pkcs8(&self) -> &[u8] {
        &self.pkcs8
    }

    /// Returns the public key as a JWK set document (RFC 7517), as in [`table::config::Issuer`].
    pub fn jwks(&self) -> String {
        jwks(std::slice::from_ref(self))
    }

    /// Returns a signed token with these claims.
    pub fn sign(&self, claims: &impl Serialize) -> Result<String, SigningError> {
        let header = Header { kid: self.public.common.key_id.clone(), ..Header::new(Algorithm::EdDSA) };
        let key = EncodingKey::from_ed_der(&self.pkcs8);
        jsonwebtoken::encode(&header, claims, &key).map_err(|error| SigningError::NotSigned(error.to_string()))
    }
}

/// Returns the public keys as a JWK set document (RFC 7517).
pub(crate) fn jwks(keys: &[SigningKey]) -> String {
    let set = JwkSet { keys: keys.iter().map(|key| key.public.clone()).collect() };
    serde_json::to_string(&set).unwrap_or_else(|error| {
        table::never!("a JWK set that is not JSON: {error}");
        String::new()
    })
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "SigningKey({})", self.public.common.key_id.as_deref().unwrap_or(""))
    }
}
