//! Verifying bearer tokens (RFC 7519, RFC 8725) against the keys of the issuers that a system trusts.

use std::sync::OnceLock;

use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyAlgorithm, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey, crypto, dangerous, decode_header};
use serde::Deserialize;
use serde_json::Value;
use table::config::Issuer;

use crate::principal::Known;

/// How far an issuer's clock may differ from ours.
pub const LEEWAY_SECONDS: i64 = 30;

/// The issuers that a system accepts tokens of.
#[derive(Debug)]
pub(crate) struct Trust {
    issuers: Vec<Trusted>,
}

#[derive(Debug)]
struct Trusted {
    issuer: Issuer,
    /// Read from the issuer's JWK set when its first token comes.
    keys: OnceLock<Vec<Key>>,
}

/// A public key with the one algorithm that it is for, whatever a token says.
#[derive(Debug)]
struct Key {
    id: Option<String>,
    algorithm: Algorithm,
    key: DecodingKey,
}

#[derive(Deserialize)]
struct Claims {
    iss: String,
    sub: String,
    #[serde(default)]
    aud: Value,
    exp: f64,
    #[serde(default)]
    nbf: Option<f64>,
    #[serde(default)]
    roles: Vec<String>,
    #[serde(default)]
    scope: String,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    email: Option<String>,
    #[serde(default)]
    email_verified: Value,
}

impl Trust {
    /// Trusts these issuers, or only those of them that are named.
    pub fn new(issuers: &[Issuer], only: Option<&[&str]>) -> Self {
        let trusted = |issuer: &&Issuer| only.is_none_or(|names| names.contains(&issuer.name.as_str()));
        let issuers = issuers.iter().filter(trusted).cloned();
        Self { issuers: issuers.map(|issuer| Trusted { issuer, keys: OnceLock::new() }).collect() }
    }

    /// The caller whom a token speaks of, at this time in epoch seconds; else why it is not valid.
    pub fn verify(&self, token: &str, now: i64) -> Result<Known, &'static str> {
        const MALFORMED: &str = "The bearer token is not a JWT.";
        let header = decode_header(token).map_err(|_| MALFORMED)?;
        // Nothing of the claims is believed before the signature is checked; `iss` only says with whose keys.
        let claims: Claims = dangerous::insecure_decode_claims(token)
            .map_err(|_| "The token's claims lack `iss`, `sub` or `exp`, or one of them has a wrong type.")?;
        let trusted = self
            .issuers
            .iter()
            .find(|trusted| trusted.issuer.issuer == claims.iss)
            .ok_or("The token's issuer is not trusted here.")?;
        let key = trusted.key(header.kid.as_deref()).ok_or("The token's key is not one of its issuer's.")?;
        if header.alg != key.algorithm {
            return Err("The token's algorithm is not the one of its key.");
        }
        let (message, signature) = token.rsplit_once('.').ok_or(MALFORMED)?;
        match crypto::verify(signature, message.as_bytes(), &key.key, key.algorithm) {
            Ok(true) => claims.into_known(&trusted.issuer, now),
            Ok(false) | Err(_) => Err("The token's signature is wrong."),
        }
    }
}

impl Trusted {
    /// The key of this id; without an id, the only key there is.
    fn key(&self, id: Option<&str>) -> Option<&Key> {
        let keys = self.keys.get_or_init(|| read_keys(&self.issuer));
        match (id, keys.as_slice()) {
            (Some(id), keys) => keys.iter().find(|key| key.id.as_deref() == Some(id)),
            (None, [only]) => Some(only),
            (None, _) => None,
        }
    }
}

impl Claims {
    fn into_known(self, issuer: &Issuer, now: i64) -> Result<Known, &'static str> {
        let for_us = match &self.aud {
            Value::String(audience) => *audience == issuer.audience,
            Value::Array(audiences) => audiences.iter().any(|audience| *audience == issuer.audience),
            _ => false,
        };
        let (now, leeway) = (now as f64, LEEWAY_SECONDS as f64);
        if !for_us {
            return Err("The token is meant for another audience.");
        }
        if now >= self.exp + leeway {
            return Err("The token has expired.");
        }
        if self.nbf.is_some_and(|from| now < from - leeway) {
            return Err("The token is not valid yet.");
        }
        let verified = self.email_verified == Value::Bool(true);
        let mut known =
            Known::new(&issuer.name, self.sub).ok_or("The token's subject is empty or too long to stand in a key.")?;
        known.roles = self.roles;
        known.scopes = self.scope.split_whitespace().map(str::to_owned).collect();
        known.name = self.name;
        known.address = self.email.filter(|_| verified);
        Ok(known)
    }
}

