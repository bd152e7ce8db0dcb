//! Reads of secrets from AWS Secrets Manager, by one access pattern.

use std::sync::Arc;

use crate::Engines;
use crate::access::{Access, AccessPattern, Call};
use crate::error::Error;
use crate::secret::{Known, Secret};

/// The pause in seconds after a failure while an older value of the secret is known.
const PAUSE: i64 = 60;

impl Access {
    /// Returns the secret with this logical name, as [`Engines::secret`] does.
    pub async fn secret(&self, pattern: &'static AccessPattern, name: &'static str) -> Result<Arc<Secret>, Error> {
        let call = Call::Secret { secret: name };
        self.permit(pattern, call)?;
        let secret = self.engines().secret(name).await;
        self.record(pattern, call, (0.0, 0.0));
        secret
    }
}

impl Engines {
    /// Returns the secret with this logical name. It is read once and then again every [`secret_lifetime`], so that a
    /// new value is seen. While Secrets Manager fails, the older value stays in use.
    ///
    /// [`secret_lifetime`]: crate::Config::secret_lifetime
    pub async fn secret(&self, name: &'static str) -> Result<Arc<Secret>, Error> {
        let known = self.secrets.get(name);
        let now = self.clock.seconds();
        if let Some(known) = known.as_ref().filter(|known| now < known.until) {
            return Ok(Arc::clone(&known.secret));
        }
        // The type of a request to AWS is deep, and each future around it would be deeper.
        match (Box::pin(self.read_secret(name)).await, known) {
            (Ok(secret), _) => {
                let secret = Arc::new(secret);
                let lifetime = i64::try_from(self.config.secret_lifetime.as_secs()).unwrap_or(i64::MAX);
                let until = now.saturating_add(lifetime);
                self.secrets.set(name, Known { secret: Arc::clone(&secret), until });
                Ok(secret)
            }
            (Err(error), Some(known)) => {
                tracing::warn!(secret.name = name, error = %error, "secret not read; its older value stays in use");
                self.secrets.set(name, Known { until: now + PAUSE, ..known.clone() });
                Ok(known.secret)
            }
            (Err(error), None) => Err(error),
        }
    }

    async fn read_secret(&self, name: &str) -> Result<Secret, Error> {
        let failed = |source| Error::Engine { engine: "Secrets Manager", source };
        let read = self.secretsmanager().get_secret_value().secret_id(self.config.secret(name)).send().await;
        let value = read.map_err(|error| failed(Box::new(error)))?.secret_string;
        let value = value.filter(|value| !value.is_empty());
        value.map(Secret::new).ok_or_else(|| failed(format!("the secret `{name}` has no text").into()))
    }
}
