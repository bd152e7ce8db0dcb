//! Verifying bearer tokens (RFC 7519, RFC 8725) against the keys of the issuers that a system trusts.

mod keys;
mod remote;

use std::sync::{Arc, OnceLock};

use futures::future::join_all;
use jsonwebtoken::{crypto, dangerous, decode_header};
use serde::Deserialize;
use serde_json::{Map, Value};
use table::Clock;
use table::config::{Issuer, Keys};

use crate::principal::Known;
use keys::{ALGORITHMS, Key, KeySet};
use remote::Remote;

pub(crate) use remote::Unavailable;

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
    source: Source,
}

/// Where an issuer's keys come from.
#[derive(Debug)]
enum Source {
    /// A JWK set of the configuration, read when the issuer's first token comes.
    Given {
        document: String,
        keys: OnceLock<Option<KeySet>>,
    },
    Published(Remote),
}

/// Why a token says nothing of its bearer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// It is not valid; why, in words that may be answered.
    Invalid(&'static str),
    /// Whether it is valid cannot be known now.
    Unknown(Unavailable),
}

#[derive(Deserialize)]
struct Claims {
    iss: String,
    sub: String,
    exp: f64,
    #[serde(default)]
    nbf: Option<f64>,
    #[serde(default)]
    scope: String,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    email: Option<String>,
    #[serde(default)]
    email_verified: Value,
    /// Those whose names the issuer's configuration says are among them.
    #[serde(flatten)]
    others: Map<String, Value>,
}

impl Trust {
    /// Trusts these issuers, or only those of them that are named.
    pub fn new(issuers: &[Issuer], only: Option<&[&str]>) -> Self {
        let trusted = |issuer: &&Issuer| only.is_none_or(|names| names.contains(&issuer.name.as_str()));
        let issuers = issuers.iter().filter(trusted).cloned();
        let trusted = |issuer: Issuer| Trusted { source: Source::new(&issuer), issuer };
        Self { issuers: issuers.map(trusted).collect() }
    }

    /// Has the keys of all issuers before a token needs them, as far as they can be had.
    pub async fn prepare(&self, clock: &Clock) {
        join_all(self.issuers.iter().map(|trusted| trusted.source.prepare(clock))).await;
    }

    /// The caller whom a token speaks of, as of this clock.
    pub async fn verify(&self, token: &str, clock: &Clock) -> Result<Known, Refused> {
        const MALFORMED: &str = "The bearer token is not a JWT.";
        let header = decode_header(token).map_err(|_| MALFORMED)?;
        let (message, signature) = token.rsplit_once('.').ok_or(MALFORMED)?;
        let claims: Claims = dangerous::insecure_decode_claims(token)
            .map_err(|_| "The token's claims lack `iss`, `sub` or `exp`, or one of them has a wrong type.")?;
        // An issuer may be trusted for several audiences, each under a name of its own.
        let mut of_issuer = self.issuers.iter().filter(|trusted| trusted.issuer.issuer == claims.iss);
        let first = of_issuer.clone().next().ok_or("The token's issuer is not trusted here.")?;
        let trusted = of_issuer.find(|trusted| claims.are_for(&trusted.issuer)).unwrap_or(first);
        // Nothing that is wrong already is worth asking an issuer for. And nothing is believed before the signature
        // is checked.
        if !ALGORITHMS.contains(&header.alg) {
            return Err("The token's algorithm is none of RS256, ES256 and EdDSA.".into());
        }
        if header.crit.is_some() {
            return Err("The token's header has a `crit`, and no extension is known here.".into());
        }
        let known = claims.into_known(&trusted.issuer, clock.seconds())?;
        let key = trusted.source.key(header.kid.as_deref(), clock).await.map_err(Refused::Unknown)?;
        let key = key.ok_or("The token's key is not one of its issuer's.")?;
        if header.alg != key.algorithm {
            return Err("The token's algorithm is not the one of its key.".into());
        }
        match crypto::verify(signature, message.as_bytes(), &key.key, key.algorithm) {
            Ok(true) => Ok(known),
            Ok(false) | Err(_) => Err("The token's signature is wrong.".into()),
        }
    }
}

impl From<&'static str> for Refused {
    fn from(reason: &'static str) -> Self {
        Self::Invalid(reason)
    }
}

