//! The public keys of a system's own issuer, which follow from a secret of the system.

use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, PoisonError};

use table::{Engines, Secret};

use super::keys::{Key, KeySet};
use super::remote::Unavailable;
use crate::issuer;

/// The seconds after which a client retries when the secret is unavailable.
const RETRY_AFTER: u32 = 1;

/// The keys of a system's own issuer.
#[derive(Debug)]
pub(super) struct Derived {
    secret: &'static str,
    cached: Mutex<Option<Cached>>,
}

#[derive(Debug)]
struct Cached {
    secret: Arc<Secret>,
    periods: RangeInclusive<i64>,
    keys: Arc<KeySet>,
}

impl Derived {
    pub fn new(secret: &'static str) -> Self {
        Self { secret, cached: Mutex::default() }
    }

    /// Returns the key with this id among those that are valid now.
    pub async fn key(&self, id: Option<&str>, engines: &Engines) -> Result<Option<Arc<Key>>, Unavailable> {
        let unavailable = |cause: String| Unavailable { cause, retry_after: RETRY_AFTER };
        let secret = engines.secret(self.secret).await.map_err(|error| unavailable(error.to_string()))?;
        let keys = self.keys(secret, engines.clock.seconds()).map_err(unavailable)?;
        Ok(keys.find(id))
    }

    fn keys(&self, secret: Arc<Secret>, now: i64) -> Result<Arc<KeySet>, String> {
        let periods = issuer::valid_periods(now);
        let mut cached = self.cached.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = cached.as_ref().filter(|known| known.periods == periods && known.secret == secret) {
            return Ok(Arc::clone(&known.keys));
        }
        let document = issuer::jwks(&secret, now).map_err(|error| error.to_string())?;
        let keys = Arc::new(KeySet::parse(document.as_bytes()).ok_or("the derived keys are no JWK set")?);
        *cached = Some(Cached { secret, periods, keys: Arc::clone(&keys) });
        Ok(keys)
    }
}
