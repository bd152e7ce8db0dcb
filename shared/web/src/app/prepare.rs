//! Preparations before the first event, which then does not wait for them. Lambda gives the start of a function a larger
//! share of a processor than an event.

use std::collections::BTreeSet;
use std::time::Duration;

use futures::future::join_all;
use table::AccessPattern;
use table::connect::Engine;
use tokio::time::timeout;

use super::App;
use crate::route::Serve;

/// Longer than any successful connection takes, and far below the ten seconds of Lambda for a start.
const TIMEOUT: Duration = Duration::from_secs(2);

impl App {
    /// Prepares the one route or event handler that the app serves: the clients of its engines with a connection to each,
    /// its compiled shapes and, if it requires a token, the keys of the issuers. An app that serves a whole system
    /// prepares nothing. A preparation that fails or takes long is repeated when it is needed.
    pub async fn prepare(&self) {
        let Some(name) = self.only else { return };
        let endpoint = self.endpoints.iter().find(|endpoint| endpoint.route.name == name);
        let handler = self.handlers.iter().find(|own| own.name == name);
        let patterns = endpoint.map(|endpoint| endpoint.route.patterns).or(handler.map(|own| own.patterns));
        let further = handler.map_or(&[][..], |own| own.engines);
        let connected =
            join_all(engines(patterns.unwrap_or(&[]), further).into_iter().map(|engine| self.engines.connect(engine)));
        let keys = async {
            if endpoint.is_some_and(|endpoint| !endpoint.route.who.is_open()) {
                self.trust.prepare(&self.engines).await;
            }
        };
        // This one comes last, since it computes without waiting: the requests of the others are sent before.
        let shapes = async {
            if let Some(endpoint) = endpoint {
                endpoint.prepare(self.formats);
                if matches!(endpoint.route.serve, Serve::Description) {
                    self.description();
                }
            }
        };
        if timeout(TIMEOUT, async { tokio::join!(connected, keys, shapes) }).await.is_err() {
            tracing::debug!("preparation timed out: no response from an engine or an issuer");
        }
    }
}

fn engines(patterns: &[&AccessPattern], further: &[Engine]) -> BTreeSet<Engine> {
    let calls = patterns.iter().flat_map(|pattern| pattern.calls);
    calls.map(|call| call.engine()).chain(further.iter().copied()).collect()
}