impl Source {
    fn new(issuer: &Issuer) -> Self {
        match &issuer.keys {
            Keys::Set(document) => Self::Given { document: document.clone(), keys: OnceLock::new() },
            Keys::At(url) => Self::Published(Remote::new(url)),
        }
    }

    async fn prepare(&self, clock: &Clock) {
        match self {
            Self::Given { document, keys } => _ = keys.get_or_init(|| KeySet::read(document.as_bytes())),
            Self::Published(remote) => remote.prepare(clock).await,
        }
    }

    async fn key(&self, id: Option<&str>, clock: &Clock) -> Result<Option<Arc<Key>>, Unavailable> {
        let (document, keys) = match self {
            Self::Given { document, keys } => (document, keys),
            Self::Published(remote) => return remote.key(id, clock).await,
        };
        let keys = keys.get_or_init(|| KeySet::read(document.as_bytes()));
        if keys.is_none() {
            tracing::error!("a configured JWK set has no key for RS256, ES256 or EdDSA");
        }
        Ok(keys.as_ref().and_then(|keys| keys.find(id)))
    }
}

impl Claims {
    /// The claim of this name, or the one to which these names with dots between lead.
    fn named(&self, name: &str) -> Option<&Value> {
        self.others.get(name).or_else(|| {
            let (first, rest) = name.split_once('.')?;
            rest.split('.').try_fold(self.others.get(first)?, |claim, name| claim.get(name))
        })
    }

    fn are_for(&self, issuer: &Issuer) -> bool {
        match self.named(&issuer.claims.audience) {
            Some(Value::String(known)) => *known == issuer.audience,
            Some(Value::Array(all)) => all.iter().any(|known| *known == issuer.audience),
            _ => false,
        }
    }

    /// By the names that they have here.
    fn roles(&self, issuer: &Issuer) -> Result<Vec<String>, &'static str> {
        let Some(roles) = self.named(&issuer.claims.roles) else { return Ok(Vec::new()) };
        let roles = Vec::<String>::deserialize(roles)
            .map_err(|_| "The token's claim of roles has a wrong type; it is a list of texts.")?;
        Ok(match &issuer.role_names {
            None => roles,
            Some(names) => roles.iter().filter_map(|role| names.get(role)).flatten().cloned().collect(),
        })
    }

    fn into_known(self, issuer: &Issuer, now: i64) -> Result<Known, &'static str> {
        let (now, leeway) = (now as f64, LEEWAY_SECONDS as f64);
        if !self.are_for(issuer) {
            return Err("The token is meant for another audience.");
        }
        if now >= self.exp + leeway {
            return Err("The token has expired.");
        }
        if self.nbf.is_some_and(|from| now < from - leeway) {
            return Err("The token is not valid yet.");
        }
        let roles = self.roles(issuer)?;
        let verified = self.email_verified == Value::Bool(true);
        let mut known =
            Known::new(&issuer.name, self.sub).ok_or("The token's subject is empty or too long to stand in a key.")?;
        known.roles = roles;
        known.scopes = self.scope.split_whitespace().map(str::to_owned).collect();
        known.name = self.name;
        known.address = self.email.filter(|_| verified);
        Ok(known)
    }
}

#[cfg(test)]
mod tests {
    use jsonwebtoken::jwk::Jwk;
    use jsonwebtoken::{Algorithm, EncodingKey, Header};
    use serde_json::json;

    use super::*;

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

    fn issuer(name: &str, audience: &str, keys: &[Value]) -> Issuer {
        let keys = Keys::Set(json!({ "keys": keys }).to_string());
        Issuer::new(name, "https://i.test", audience, keys)
    }

    fn trust(keys: &[Value]) -> Trust {
        Trust::new(&[issuer("i", "a", keys)], None)
    }

    fn token(key: &EncodingKey, algorithm: Algorithm, id: Option<&str>, claims: &Value) -> String {
        let header = Header { kid: id.map(str::to_owned), ..Header::new(algorithm) };
        jsonwebtoken::encode(&header, claims, key).unwrap()
    }

    fn claims() -> Value {
        let exp = Clock::system().seconds() + 60;
        json!({ "iss": "https://i.test", "sub": "s", "aud": ["b", "a"], "exp": exp, "scope": "read  write",
            "roles": ["r"], "email": "s@i.test" })
    }

