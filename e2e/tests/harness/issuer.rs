//! An issuer of bearer tokens that publishes its keys by URL and fails on demand.

use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use http_body_util::Full;
use hyper::Response;
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde::Serialize;
use serde_json::{Value, json};
use table::Clock;
use table::config::{Issuer, Keys};
use tokio::sync::watch;
use web::token::{Claims, SigningKey};

use super::server::Server;

/// The issuer, whose server is stopped when it is dropped.
pub struct TestIssuer {
    name: &'static str,
    url: String,
    published: Arc<Mutex<Published>>,
    fetched: Arc<AtomicUsize>,
    held: watch::Sender<bool>,
    _server: Server,
}

/// The response of the URL.
#[derive(Clone, Debug)]
pub enum Published {
    Keys(Vec<Value>),
    Text(String),
    Status(u16),
    /// The URL does not respond.
    Nothing,
}

/// A key pair and its id.
pub struct KeyPair {
    pub id: &'static str,
    algorithm: Algorithm,
    key: EncodingKey,
}

pub const AUDIENCE: &str = "https://cairn.test";

/// The PKCS #8 encoding of a P-256 key (RFC 5915) up to the 32 bytes of the key itself.
const P256_HEAD: [u8; 35] = [
    0x30, 0x41, 0x02, 0x01, 0x00, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a,
    0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x04, 0x27, 0x30, 0x25, 0x02, 0x01, 0x01, 0x04, 0x20,
];

impl TestIssuer {
    /// Starts an issuer with this configured name and these keys.
    pub async fn publishing(name: &'static str, keys: &[&KeyPair]) -> Self {
        let published = Arc::new(Mutex::new(Published::of(keys)));
        let fetched = Arc::<AtomicUsize>::default();
        let (held, hold) = watch::channel(false);
        let (now, count) = (Arc::clone(&published), Arc::clone(&fetched));
        let server = Server::start(move |_| {
            count.fetch_add(1, Ordering::SeqCst);
            let (now, mut hold) = (Arc::clone(&now), hold.clone());
            async move {
                let _ = hold.wait_for(|held| !held).await;
                let published = now.lock().unwrap().clone();
                Ok::<_, Infallible>(published.answer().await)
            }
        })
        .await;
        Self { name, url: format!("{}/jwks", server.url), published, fetched, held, _server: server }
    }

    /// Returns the configuration with which a platform trusts the issuer.
    pub fn trusted(&self) -> Issuer {
        let keys = Keys::At(self.url.clone());
        Issuer::new(self.name, &self.iss(), AUDIENCE, keys)
    }

    /// Sets the later responses of its URL.
    pub fn publish(&self, published: Published) {
        *self.published.lock().unwrap() = published;
    }

    /// Sets whether later requests to its URL must wait.
    pub fn hold(&self, held: bool) {
        self.held.send_replace(held);
    }

    /// Returns the number of times that its keys were fetched.
    pub fn fetched(&self) -> usize {
        self.fetched.load(Ordering::SeqCst)
    }

    /// Returns the claims of an administrator of parks for the next ten minutes.
    pub fn claims(&self, clock: &Clock) -> Claims {
        let now = clock.seconds();
        Claims {
            iss: self.iss(),
            sub: "ada".to_owned(),
            aud: AUDIENCE.to_owned(),
            iat: now,
            nbf: now,
            exp: now + 600,
            roles: vec!["parks-admin".to_owned()],
            ..Claims::default()
        }
    }

    /// Returns a token with these claims.
    pub fn token(&self, key: &KeyPair, clock: &Clock) -> String {
        key.sign(&self.claims(clock))
    }

    fn iss(&self) -> String {
        format!("https://{}.test", self.name)
    }
}

impl Published {
    pub fn of(keys: &[&KeyPair]) -> Self {
        Self::Keys(keys.iter().map(|key| key.public()).collect())
    }

    async fn answer(self) -> Response<Full<bytes::Bytes>> {
        let (status, body) = match self {
            Self::Keys(keys) => (200, json!({ "keys": keys }).to_string()),
            Self::Text(text) => (200, text),
            Self::Status(status) => (status, String::new()),
            Self::Nothing => std::future::pending().await,
        };
        // The target of redirects is the same URL, which would respond well.
        Response::builder().status(status).header("location", "/jwks").body(Full::new(body.into())).unwrap()
    }
}

impl KeyPair {
    /// The only RSA key of the tests.
    pub fn rs256(id: &'static str) -> Self {
        let key = include_bytes!("../../../shared/web/src/trust/rs256-test-key.der");
        Self { id, algorithm: Algorithm::RS256, key: EncodingKey::from_rsa_der(key) }
    }

    /// Returns the key with this number.
    pub fn es256(id: &'static str, number: u8) -> Self {
        let key = EncodingKey::from_ec_der(&[P256_HEAD.as_slice(), &[number; 32]].concat());
        Self { id, algorithm: Algorithm::ES256, key }
    }

    /// Creates a key.
    pub fn eddsa(id: &'static str) -> Self {
        let key = EncodingKey::from_ed_der(SigningKey::generate().unwrap().to_pkcs8());
        Self { id, algorithm: Algorithm::EdDSA, key }
    }

    /// Returns the public key as an entry of a key set.
    pub fn public(&self) -> Value {
        let mut jwk = Jwk::from_encoding_key(&self.key, self.algorithm).unwrap();
        jwk.common.key_id = Some(self.id.to_owned());
        serde_json::to_value(jwk).unwrap()
    }

    pub fn sign(&self, claims: &impl Serialize) -> String {
        self.sign_as(self.id, claims)
    }

    /// Returns a token that names another key.
    pub fn sign_as(&self, id: &str, claims: &impl Serialize) -> String {
        self.sign_under(&Header { kid: Some(id.to_owned()), ..Header::new(self.algorithm) }, claims)
    }

    /// Returns a token with this header.
    pub fn sign_under(&self, header: &Header, claims: &impl Serialize) -> String {
        jsonwebtoken::encode(header, claims, &self.key).unwrap()
    }
}