/// The keys of a JWK set that sign by an algorithm we take; one that we cannot read is no reason to refuse the others.
fn read_keys(issuer: &Issuer) -> Vec<Key> {
    let set: Value = serde_json::from_str(&issuer.keys).unwrap_or_default();
    let entries = set.get("keys").and_then(Value::as_array).cloned().unwrap_or_default();
    let keys: Vec<Key> =
        entries.into_iter().filter_map(|entry| read_key(&serde_json::from_value(entry).ok()?)).collect();
    if keys.is_empty() {
        tracing::error!(issuer = issuer.name, "the issuer's JWK set has no key for RS256, ES256 or EdDSA");
    }
    keys
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
    use jsonwebtoken::{EncodingKey, Header};
    use serde_json::json;

    use super::*;

    const NOW: i64 = 1_800_000_000;

    /// PKCS #8 of a P-256 key (RFC 5915) up to the 32 bytes of the key itself.
    const P256_HEAD: [u8; 35] = [
        0x30, 0x41, 0x02, 0x01, 0x00, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08,
        0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x04, 0x27, 0x30, 0x25, 0x02, 0x01, 0x01, 0x04, 0x20,
    ];

    /// A key that was made for this test and signs nothing else.
    fn rsa() -> EncodingKey {
        EncodingKey::from_rsa_der(include_bytes!("trust/rs256-test-key.der"))
    }

    fn p256() -> EncodingKey {
        EncodingKey::from_ec_der(&[P256_HEAD.as_slice(), &[7; 32]].concat())
    }

    fn jwk(key: &EncodingKey, algorithm: Algorithm, id: Option<&str>) -> Value {
        let mut jwk = Jwk::from_encoding_key(key, algorithm).unwrap();
        jwk.common.key_id = id.map(str::to_owned);
        serde_json::to_value(jwk).unwrap()
    }

    fn trust(keys: &[Value]) -> Trust {
        let keys = json!({ "keys": keys }).to_string();
        let issuer = Issuer { name: "i".into(), issuer: "https://i.test".into(), audience: "a".into(), keys };
        Trust::new(&[issuer], None)
    }

    fn token(key: &EncodingKey, algorithm: Algorithm, id: Option<&str>, claims: &Value) -> String {
        let header = Header { kid: id.map(str::to_owned), ..Header::new(algorithm) };
        jsonwebtoken::encode(&header, claims, key).unwrap()
    }

    fn claims() -> Value {
        json!({ "iss": "https://i.test", "sub": "s", "aud": ["b", "a"], "exp": NOW + 60, "scope": "read  write",
            "roles": ["r"], "email": "s@i.test" })
    }

    #[test]
    fn rsa_and_elliptic_curves_verify() {
        for (key, algorithm) in [(rsa(), Algorithm::RS256), (p256(), Algorithm::ES256)] {
            let known = trust(&[jwk(&key, algorithm, Some("k"))]);
            let token = token(&key, algorithm, Some("k"), &claims());
            let known = known.verify(&token, NOW).unwrap();
            assert_eq!((known.idpid(), known.scopes.len(), known.has_role("r")), ("i:s", 2, true));
        }
    }

    #[test]
    fn an_algorithm_that_is_not_the_keys_is_refused() {
        let known = trust(&[jwk(&rsa(), Algorithm::RS256, None)]);
        let pss = token(&rsa(), Algorithm::PS256, None, &claims());
        assert_eq!(known.verify(&pss, NOW), Err("The token's algorithm is not the one of its key."));
    }

    #[test]
    fn a_token_without_a_key_id_needs_an_only_key() {
        let (rsa, p256) = (rsa(), p256());
        let unnamed = token(&rsa, Algorithm::RS256, None, &claims());
        let one = jwk(&rsa, Algorithm::RS256, Some("k"));
        let other = jwk(&p256, Algorithm::ES256, Some("l"));
        assert!(trust(std::slice::from_ref(&one)).verify(&unnamed, NOW).is_ok());
        assert_eq!(trust(&[one, other]).verify(&unnamed, NOW), Err("The token's key is not one of its issuer's."));
    }

    #[test]
    fn keys_that_cannot_be_read_leave_the_others() {
        let good = jwk(&p256(), Algorithm::ES256, Some("k"));
        let odd = [
            json!({ "kty": "OKP", "crv": "Ed25519", "x": "AAAA" }),
            json!({ "kty": "EC", "crv": "P-384", "x": "", "y": "" }),
            json!({ "kty": "oct", "k": "AAAA" }),
            json!({ "kty": "RSA", "n": "AQAB", "e": "AQAB", "use": "enc" }),
            json!(7),
        ];
        let token = token(&p256(), Algorithm::ES256, Some("k"), &claims());
        let keys = [odd.as_slice(), &[good]].concat();
        assert!(trust(&keys).verify(&token, NOW).is_ok());
    }

    #[test]
    fn an_address_is_one_that_the_issuer_has_verified() {
        let key = p256();
        let known = trust(&[jwk(&key, Algorithm::ES256, None)]);
        for (verified, expected) in [(json!(true), Some("s@i.test")), (json!(false), None), (json!("true"), None)] {
            let mut claims = claims();
            claims["email_verified"] = verified;
            let known = known.verify(&token(&key, Algorithm::ES256, None, &claims), NOW).unwrap();
            assert_eq!(known.address.as_deref(), expected);
        }
    }

    #[test]
    fn claims_of_a_wrong_type_are_refused() {
        let key = p256();
        let known = trust(&[jwk(&key, Algorithm::ES256, None)]);
        for (name, value) in [("exp", json!("soon")), ("exp", Value::Null), ("sub", json!(1)), ("roles", json!("r"))] {
            let mut claims = claims();
            claims[name] = value;
            let refused = known.verify(&token(&key, Algorithm::ES256, None, &claims), NOW);
            assert!(refused.is_err_and(|reason| reason.contains("wrong type")), "{name}");
        }
    }
}