    async fn verify(trust: &Trust, token: &str) -> Result<Known, &'static str> {
        trust.verify(token, &Clock::system()).await.map_err(|refused| match refused {
            Refused::Invalid(reason) => reason,
            Refused::Unknown(unavailable) => panic!("{unavailable:?}"),
        })
    }

    #[tokio::test]
    async fn rsa_and_elliptic_curves_verify() {
        for (key, algorithm) in [(rsa(), Algorithm::RS256), (p256(), Algorithm::ES256)] {
            let trust = trust(&[jwk(&key, algorithm, Some("k"))]);
            let known = verify(&trust, &token(&key, algorithm, Some("k"), &claims())).await.unwrap();
            assert_eq!((known.idpid().as_str(), known.scopes.len(), known.has_role("r")), ("i:s", 2, true));
        }
    }

    #[tokio::test]
    async fn an_algorithm_that_is_not_the_keys_is_refused() {
        let trust = trust(&[jwk(&rsa(), Algorithm::RS256, None)]);
        for algorithm in [Algorithm::PS256, Algorithm::RS512] {
            let other = token(&rsa(), algorithm, None, &claims());
            let reason = "The token's algorithm is none of RS256, ES256 and EdDSA.";
            assert_eq!(verify(&trust, &other).await, Err(reason));
        }
        let other = token(&p256(), Algorithm::ES256, None, &claims());
        assert_eq!(verify(&trust, &other).await, Err("The token's algorithm is not the one of its key."));
    }

    #[tokio::test]
    async fn a_token_without_a_key_id_needs_an_only_key() {
        let (rsa, p256) = (rsa(), p256());
        let unnamed = token(&rsa, Algorithm::RS256, None, &claims());
        let one = jwk(&rsa, Algorithm::RS256, Some("k"));
        let other = jwk(&p256, Algorithm::ES256, Some("l"));
        assert!(verify(&trust(std::slice::from_ref(&one)), &unnamed).await.is_ok());
        let refused = verify(&trust(&[one, other]), &unnamed).await;
        assert_eq!(refused, Err("The token's key is not one of its issuer's."));
    }

    #[tokio::test]
    async fn an_issuer_may_be_trusted_for_several_audiences() {
        let (rsa, p256) = (rsa(), p256());
        let first = issuer("first", "a", &[jwk(&rsa, Algorithm::RS256, None)]);
        let second = issuer("second", "c", &[jwk(&p256, Algorithm::ES256, None)]);
        let trust = Trust::new(&[first, second], None);
        let mut claims = claims();
        for (audience, key, algorithm, name) in
            [("a", &rsa, Algorithm::RS256, "first:s"), ("c", &p256, Algorithm::ES256, "second:s")]
        {
            claims["aud"] = audience.into();
            let known = verify(&trust, &token(key, algorithm, None, &claims)).await.unwrap();
            assert_eq!(known.idpid().as_str(), name);
            // The keys of one are not the other's.
            let other = if audience == "a" { "c" } else { "a" };
            claims["aud"] = other.into();
            let refused = verify(&trust, &token(key, algorithm, None, &claims)).await;
            assert_eq!(refused, Err("The token's algorithm is not the one of its key."));
        }
        claims["aud"] = "d".into();
        let refused = verify(&trust, &token(&rsa, Algorithm::RS256, None, &claims)).await;
        assert_eq!(refused, Err("The token is meant for another audience."));
    }

    #[tokio::test]
    async fn an_address_is_one_that_the_issuer_has_verified() {
        let key = p256();
        let trust = trust(&[jwk(&key, Algorithm::ES256, None)]);
        for (verified, expected) in [(json!(true), Some("s@i.test")), (json!(false), None), (json!("true"), None)] {
            let mut claims = claims();
            claims["email_verified"] = verified;
            let known = verify(&trust, &token(&key, Algorithm::ES256, None, &claims)).await.unwrap();
            assert_eq!(known.address.as_deref(), expected);
        }
    }

    #[tokio::test]
    async fn claims_of_a_wrong_type_are_refused() {
        let key = p256();
        let trust = trust(&[jwk(&key, Algorithm::ES256, None)]);
        for (name, value) in [("exp", json!("soon")), ("exp", Value::Null), ("sub", json!(1)), ("roles", json!("r"))] {
            let mut claims = claims();
            claims[name] = value;
            let refused = verify(&trust, &token(&key, Algorithm::ES256, None, &claims)).await;
            assert!(refused.is_err_and(|reason| reason.contains("wrong type")), "{name}");
        }
    }
}
