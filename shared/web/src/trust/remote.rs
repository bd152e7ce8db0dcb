//! The key set that an issuer publishes by URL: fetched when a token comes that needs it, or before, and kept.

use std::error::Error;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use http::header;
use reqwest::{Client, redirect};
use table::Clock;
use tokio::sync::Mutex;

use super::keys::{Key, KeySet};

/// A key set that does not come within this time does not come.
const PATIENCE: Duration = Duration::from_secs(3);

/// The largest key set, in bytes: many times what issuers publish.
const LARGEST: usize = 256 * 1024;

/// How old keys become, in seconds, before they are fetched anew: an issuer may have withdrawn one.
const MAX_AGE: i64 = 3600;

/// How long nobody asks again, in seconds, after an answer that had not the key, or none where older keys are held.
const PAUSE: i64 = 60;

/// The same while there is no key at all, and so nobody of this issuer can be let in.
const FIRST_PAUSE: i64 = 5;

/// An issuer's published keys.
#[derive(Debug)]
pub(super) struct Remote {
    url: String,
    client: OnceLock<Client>,
    held: RwLock<Option<Held>>,
    /// Locked by the one who fetches; whoever needs a key that is not held waits here.
    attempt: Mutex<Attempt>,
}

/// No key fits and the key set cannot be had, so the token may be good or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unavailable {
    /// For the log.
    pub cause: String,
    /// When it is worth to try again, in seconds.
    pub retry_after: u32,
}

#[derive(Clone, Debug)]
struct Held {
    keys: Arc<KeySet>,
    since: i64,
}

/// The last time that somebody fetched, in epoch seconds.
#[derive(Debug, Default)]
struct Attempt {
    at: i64,
    pause: i64,
    failure: Option<String>,
}

impl Remote {
    pub fn new(url: &str) -> Self {
        Self { url: url.to_owned(), client: OnceLock::new(), held: RwLock::default(), attempt: Mutex::default() }
    }

    /// The key of this id, or the only one where there is no id; none if the issuer has none such.
    pub async fn key(&self, id: Option<&str>, clock: &Clock) -> Result<Option<Arc<Key>>, Unavailable> {
        let now = clock.seconds();
        let mut attempt = match self.find(id) {
            Some((key, since)) if now < since + MAX_AGE => return Ok(Some(key)),
            // One looks for new keys; the others go on with the old ones.
            Some((key, _)) => match self.attempt.try_lock() {
                Ok(attempt) => attempt,
                Err(_) => return Ok(Some(key)),
            },
            None => self.attempt.lock().await,
        };
        let now = clock.seconds();
        let since = self.find(id).map(|(_, since)| since);
        let is_fresh = since.is_some_and(|since| now < since + MAX_AGE);
        if !is_fresh && !(attempt.at..attempt.at + attempt.pause).contains(&now) {
            self.renew(id, &mut attempt, now).await;
        }
        match (self.find(id), &attempt.failure) {
            (Some((key, _)), _) => Ok(Some(key)),
            (None, None) => Ok(None),
            (None, Some(cause)) => {
                let wait = u32::try_from(attempt.at + attempt.pause - now).unwrap_or_default().max(1);
                Err(Unavailable { cause: cause.clone(), retry_after: wait })
            }
        }
    }

    /// Fetches the key set before a token comes. Where that fails, the first token fetches it, without a pause.
    pub async fn prepare(&self, clock: &Clock) {
        let attempt = self.attempt.lock().await;
        match self.fetch().await {
            Ok(keys) => self.hold(keys, clock.seconds()),
            Err(cause) => tracing::debug!(url = self.url, cause, "an issuer's key set cannot be fetched yet"),
        }
        drop(attempt);
    }

    fn hold(&self, keys: KeySet, since: i64) {
        *self.held.write().unwrap_or_else(PoisonError::into_inner) = Some(Held { keys: Arc::new(keys), since });
    }

