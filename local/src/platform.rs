//! The whole platform: engines, tables and buckets, the index, event sources and the gateway, started in this order
//! and stopped in the other.

mod dynamodb;
mod index;
mod sources;

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::future::{BoxFuture, join_all, select_all};
use http::{Request, Response};
use mirror::{Mapping, Mirrored, Repairing, Scanned};
use table::config::LEASE;
use table::schema::{System, Table, create_tables};
use table::{Clock, Config, Engines, Key};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use web::App;

use crate::engine::objects::Objects;
use crate::error::StartError;
use crate::gateway::Gateway;
use crate::identity::{self, Identity};
use crate::install::{Cache, Tools};
use crate::process::{Death, Process};
use crate::progress::Progress;
use crate::search::{self, Choice};
use crate::source;
use crate::state::State;

pub use dynamodb::Dynamodb;
use sources::Sources;

/// A system and what is made of it.
#[derive(Clone, Copy, Debug)]
pub struct Served {
    pub system: &'static System,
    pub app: fn(Arc<Engines>) -> App,
    /// The mapping that its documents are made for.
    pub mapping: fn() -> Mapping,
    /// Makes the system's first index, or goes on where an earlier call was stopped.
    pub first_index: fn(Arc<Engines>, Scanned) -> BoxFuture<'static, Result<mirror::Generation, mirror::Fault>>,
    /// Brings the documents of one key to what its table has.
    pub repair: fn(Arc<Engines>, &'static Table, Key) -> Repairing,
}

impl Served {
    /// A system by its app and its mirror.
    pub const fn of<M: Mirrored>(system: &'static System, app: fn(Arc<Engines>) -> App) -> Self {
        Self {
            system,
            app,
            mapping: || M::default().mapping(),
            first_index: mirror::first_index::<M>,
            repair: mirror::repair::<M>,
        }
    }
}

/// What to start.
#[derive(Debug)]
pub struct Options {
    pub systems: Vec<Served>,
    /// The state folder, made if it is not there.
    pub state: PathBuf,
    /// The gateway's port on 127.0.0.1; 0 lets the system choose.
    pub port: u16,
    pub search: Choice,
    pub dynamodb: Dynamodb,
    /// Before every table, bucket and index name, so that several platforms can share an engine.
    pub prefix: String,
    pub clock: Clock,
    /// The names under which the platform issues tokens.
    pub issuers: Vec<String>,
    pub sources: source::Settings,
    /// Through what a system sees the engines: a recorder of its requests, or nothing.
    pub through: fn(&System, &Arc<Engines>) -> Arc<Engines>,
    /// How long work that outlives a request is its worker's after the worker died.
    pub lease: Duration,
    pub tools: Tools,
    pub cache: Cache,
}

/// A running platform. Dropped, it is gone at once; [`Platform::stop`] lets it finish what is under way.
#[derive(Debug)]
pub struct Platform {
    /// Where the gateway is: `http://127.0.0.1:8080`.
    pub url: String,
    pub engines: Arc<Engines>,
    pub identity: Identity,
    apps: Vec<Arc<App>>,
    gateway: Gateway,
    sources: Sources,
    objects: Objects,
    dynamodb: dynamodb::Running,
    search: Option<Process>,
    _state: State,
}

/// The credentials that the local DynamoDB and S3 take.
pub const CREDENTIALS: (&str, &str) = ("local", "local");

impl Options {
    /// These systems as the command runs them: state in `state`, the best engines that the machine has.
    pub fn new(systems: Vec<Served>, state: impl Into<PathBuf>) -> Self {
        Self {
            systems,
            state: state.into(),
            port: 0,
            search: Choice::Best,
            dynamodb: Dynamodb::Dynoxide,
            prefix: String::new(),
            clock: Clock::system(),
            issuers: vec![identity::ISSUER.to_owned()],
            sources: source::Settings::default(),
            through: |_, engines| Arc::clone(engines),
            lease: LEASE,
            tools: Tools::from_env(),
            cache: Cache::from_env(),
        }
    }
}

impl Platform {
    /// Starts everything; when it returns, the gateway answers and search has what the tables have.
    pub async fn start(options: Options, progress: &Progress) -> Result<Self, StartError> {
        let listener = listen(options.port).await?;
        let mut state = State::open(&options.state)?;
        let identity = Identity::open(&options.state)?;
        identity::issue_as(&options.state, &options.issuers)?;

        let (tell, stored) = mpsc::unbounded_channel();
        let (search, dynamodb) = tokio::try_join!(
            search::start(&options.search, &options.tools, &options.cache, &state, progress),
            dynamodb::start(&options.dynamodb, &options.tools, &options.cache, &state, progress),
        )?;
        let objects = Objects::start(&state.path("objects"), CREDENTIALS, tell.clone()).await?;
        let config = Config {
            prefix: options.prefix,
            dynamodb: Some(dynamodb.endpoint.clone()),
            s3: Some(objects.endpoint.clone()),
            credentials: Some((CREDENTIALS.0.to_owned(), CREDENTIALS.1.to_owned())),
            cursor_secrets: vec![identity.cursor_secret.clone()],
            issuers: options.issuers.iter().map(|name| identity.issuer(name)).collect(),
            lease: options.lease,
            ..Config::new("local", &search.url)
        };
        let engines = Engines::new(config, options.clock);
        for served in &options.systems {
            provision(&engines, &objects, served.system).await?;
            dynamodb.index_scans(&engines.config, served.system).await?;
        }
        let kept = state.was_searched_by(search.identity.as_deref());
        for served in &options.systems {
            index::bring_up(served, &engines, kept, progress).await?;
        }
        state.search_is(search.identity.as_deref())?;

        let apps: Vec<Arc<App>> = options
            .systems
            .iter()
            .map(|served| Arc::new((served.app)((options.through)(served.system, &engines)).metrics_to(log_metrics)))
            .collect();
        let objects_told = (tell, stored);
        let sources =
            Sources::start(&apps, &engines, &options.sources, &state, objects_told, dynamodb.sweeper()).await?;
        let gateway = Gateway::start(listener, gateway_of(&apps)).map_err(|error| {
            StartError::new(format!("The gateway did not start: {error}"), "Check the machine's network settings")
        })?;
        let url = format!("http://{}", gateway.address());
        let search = search.process;
        Ok(Self { url, engines, identity, apps, gateway, sources, objects, dynamodb, search, _state: state })
    }

