//! Tracker behind a gateway, on a dynoxide of its own and with nothing else: its table has no stream, so that no mirror
//! works beside what is measured, and the orders of a grid that search serves are not there.

use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, PoisonError};

use local::engine::dynoxide::Dynoxide;
use local::gateway::Gateway;
use local::identity::{ISSUER, Identity};
use local::platform::CREDENTIALS;
use serde_json::Value;
use table::schema::{System, Table};
use table::{Clock, Config, Engines, create_tables};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tracker::schema::TRACKER;

use crate::Failure;
use crate::tenant::{ADMINISTRATOR, Tenant};

static TABLE: Table = Table { stream: false, ..TRACKER };
static SYSTEM: System = System { tables: &[&TABLE], ..tracker::SYSTEM };

/// Nothing listens there.
const NO_SEARCH: &str = "http://127.0.0.1:1";

#[derive(Debug)]
pub struct BareTracker {
    pub engines: Arc<Engines>,
    pub tenant: Tenant,
    metrics: Arc<Mutex<String>>,
    gateway: Gateway,
    dynoxide: Dynoxide,
    state: TempDir,
}

impl BareTracker {
    pub async fn start() -> Result<Self, Failure> {
        let state = tempfile::tempdir()?;
        let dynoxide = Dynoxide::start(Some(&state.path().join("dynamodb.sqlite"))).await?;
        let identity = Identity::open(state.path())?;
        let config = Config {
            dynamodb: Some(dynoxide.endpoint.clone()),
            credentials: Some((CREDENTIALS.0.to_owned(), CREDENTIALS.1.to_owned())),
            cursor_secrets: vec![identity.cursor_secret.clone()],
            issuers: vec![identity.issuer(ISSUER)],
            ..Config::new("local", NO_SEARCH)
        };
        let engines = Engines::new(config, Clock::system());
        create_tables(engines.dynamodb(), &engines.config, &SYSTEM).await?;

        let metrics = Arc::new(Mutex::new(String::new()));
        let last = Arc::clone(&metrics);
        let keep = move |line: &str| line.clone_into(&mut last.lock().unwrap_or_else(PoisonError::into_inner));
        let app = Arc::new(tracker::app(Arc::clone(&engines)).metrics_to(keep));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let gateway = Gateway::start(listener, move |request| {
            let app = Arc::clone(&app);
            async move { app.handle(request).await }
        })?;
        let (subject, roles) = ADMINISTRATOR;
        let token = identity.token(subject, roles, &engines.clock)?;
        let tenant = Tenant::open(&format!("http://{}", gateway.address()), token).await?;
        Ok(Self { engines, tenant, metrics, gateway, dynoxide, state })
    }

    /// What the last request consumed, in read units.
    pub fn read_units(&self) -> Result<f64, Failure> {
        let line: Value = serde_json::from_str(&self.metrics.lock().unwrap_or_else(PoisonError::into_inner))?;
        Ok(line.get("ReadUnits").and_then(Value::as_f64).ok_or("a metrics line without what was consumed")?)
    }

    pub async fn stop(self) -> Result<(), Failure> {
        self.gateway.stop().await;
        drop(self.engines);
        self.dynoxide.stop().await;
        Ok(self.state.close()?)
    }
}