    /// The key among those that are held, and since when they are.
    fn find(&self, id: Option<&str>) -> Option<(Arc<Key>, i64)> {
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
        held.as_ref().and_then(|held| Some((held.keys.find(id)?, held.since)))
    }

    /// Fetches the key set for a token of this key id. Keys that are held stay where that fails.
    async fn renew(&self, id: Option<&str>, attempt: &mut Attempt, now: i64) {
        let holds_any = self.held.read().unwrap_or_else(PoisonError::into_inner).is_some();
        let pause = if holds_any { PAUSE } else { FIRST_PAUSE };
        // If this request ends before the answer comes, those who wait for it do not all ask again.
        *attempt = Attempt { at: now, pause, failure: Some("the request that fetched it ended".to_owned()) };
        match self.fetch().await {
            Ok(keys) => {
                // What was looked for is there: the next unknown key may be a new one, too.
                attempt.pause = if keys.find(id).is_some() { 0 } else { PAUSE };
                attempt.failure = None;
                self.hold(keys, now);
            }
            Err(cause) => {
                tracing::warn!(url = self.url, cause, "an issuer's key set cannot be fetched");
                attempt.failure = Some(cause);
            }
        }
    }

    async fn fetch(&self) -> Result<KeySet, String> {
        let request =
            self.client()?.get(&self.url).header(header::ACCEPT, "application/jwk-set+json, application/json");
        let mut answer = request.send().await.map_err(told)?;
        let status = answer.status();
        if status != 200 {
            return Err(format!("its URL answered {status}"));
        }
        let mut document = Vec::new();
        while let Some(part) = answer.chunk().await.map_err(told)? {
            document.extend_from_slice(&part);
            if document.len() > LARGEST {
                return Err(format!("it has more than {LARGEST} bytes"));
            }
        }
        KeySet::read(&document).ok_or_else(|| "it is no JWK set with a key for RS256, ES256 or EdDSA".to_owned())
    }

    /// What the URL says is where it is: no redirects, and no proxy before this machine.
    fn client(&self) -> Result<&Client, String> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        // Fetches are so rare that no connection is worth being kept.
        let client = Client::builder().timeout(PATIENCE).redirect(redirect::Policy::none()).pool_max_idle_per_host(0);
        let client = if self.url.starts_with("https:") { client } else { client.no_proxy() };
        let client = client.no_gzip().build().map_err(told)?;
        Ok(self.client.get_or_init(|| client))
    }
}

/// The innermost reason of an error: "connection refused", not "error sending request".
fn told(error: reqwest::Error) -> String {
    let mut reason: &dyn Error = &error;
    while let Some(source) = reason.source() {
        reason = source;
    }
    reason.to_string()
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn what_failed_before_a_token_came_is_fetched_for_it_at_once() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let remote = Remote::new(&format!("http://{}/jwks", listener.local_addr().unwrap()));
        let clock = Clock::system();
        tokio::join!(remote.prepare(&clock), async { drop(listener.accept().await.unwrap()) });
        tokio::select! {
            _ = listener.accept() => {}
            _ = remote.key(Some("k"), &clock) => panic!("nobody was asked again"),
        }
    }

    #[tokio::test]
    async fn who_gives_up_waiting_does_not_send_the_next_one() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let remote = Remote::new(&format!("http://{}/jwks", listener.local_addr().unwrap()));
        let clock = Clock::system();
        let asked = tokio::select! {
            asked = listener.accept() => asked.unwrap(),
            _ = remote.key(Some("k"), &clock) => panic!("nothing was answered"),
        };
        let refused = remote.key(Some("k"), &clock).await.unwrap_err();
        assert!(refused.cause.contains("ended") && (1..=5).contains(&refused.retry_after), "{refused:?}");
        drop(asked);
        clock.advance(Duration::from_secs(5));
        tokio::select! {
            _ = listener.accept() => {}
            _ = remote.key(Some("k"), &clock) => panic!("nobody was asked again"),
        }
    }
}
