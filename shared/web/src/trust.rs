//! Verifying bearer tokens (RFC 7519, RFC 8725) against the keys of the issuers that a system trusts.

mod derived;
mod keys;
mod remote;

use std::sync::{Arc, OnceLock};

use futures::future::join_all;
use http::{HeaderMap, header};
use jsonwebtoken::{crypto, dangerous, decode_header};
use serde::Deserialize;
use serde_json::{Map, Value};
use table::Engines;
use table::config::{Issuer, Keys};

use crate::issuer::OwnIssuer;
use crate::principal::{Known, Principal};
use crate::{Problem, problem};
use derived::Derived;
use keys::{ALGORITHMS, Key, KeySet};
use remote::{Remote, Unavailable};

/// The permitted difference between an issuer's clock and the platform's.
pub const LEEWAY_SECONDS: i64 = 30;

/// The issuers whose tokens a system accepts.
#[derive(Debug)]
pub(crate) struct Trust {
    issuers: Vec<TrustedIssuer>,
}

#[derive(Debug)]
struct TrustedIssuer {
    issuer: Issuer,
    keys: KeySource,
}

/// The source of an issuer's keys.
#[derive(Debug)]
enum KeySource {
    /// A JWK set of the configuration, parsed when the issuer's first token arrives.
    Configured { document: String, keys: OnceLock<Option<KeySet>> },
    /// A JWK set that the issuer publishes.
    Remote(Remote),
    /// The keys of the system's own issuer.
    Derived(Derived),
}

/// The reason why a token is not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
enum TokenError {
    /// The token is not valid, with the reason that the client is given.
    Invalid(&'static str),
    /// The issuer's keys are unavailable, so the token may be valid.
    Unavailable(Unavailable),
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
    /// The other claims, among them those that the issuer's configuration names.
    #[serde(flatten)]
    others: Map<String, Value>,
}

impl Trust {
    /// Trusts these issuers, or only those whose names are in `only`.
    pub fn new(issuers: &[Issuer], only: Option<&[&str]>) -> Self {
        let is_trusted = |issuer: &&Issuer| only.is_none_or(|names| names.contains(&issuer.name.as_str()));
        let issuers = issuers.iter().filter(is_trusted).cloned();
        let trusted = |issuer: Issuer| TrustedIssuer { keys: KeySource::new(&issuer), issuer };
        Self { issuers: issuers.map(trusted).collect() }
    }

    /// Adds the system's own issuer. A configured issuer with its name is not trusted, since the people of both would be
    /// the same.
    pub fn with_own(mut self, own: &OwnIssuer, engines: &Engines) -> Self {
        self.issuers.retain(|trusted| {
            let differs = trusted.issuer.name != own.name;
            if !differs {
                tracing::error!(issuer = own.name, "configured issuer has the name of the system's own issuer");
            }
            differs
        });
        let issuer = Issuer::new(own.name, &own.iss(&engines.config), own.audience, Keys::Set(String::new()));
        self.issuers.push(TrustedIssuer { issuer, keys: KeySource::Derived(Derived::new(own.secret)) });
        self
    }

    /// Loads the keys of all issuers before a token needs them. An issuer that fails is tried again by its first token.
    pub async fn prepare(&self, engines: &Engines) {
        join_all(self.issuers.iter().map(|trusted| trusted.keys.prepare(engines))).await;
    }

    /// Verifies the bearer token of a request and returns the caller. Fails only if the token may be valid and cannot be
    /// verified now.
    pub async fn authenticate(&self, headers: &HeaderMap, engines: &Engines) -> Result<Principal, Problem> {
        let mut values = headers.get_all(header::AUTHORIZATION).iter();
        let token = match (values.next(), values.next()) {
            (None, _) => return Ok(Principal::Anonymous),
            (Some(_), Some(_)) => return Ok(Principal::Invalid("The request has more than one Authorization header.")),
            (Some(value), None) => value.to_str().ok().and_then(|text| text.split_once(' ')),
        };
        let Some((_, token)) = token.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")) else {
            return Ok(Principal::Invalid("The Authorization header must be `Bearer`, a space and a token."));
        };
        match self.verify(token.trim(), engines).await {
            Ok(known) => Ok(Principal::Known(Box::new(known))),
            Err(TokenError::Invalid(reason)) => Ok(Principal::Invalid(reason)),
            Err(TokenError::Unavailable(Unavailable { cause, retry_after })) => Err(problem::UNAVAILABLE
                .because(
                    "The keys of the token's issuer are unavailable, so the token cannot be verified. Retry shortly.",
                )
                .retry_after(retry_after)
                .caused_by(cause)),
        }
    }

