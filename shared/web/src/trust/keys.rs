//! Public keys as a JWK set document (RFC 7517) has them.

use std::sync::Arc;

use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyAlgorithm, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use serde_json::Value;

/// A public key with the one algorithm that it is for, whatever a token says.
#[derive(Debug)]
pub(super) struct Key {
    id: Option<String>,
    pub algorithm: Algorithm,
    pub key: DecodingKey,
}

/// The keys of a JWK set that sign by an algorithm we take.
#[derive(Debug)]
pub(super) struct KeySet(Vec<Arc<Key>>);

/// The algorithms we take.
pub(super) const ALGORITHMS: [Algorithm; 3] = [Algorithm::RS256, Algorithm::ES256, Algorithm::EdDSA];

impl KeySet {
    /// A key that we cannot read is no reason to refuse the others. None if there is no other.
    pub fn read(document: &[u8]) -> Option<Self> {
        let set: Value = serde_json::from_slice(document).ok()?;
        let entries = set.get("keys")?.as_array()?;
        let keys = entries.iter().filter_map(|entry| read_key(&serde_json::from_value(entry.clone()).ok()?));
        let keys: Vec<Arc<Key>> = keys.map(Arc::new).collect();
        (!keys.is_empty()).then_some(Self(keys))
    }

    /// The key of this id; without an id, the only key there is.
    pub fn find(&self, id: Option<&str>) -> Option<Arc<Key>> {
        match (id, self.0.as_slice()) {
            (Some(id), keys) => keys.iter().find(|key| key.id.as_deref() == Some(id)).cloned(),
            (None, [only]) => Some(Arc::clone(only)),
            (None, _) => None,
        }
    }
}

fn read_key(jwk: &Jwk) -> Option<Key> {
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
    // The verifier takes the first 32 bytes of an Ed25519 key for granted.
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

    fn read(document: Value) -> Option<KeySet> {
        KeySet::read(document.to_string().as_bytes())
    }

    #[test]
    fn keys_that_cannot_be_read_leave_the_others() {
        let good: Value = serde_json::from_str(&SigningKey::generate().unwrap().jwks()).unwrap();
        let good = &good["keys"][0];
        let odd = [
            json!({ "kty": "OKP", "crv": "Ed25519", "x": "AAAA" }),
            json!({ "kty": "EC", "crv": "P-384", "x": "", "y": "" }),
            json!({ "kty": "oct", "k": "AAAA" }),
            json!({ "kty": "RSA", "n": "AQAB", "e": "AQAB", "use": "enc" }),
            json!({ "kty": "RSA", "n": "AQAB", "e": "AQAB", "alg": "RS512" }),
            json!(7),
        ];
        assert!(read(json!({ "keys": odd })).is_none());
        let all = [odd.as_slice(), std::slice::from_ref(good)].concat();
        let set = read(json!({ "keys": all })).unwrap();
        assert!(set.find(good["kid"].as_str()).is_some());
        assert!(set.find(None).is_some(), "the only one that can be read");
    }

    #[test]
    fn what_is_no_key_set_is_none() {
        for document in [json!({}), json!([]), json!({ "keys": [] }), json!({ "keys": {} }), json!("keys")] {
            assert!(read(document.clone()).is_none(), "{document}");
        }
        assert!(KeySet::read(b"<html>").is_none());
    }
}
