//! The key set that an issuer publishes at a URL. It is fetched when a token needs it, or before, and cached.

use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use http::header;
use reqwest::{Client, redirect};
use table::{Clock, no_answer};
use tokio::sync::Mutex;

use super::keys::{Key, KeySet};

/// The timeout of a request for a key set.
const TIMEOUT: Duration = Duration::from_secs(3);

/// The largest key set in bytes, many times the size of those that issuers publish.
const MAX_BYTES: usize = 256 * 1024;

/// The age in seconds after which cached keys are fetched again, since an issuer may have withdrawn one.
const MAX_AGE: i64 = 3600;

/// The pause in seconds after a response without the key, or after a failure while older keys are cached.
const PAUSE: i64 = 60;

/// The pause in seconds after a failure while no key is cached, and so no token of this issuer can be verified.
const PAUSE_WITHOUT_KEYS: i64 = 5;

/// The published keys of an issuer.
#[derive(Debug)]
pub(super) struct Remote {
    url: String,
    cache: RwLock<Option<Cached>>,
    /// Locked while a request fetches the key set. Requests whose key is not cached wait for the lock.
    attempt: Mutex<Attempt>,
}

/// The key is not cached and the key set cannot be fetched, so the token may be valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unavailable {
    /// The reason, for the log.
    pub cause: String,
    /// The seconds until the next fetch.
    pub retry_after: u32,
}

#[derive(Clone, Debug)]
struct Cached {
    keys: Arc<KeySet>,
    fetched_at: i64,
}

/// The last fetch, in epoch seconds.
#[derive(Debug, Default)]
struct Attempt {
    at: i64,
    pause: i64,
    failure: Option<String>,
}

impl Remote {
    pub fn new(url: &str) -> Self {
        Self { url: url.to_owned(), cache: RwLock::default(), attempt: Mutex::default() }
    }

    /// Returns the key with this id, or the only key if there is no id; `None` if the issuer has no such key.
    pub async fn key(&self, id: Option<&str>, clock: &Clock) -> Result<Option<Arc<Key>>, Unavailable> {
        let now = clock.seconds();
        let mut attempt = match self.find(id) {
            Some((key, fetched_at)) if now < fetched_at + MAX_AGE => return Ok(Some(key)),
            // One request fetches the new keys; the others use the old ones.
            Some((key, _)) => match self.attempt.try_lock() {
                Ok(attempt) => attempt,
                Err(_) => return Ok(Some(key)),
            },
            None => self.attempt.lock().await,
        };
        let now = clock.seconds();
        let is_fresh = self.find(id).is_some_and(|(_, fetched_at)| now < fetched_at + MAX_AGE);
        if !is_fresh && !(attempt.at..attempt.at + attempt.pause).contains(&now) {
            self.refresh(id, &mut attempt, now).await;
        }
        match (self.find(id), &attempt.failure) {
            (Some((key, _)), _) => Ok(Some(key)),
            (None, None) => Ok(None),
            (None, Some(cause)) => {
                // At least a second, also if the pause has ended since.
                let retry_after = u32::try_from(attempt.at + attempt.pause - now).map_or(1, |seconds| seconds.max(1));
                Err(Unavailable { cause: cause.clone(), retry_after })
            }
        }
    }

    /// Fetches the key set before a token arrives. After a failure the first token fetches it, without a pause.
    pub async fn prepare(&self, clock: &Clock) {
        let attempt = self.attempt.lock().await;
        match self.fetch().await {
            Ok(keys) => self.store(keys, clock.seconds()),
            Err(cause) => tracing::debug!(url = self.url, cause, "key set of an issuer not fetched at start"),
        }
        drop(attempt);
    }

    fn store(&self, keys: KeySet, fetched_at: i64) {
        *self.cache.write().unwrap_or_else(PoisonError::into_inner) = Some(Cached { keys: Arc::new(keys), fetched_at });
    }

    /// Returns the cached key and the time when it was fetched.
    fn find(&self, id: Option<&str>) -> Option<(Arc<Key>, i64)> {
        let cache = self.cache.read().unwrap_or_else(PoisonError::into_inner);
        cache.as_ref().and_then(|cached| Some((cached.keys.find(id)?, cached.fetched_at)))
    }