    /// A system's handlers, as the gateway and the event sources call them.
    pub fn app(&self, system: &str) -> Option<&Arc<App>> {
        self.apps.iter().find(|app| app.system().name == system)
    }

    /// Where other programs find DynamoDB.
    pub fn dynamodb(&self) -> &str {
        &self.dynamodb.front
    }

    /// Waits until the events of all objects stored, and the stream records of all writes made before this call have
    /// been handled. Search shows it after its next refresh.
    pub async fn caught_up(&self) {
        self.sources.caught_up().await;
    }

    /// Waits until search shows all writes made before this call. An engine that does not answer is passed over: its
    /// next refresh shows them.
    pub async fn searchable(&self) {
        self.caught_up().await;
        let names = self.apps.iter().map(|app| self.engines.config.search_name(app.system().name));
        join_all(names.map(|name| index::refresh(&self.engines.config.search, name))).await;
    }

    /// Waits until an engine has ended by itself.
    pub async fn died(&self) -> Death {
        let processes = self.search.iter().chain(self.dynamodb.process.as_ref());
        let deaths: Vec<_> = processes.map(|process| Box::pin(process.died())).collect();
        if deaths.is_empty() {
            return std::future::pending().await;
        }
        select_all(deaths).await.0
    }

    /// Finishes requests, invocations and their checkpoints that are under way, then stops the engines.
    pub async fn stop(self) {
        self.engines.wind_down();
        self.gateway.stop().await;
        self.sources.stop().await;
        self.objects.stop().await;
        drop(self.apps);
        drop(self.engines);
        let search = async {
            if let Some(process) = self.search {
                process.stop().await;
            }
        };
        tokio::join!(self.dynamodb.stop(), search);
    }
}

async fn listen(port: u16) -> Result<TcpListener, StartError> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    TcpListener::bind(address).await.map_err(|error| {
        let happened = if error.kind() == std::io::ErrorKind::AddrInUse {
            format!("Port {port} is in use")
        } else {
            format!("Port {port} cannot be used: {error}")
        };
        StartError::new(happened, "Stop what uses it, or choose another with `--port`; 0 takes any that is free")
    })
}

/// The system's tables and buckets. Where its streams are read there is a bucket of its own name for what is given up.
async fn provision(engines: &Engines, objects: &Objects, system: &'static System) -> Result<(), StartError> {
    create_tables(engines.dynamodb(), &engines.config, system).await.map_err(|error| {
        StartError::new(
            format!("The tables of {} could not be made: {error}", system.name),
            "If they come from another version, `cairn local reset` starts over",
        )
    })?;
    let buckets = system.buckets.iter().map(|bucket| bucket.name).chain([system.name]);
    for bucket in buckets {
        objects.create_bucket(&engines.config.bucket(bucket))?;
    }
    Ok(())
}

/// Hands a request to the system that its path begins with.
fn gateway_of(apps: &[Arc<App>]) -> impl Fn(Request<Bytes>) -> BoxFuture<'static, Response<Bytes>> + Clone + use<> {
    let apps = Arc::<[Arc<App>]>::from(apps);
    move |request| {
        let first = request.uri().path().split('/').nth(1).unwrap_or_default();
        let app = apps.iter().find(|app| app.system().name == first).cloned();
        Box::pin(async move {
            match app {
                Some(app) if app.has_route(&request) => app.handle(request).await,
                _ => web::app::not_found(),
            }
        })
    }
}

fn log_metrics(line: &str) {
    tracing::info!(target: "metrics", "{line}");
}

/// Waits for all of these.
async fn all(waits: impl IntoIterator<Item = impl Future<Output = ()>>) {
    join_all(waits).await;
}
