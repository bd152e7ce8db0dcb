//! The public keys of a JWK set document (RFC 7517).

use std::sync::Arc;

use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyAlgorithm, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use serde_json::Value;

/// A public key with its one algorithm, which the header of a token cannot choose.
#[derive(Debug)]
pub(super) struct Key {
    id: Option<String>,
    pub algorithm: Algorithm,
    pub key: DecodingKey,
}

/// The keys of a JWK set whose algorithm is supported.
#[derive(Debug)]
pub(super) struct KeySet(Vec<Arc<Key>>);

/// The supported algorithms.
pub(super) const ALGORITHMS: [Algorithm; 3] = [Algorithm::RS256, Algorithm::ES256, Algorithm::EdDSA];

impl KeySet {
    /// Parses a JWK set and ignores keys that are not supported. `None` if no key is left.
    pub fn parse(document: &[u8]) -> Option<Self> {
        let set: Value = serde_json::from_slice(document).ok()?;
        let entries = set.get("keys")?.as_array()?;
        let keys = entries.iter().filter_map(|entry| parse_key(&serde_json::from_value(entry.clone()).ok()?));
        let keys: Vec<Arc<Key>> = keys.map(Arc::new).collect();
        (!keys.is_empty()).then_some(Self(keys))
    }

    /// Returns the key with this id, or the only key of the set if there is no id.
    pub fn find(&self, id: Option<&str>) -> Option<Arc<Key>> {
        match (id, self.0.as_slice()) {
            (Some(id), keys) => keys.iter().find(|key| key.id.as_deref() == Some(id)).cloned(),
            (None, [only]) => Some(Arc::clone(only)),
            (None, _) => None,
        }
    }
}

fn parse_key(jwk: &Jwk) -> Option<Key> {
    let algorithm = match (&jwk.algorithm, jwk.common.key_algorithm) {
        (AlgorithmParameters::RSA(_), None | Some(KeyAlgorithm::RS256)) => Algorithm::RS256,
        (AlgorithmParameters::EllipticCurve(key), None | Some(KeyAlgorithm::ES256))
            if key.curve == EllipticCurve::P256 =>
        {
            Algorithm::ES256
        }
        (AlgorithmParameters::OctetKeyPair(key), None | Some(KeyAlgorithm::EdDSA))
            if key.curve == EllipticCurve::Ed25519 =>
        {
            Algorithm::EdDSA
        }
        _ => return None,
    };
    if jwk.common.public_key_use.as_ref().is_some_and(|purpose| *purpose != PublicKeyUse::Signature) {
        return None;
    }
    let key = DecodingKey::from_jwk(jwk).ok()?;
    // The verifier expects 32 bytes of an Ed25519 key and would panic without them.
    if algorithm == Algorithm::EdDSA && key.try_get_as_bytes().ok()?.len() != 32 {
        return None;
    }
    Some(Key { id: jwk.common.key_id.clone(), algorithm, key })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::token::SigningKey;

    fn parse(document: Value) -> Option<KeySet> {
        KeySet::parse(document.to_string().as_bytes())
    }

    #[test]
    fn key_set_with_unsupported_keys_keeps_the_supported_one() {
        let good: Value = serde_json::from_str(&SigningKey::generate().unwrap().jwks()).unwrap();
        let good = &good["keys"][0];
        let unsupported = [
            json!({ "kty": "OKP", "crv": "Ed25519", "x": "AAAA" }),
            json!({ "kty": "EC", "crv": "P-384", "x": "", "y": "" }),
            json!({ "kty": "oct", "k": "AAAA" }),
            json!({ "kty": "RSA", "n": "AQAB", "e": "AQAB", "use": "enc" }),
            json!({ "kty": "RSA", "n": "AQAB", "e": "AQAB", "alg": "RS512" }),
            json!(7),
        ];
        assert!(parse(json!({ "keys": unsupported })).is_none());
        let all = [unsupported.as_slice(), std::slice::from_ref(good)].concat();
        let set = parse(json!({ "keys": all })).unwrap();
        assert!(set.find(good["kid"].as_str()).is_some());
        assert!(set.find(None).is_some(), "the only supported key");
    }

    #[test]
    fn document_that_is_no_key_set_is_none() {
        for document in [json!({}), json!([]), json!({ "keys": [] }), json!({ "keys": {} }), json!("keys")] {
            assert!(parse(document.clone()).is_none(), "{document}");
        }
        assert!(KeySet::parse(b"<html>").is_none());
    }
}