    async fn verify(&self, token: &str, engines: &Engines) -> Result<Known, TokenError> {
        const MALFORMED: &str = "The bearer token is not a JWT.";
        let header = decode_header(token).map_err(|_| MALFORMED)?;
        let (message, signature) = token.rsplit_once('.').ok_or(MALFORMED)?;
        let claims: Claims = dangerous::insecure_decode_claims(token)
            .map_err(|_| "A claim of the token has a wrong type, or `iss`, `sub` or `exp` is missing.")?;
        // One issuer may be trusted for several audiences, each under its own name. The claims of a token for none of
        // them are checked against the first, which fails by its audience.
        let mut of_issuer = self.issuers.iter().filter(|trusted| trusted.issuer.issuer == claims.iss);
        let first = of_issuer.clone().next().ok_or("The token's issuer is not trusted.")?;
        let trusted = of_issuer.find(|trusted| claims.match_audience(&trusted.issuer)).unwrap_or(first);
        // The claims are checked first, so that an invalid token causes no request to its issuer. No claim is used
        // before the signature is verified.
        if !ALGORITHMS.contains(&header.alg) {
            return Err("The token's algorithm is not RS256, ES256 or EdDSA.".into());
        }
        if header.crit.is_some() {
            return Err("The token's header has `crit`, and no extension is supported.".into());
        }
        let known = claims.into_known(&trusted.issuer, engines.clock.seconds())?;
        let key = trusted.keys.find(header.kid.as_deref(), engines).await.map_err(TokenError::Unavailable)?;
        let key = key.ok_or("The token's key is not among the keys of its issuer.")?;
        if header.alg != key.algorithm {
            return Err("The token's algorithm differs from the algorithm of its key.".into());
        }
        match crypto::verify(signature, message.as_bytes(), &key.key, key.algorithm) {
            Ok(true) => Ok(known),
            Ok(false) | Err(_) => Err("The token's signature is invalid.".into()),
        }
    }
}

impl From<&'static str> for TokenError {
    fn from(reason: &'static str) -> Self {
        Self::Invalid(reason)
    }
}

impl KeySource {
    fn new(issuer: &Issuer) -> Self {
        match &issuer.keys {
            Keys::Set(document) => Self::Configured { document: document.clone(), keys: OnceLock::new() },
            Keys::At(url) => Self::Remote(Remote::new(url)),
        }
    }

    async fn prepare(&self, engines: &Engines) {
        match self {
            Self::Configured { document, keys } => _ = keys.get_or_init(|| KeySet::parse(document.as_bytes())),
            Self::Remote(remote) => remote.prepare(&engines.clock).await,
            // A failure is repeated by the first token.
            Self::Derived(derived) => _ = derived.key(None, engines).await,
        }
    }

    async fn find(&self, id: Option<&str>, engines: &Engines) -> Result<Option<Arc<Key>>, Unavailable> {
        let (document, keys) = match self {
            Self::Configured { document, keys } => (document, keys),
            Self::Remote(remote) => return remote.key(id, &engines.clock).await,
            Self::Derived(derived) => return derived.key(id, engines).await,
        };
        let keys = keys.get_or_init(|| KeySet::parse(document.as_bytes()));
        if keys.is_none() {
            tracing::error!("configured JWK set has no key for RS256, ES256 or EdDSA");
        }
        Ok(keys.as_ref().and_then(|keys| keys.find(id)))
    }
}

impl Claims {
    /// Returns the claim of this name, or the nested claim at this path of names separated by dots.
    fn named(&self, name: &str) -> Option<&Value> {
        self.others.get(name).or_else(|| {
            let (first, rest) = name.split_once('.')?;
            rest.split('.').try_fold(self.others.get(first)?, |claim, name| claim.get(name))
        })
    }

    fn match_audience(&self, issuer: &Issuer) -> bool {
        match self.named(&issuer.claims.audience) {
            Some(Value::String(known)) => *known == issuer.audience,
            Some(Value::Array(all)) => all.iter().any(|known| *known == issuer.audience),
            _ => false,
        }
    }

    /// Returns the roles, renamed as the issuer's configuration says.
    fn roles(&self, issuer: &Issuer) -> Result<Vec<String>, &'static str> {
        let Some(roles) = self.named(&issuer.claims.roles) else { return Ok(Vec::new()) };
        let roles = Vec::<String>::deserialize(roles)
            .map_err(|_| "The token's claim of roles has a wrong type; it must be an array of strings.")?;
        Ok(match &issuer.role_names {
            None => roles,
            Some(names) => roles.iter().filter_map(|role| names.get(role)).flatten().cloned().collect(),
        })
    }

    fn into_known(self, issuer: &Issuer, now: i64) -> Result<Known, &'static str> {
        let (now, leeway) = (now as f64, LEEWAY_SECONDS as f64);
        if !self.match_audience(issuer) {
            return Err("The token is for another audience.");
        }
        if now >= self.exp + leeway {
            return Err("The token has expired.");
        }
        if self.nbf.is_some_and(|from| now < from - leeway) {
            return Err("The token is not valid yet.");
        }
        let roles = self.roles(issuer)?;
        let verified = self.email_verified == Value::Bool(true);
        let mut known = Known::new(&issuer.name, self.sub).ok_or("The token's subject is empty or too long.")?;
        known.roles = roles;
        known.scopes = self.scope.split_whitespace().map(str::to_owned).collect();
        known.name = self.name;
        known.address = self.email.filter(|_| verified);
        known.session = self.others.get("sid").and_then(Value::as_str).map(str::to_owned);
        Ok(known)
    }
}

