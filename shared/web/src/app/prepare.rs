//! What a function makes before its first event, which then does not wait for it: Lambda gives a start more of a processor
//! than an event.

use std::collections::BTreeSet;
use std::time::Duration;

use futures::future::join_all;
use table::AccessPattern;
use table::connect::Engine;
use tokio::time::timeout;

use super::App;
use crate::route::Serve;

/// Longer than a connection takes that comes about, and far from the ten seconds that Lambda gives a start.
const PATIENCE: Duration = Duration::from_secs(2);

impl App {
    /// Makes what the one route or event handler that is served declares: the clients of its engines and a connection to
    /// each, the checks of its requests, and, where it lets nobody in without a token, the keys of the issuers. Nothing
    /// where the app serves a whole system. What fails, or takes long, is made when it is needed.
    pub async fn prepare(&self) {
        let Some(name) = self.only else { return };
        let served = self.served.iter().find(|served| served.route.name == name);
        let handler = self.handlers.iter().find(|own| own.name == name);
        let patterns = served.map(|served| served.route.patterns).or(handler.map(|own| own.patterns));
        let further = handler.map_or(&[][..], |own| own.engines);
        let connected = join_all(
            engines(patterns.unwrap_or_default(), further).into_iter().map(|engine| self.engines.connect(engine)),
        );
        let keys = async {
            if served.is_some_and(|served| !served.route.who.is_open()) {
                self.trust.prepare(&self.engines.clock).await;
            }
        };
        // Last, so that the others are under way meanwhile.
        let checks = async {
            if let Some(served) = served {
                served.prepare(self.formats);
                if matches!(served.route.serve, Serve::Description) {
                    self.description();
                }
            }
        };
        if timeout(PATIENCE, async { tokio::join!(connected, keys, checks) }).await.is_err() {
            tracing::debug!("an engine or an issuer does not answer");
        }
    }
}

fn engines(patterns: &[&AccessPattern], further: &[Engine]) -> BTreeSet<Engine> {
    let calls = patterns.iter().flat_map(|pattern| pattern.calls);
    calls.map(|call| call.engine()).chain(further.iter().copied()).collect()
}
