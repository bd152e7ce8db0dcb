//! Issuing bearer tokens where the platform is its own issuer: on one machine, and in tests.

use std::fmt;

use jsonwebtoken::jwk::{Jwk, JwkSet, PublicKeyUse, ThumbprintHash};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde::Serialize;

/// An Ed25519 key pair that signs tokens. The private key shows in no output but [`SigningKey::to_pkcs8`].
#[derive(Clone)]
pub struct SigningKey {
    pkcs8: Vec<u8>,
    public: Jwk,
}

/// What a token says; times are epoch seconds. See [`crate::Known`] for what is made of it.
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
    /// With spaces between.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub scope: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    pub email_verified: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SigningError {
    #[error("this machine gives no random bytes: {0}")]
    NoRandomness(String),
    #[error("this is no Ed25519 key in PKCS #8")]
    NotAKey,
    #[error("the token cannot be signed: {0}")]
    NotSigned(String),
}

/// PKCS #8 of an Ed25519 key (RFC 8410, section 7) up to the 32 bytes of the key itself.
const PKCS8_HEAD: [u8; 16] =
    [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];

impl SigningKey {
    pub fn generate() -> Result<Self, SigningError> {
        let mut secret = [0; 32];
        getrandom::fill(&mut secret).map_err(|error| SigningError::NoRandomness(error.to_string()))?;
        Self::from_pkcs8([PKCS8_HEAD.as_slice(), &secret].concat())
    }

    /// A key that [`SigningKey::to_pkcs8`] gave.
    pub fn from_pkcs8(pkcs8: Vec<u8>) -> Result<Self, SigningError> {
        let key = EncodingKey::from_ed_der(&pkcs8);
        let mut public = Jwk::from_encoding_key(&key, Algorithm::EdDSA).map_err(|_| SigningError::NotAKey)?;
        let thumbprint = public.thumbprint(ThumbprintHash::SHA256).map_err(|_| SigningError::NotAKey)?;
        public.common.key_id = Some(thumbprint);
        public.common.public_key_use = Some(PublicKeyUse::Signature);
        Ok(Self { pkcs8, public })
    }

    /// The private key (RFC 8410), to be kept where nobody else reads it.
    pub fn to_pkcs8(&self) -> &[u8] {
        &self.pkcs8
    }

    /// The public key as a JWK set document (RFC 7517), as [`table::config::Issuer`] holds it.
    pub fn jwks(&self) -> String {
        let set = JwkSet { keys: vec![self.public.clone()] };
        serde_json::to_string(&set).unwrap_or_default()
    }

    /// A token that says this, signed.
    pub fn sign(&self, claims: &impl Serialize) -> Result<String, SigningError> {
        let header = Header { kid: self.public.common.key_id.clone(), ..Header::new(Algorithm::EdDSA) };
        let key = EncodingKey::from_ed_der(&self.pkcs8);
        jsonwebtoken::encode(&header, claims, &key).map_err(|error| SigningError::NotSigned(error.to_string()))
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "SigningKey({})", self.public.common.key_id.as_deref().unwrap_or_default())
    }
}