    /// Fetches the key set for a token with this key id. After a failure the cached keys stay.
    async fn refresh(&self, id: Option<&str>, attempt: &mut Attempt, now: i64) {
        let has_keys = self.cache.read().unwrap_or_else(PoisonError::into_inner).is_some();
        let pause = if has_keys { PAUSE } else { PAUSE_WITHOUT_KEYS };
        // If this request is cancelled before the response arrives, the requests that wait do not all fetch again.
        *attempt = Attempt { at: now, pause, failure: Some("the request that fetched it was cancelled".to_owned()) };
        match self.fetch().await {
            Ok(keys) => {
                // No pause after a success, since the next unknown key may be a new one as well.
                attempt.pause = if keys.find(id).is_some() { 0 } else { PAUSE };
                attempt.failure = None;
                self.store(keys, now);
            }
            Err(cause) => {
                tracing::warn!(url = self.url, cause, "key set of an issuer not fetched");
                attempt.failure = Some(cause);
            }
        }
    }

    async fn fetch(&self) -> Result<KeySet, String> {
        let request =
            client(&self.url)?.get(&self.url).header(header::ACCEPT, "application/jwk-set+json, application/json");
        let mut response = request.send().await.map_err(|error| no_answer::describe(&error))?;
        let status = response.status();
        if status != 200 {
            return Err(format!("its URL responded with {status}"));
        }
        let mut document = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| no_answer::describe(&error))? {
            document.extend_from_slice(&chunk);
            if document.len() > MAX_BYTES {
                return Err(format!("it has more than {MAX_BYTES} bytes"));
            }
        }
        KeySet::parse(&document).ok_or_else(|| "it is not a JWK set with a key for RS256, ES256 or EdDSA".to_owned())
    }
}

/// Returns the client for URLs with TLS, or for those without, which uses no proxy. It follows no redirects. Creating
/// one reads all root certificates of the machine, so all key sets of the process share it.
fn client(url: &str) -> Result<&'static Client, String> {
    static WITH_TLS: OnceLock<Client> = OnceLock::new();
    static WITHOUT_TLS: OnceLock<Client> = OnceLock::new();
    let with_tls = url.starts_with("https:");
    let shared = if with_tls { &WITH_TLS } else { &WITHOUT_TLS };
    if let Some(client) = shared.get() {
        return Ok(client);
    }
    // Fetches are too rare to keep a connection open.
    let client = Client::builder().timeout(TIMEOUT).redirect(redirect::Policy::none()).pool_max_idle_per_host(0);
    let client = if with_tls { client } else { client.no_proxy() };
    let client = client.no_gzip().build().map_err(|error| no_answer::describe(&error))?;
    Ok(shared.get_or_init(|| client))
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn key_set_that_failed_at_start_is_fetched_by_first_token_without_pause() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let remote = Remote::new(&format!("http://{}/jwks", listener.local_addr().unwrap()));
        let clock = Clock::system();
        tokio::join!(remote.prepare(&clock), async { drop(listener.accept().await.unwrap()) });
        tokio::select! {
            _ = listener.accept() => {}
            _ = remote.key(Some("k"), &clock) => panic!("the key set is not fetched"),
        }
    }

    #[tokio::test]
    async fn cancelled_fetch_delays_the_next_one() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let remote = Remote::new(&format!("http://{}/jwks", listener.local_addr().unwrap()));
        let clock = Clock::system();
        let connection = tokio::select! {
            connection = listener.accept() => connection.unwrap(),
            _ = remote.key(Some("k"), &clock) => panic!("there is no response"),
        };
        let unavailable = remote.key(Some("k"), &clock).await.unwrap_err();
        assert!(
            unavailable.cause.contains("cancelled") && (1..=5).contains(&unavailable.retry_after),
            "{unavailable:?}"
        );
        drop(connection);
        clock.advance(Duration::from_secs(5));
        tokio::select! {
            _ = listener.accept() => {}
            _ = remote.key(Some("k"), &clock) => panic!("the key set is not fetched"),
        }
    }
}