#[cfg(test)]
mod tests {
    use jsonwebtoken::jwk::Jwk;
    use jsonwebtoken::{Algorithm, EncodingKey, Header};
    use serde_json::json;
    use table::access::{AccessPattern, OnSecret};
    use table::{Clock, Config};

    use super::*;

    /// PKCS #8 of a P-256 key (RFC 5915) up to the 32 bytes of the key itself.
    const P256_HEAD: [u8; 35] = [
        0x30, 0x41, 0x02, 0x01, 0x00, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08,
        0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x04, 0x27, 0x30, 0x25, 0x02, 0x01, 0x01, 0x04, 0x20,
    ];

    /// A key that was created for this test and signs nothing else.
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

    fn engines() -> Arc<Engines> {
        Engines::new(Config::new("ca-central-1", "http://127.0.0.1:9"), Clock::system())
    }

    async fn verify(trust: &Trust, token: &str) -> Result<Known, &'static str> {
        trust.verify(token, &engines()).await.map_err(|error| match error {
            TokenError::Invalid(reason) => reason,
            TokenError::Unavailable(unavailable) => panic!("{unavailable:?}"),
        })
    }

    #[tokio::test]
    async fn token_signed_by_rsa_or_p256_is_accepted() {
        for (key, algorithm) in [(rsa(), Algorithm::RS256), (p256(), Algorithm::ES256)] {
            let trust = trust(&[jwk(&key, algorithm, Some("k"))]);
            let known = verify(&trust, &token(&key, algorithm, Some("k"), &claims())).await.unwrap();
            assert_eq!((known.idpid().as_str(), known.scopes.len(), known.has_role("r")), ("i:s", 2, true));
        }
    }

    #[tokio::test]
    async fn token_with_another_algorithm_than_its_key_is_refused() {
        let trust = trust(&[jwk(&rsa(), Algorithm::RS256, None)]);
        for algorithm in [Algorithm::PS256, Algorithm::RS512] {
            let other = token(&rsa(), algorithm, None, &claims());
            let reason = "The token's algorithm is not RS256, ES256 or EdDSA.";
            assert_eq!(verify(&trust, &other).await, Err(reason));
        }
        let other = token(&p256(), Algorithm::ES256, None, &claims());
        assert_eq!(verify(&trust, &other).await, Err("The token's algorithm differs from the algorithm of its key."));
    }

    #[tokio::test]
    async fn token_without_key_id_is_accepted_only_if_its_issuer_has_one_key() {
        let (rsa, p256) = (rsa(), p256());
        let unnamed = token(&rsa, Algorithm::RS256, None, &claims());
        let one = jwk(&rsa, Algorithm::RS256, Some("k"));
        let other = jwk(&p256, Algorithm::ES256, Some("l"));
        assert!(verify(&trust(std::slice::from_ref(&one)), &unnamed).await.is_ok());
        let refused = verify(&trust(&[one, other]), &unnamed).await;
        assert_eq!(refused, Err("The token's key is not among the keys of its issuer."));
    }

    #[tokio::test]
    async fn issuer_trusted_for_two_audiences_has_keys_for_each() {
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
            // The keys of one audience do not sign for the other.
            let other = if audience == "a" { "c" } else { "a" };
            claims["aud"] = other.into();
            let refused = verify(&trust, &token(key, algorithm, None, &claims)).await;
            assert_eq!(refused, Err("The token's algorithm differs from the algorithm of its key."));
        }
        claims["aud"] = "d".into();
        let refused = verify(&trust, &token(&rsa, Algorithm::RS256, None, &claims)).await;
        assert_eq!(refused, Err("The token is for another audience."));
    }

    #[tokio::test]
    async fn configured_issuer_with_the_name_of_the_own_one_is_not_trusted() {
        static READ: AccessPattern = AccessPattern::new("read", &[OnSecret("s").read()]);
        let (key, engines) = (p256(), engines());
        let signed = token(&key, Algorithm::ES256, None, &claims());
        for (name, expected) in [("other", Ok(())), ("i", Err("The token's issuer is not trusted."))] {
            let own = OwnIssuer { name, audience: "a", secret: "s", pattern: &READ };
            let trust = trust(&[jwk(&key, Algorithm::ES256, None)]).with_own(&own, &engines);
            assert_eq!(verify(&trust, &signed).await.map(|_| ()), expected, "{name}");
        }
    }

    #[tokio::test]
    async fn unverified_email_address_is_ignored() {
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
    async fn token_with_claim_of_wrong_type_is_refused() {
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
