//! The platform: engines, tables and buckets, the index, event sources and the gateway. They start in this order and
//! stop in reverse.

mod dynamodb;
mod index;
mod sources;
mod tables;

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures::future::{BoxFuture, join_all, select_all};
use http::{Request, Response};
use mirror::{
    AuditOptions, Auditing, Inspecting, Mapping, Mirrored, OnAuditStep, OnBatchRedriven, OnPageScanned, OnRebuildStep,
    Rebuild, Rebuilding, Redriving, Repairing, RepairingEntity,
};
use table::config::LEASE;
use table::schema::{
    DEAD_LETTER_DAYS, EventSource, MAX_RECEIVES, SOCKET_STAGE, System, Table, dead_letter_queue, failures_bucket,
    visibility_timeout,
};
use table::{Clock, Config, Engines, Key, create_tables};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use web::App;

use crate::engine::event_bus::EventBus;
use crate::engine::objects::Objects;
use crate::engine::queues::Queues;
use crate::engine::queues::messages::{DeadLetters, RETENTION, Settings};
use crate::engine::secrets::Secrets;
use crate::error::StartError;
use crate::gateway::{ForwardedFor, Gateway};
use crate::identity::{self, Identity};
use crate::install::{Cache, Tools};
use crate::process::{Death, Process};
use crate::progress::Progress;
use crate::search::{self, Choice};
use crate::socket::connections::Connections;
use crate::socket::management::Management;
use crate::socket::sockets::Sockets;
use crate::state::State;
use crate::{chat_client, index_page, socket, source};

pub use dynamodb::Dynamodb;
use sources::Sources;

/// A system with its app and the operations of its mirror.
#[derive(Clone, Copy, Debug)]
pub struct Served {
    pub system: &'static System,
    /// Whether it only shows how a system is written.
    pub is_example: bool,
    pub app: fn(Arc<Engines>) -> App,
    /// Returns the mapping of its documents.
    pub mapping: fn() -> Mapping,
    /// Returns the mapping of the release before, if the system still writes its index.
    pub previous_mapping: fn() -> Option<Mapping>,
    /// Returns the document of an item in DynamoDB JSON, with this version of the mapping, as text.
    pub sample_document: fn(u32, &'static Table, &str) -> Result<Option<String>, String>,
    /// Creates the system's first index, or resumes an interrupted run.
    pub first_index: fn(Arc<Engines>, OnRebuildStep) -> BoxFuture<'static, Result<mirror::Generation, mirror::Fault>>,
    /// Carries out an order about the rebuild of the system's index.
    pub rebuild: fn(Arc<Engines>, Rebuild, OnRebuildStep) -> Rebuilding,
    /// Reads one key in its table and in every index that is written.
    pub inspect: fn(Arc<Engines>, &'static Table, Key) -> Inspecting,
    /// Rebuilds the documents of one key from its table.
    pub repair: fn(Arc<Engines>, &'static Table, Key) -> Repairing,
    /// Compares the tables with the indexes, and repairs what differs.
    pub audit: fn(Arc<Engines>, AuditOptions, OnAuditStep) -> Auditing,
    /// Redrives the records that were given up and the items in quarantine.
    pub redrive: fn(Arc<Engines>, bool, OnBatchRedriven) -> Redriving,
    /// Rebuilds the documents of every item of an entity, by its name.
    pub repair_entity: fn(Arc<Engines>, String, OnPageScanned) -> RepairingEntity,
}

impl Served {
    /// Creates the entry of a system from its app and its mirror.
    pub const fn of<M: Mirrored>(system: &'static System, app: fn(Arc<Engines>) -> App) -> Self {
        Self {
            system,
            is_example: false,
            app,
            mapping: || M::default().mapping(),
            previous_mapping: || M::default().previous_mapping(),
            sample_document: |version, table, item| mirror::sample_document(&M::default(), version, table, item),
            first_index: mirror::first_index::<M>,
            rebuild: mirror::rebuild::<M>,
            inspect: mirror::inspect::<M>,
            repair: mirror::repair::<M>,
            audit: mirror::audit::<M>,
            redrive: mirror::redrive::<M>,
            repair_entity: mirror::repair_entity::<M>,
        }
    }

    /// Marks it as an example.
    pub const fn example(self) -> Self {
        Self { is_example: true, ..self }
    }

    /// Estimates the number of items that a scan of its searchable tables reads, for a progress bar.
    pub async fn count_items(&self, engines: &Engines) -> Option<u64> {
        let mut total = 0;
        for table in self.system.tables.iter().filter(|table| table.is_searchable()) {
            let described = engines.dynamodb().describe_table().table_name(engines.config.table(table.name)).send();
            total += u64::try_from(described.await.ok()?.table?.item_count?).ok()?;
        }
        Some(total)
    }

    /// Returns the folder of its crate, from the repository's root.
    pub fn folder(&self) -> String {
        format!("{}/{}", if self.is_example { "examples" } else { "functions" }, self.system.name)
    }
}

/// The options of a platform.
#[derive(Debug)]
pub struct Options {
    pub systems: Vec<Served>,
    /// The state folder, created if it does not exist.
    pub state: PathBuf,
    /// The gateway's port on 127.0.0.1; 0 chooses a free one.
    pub port: u16,
    /// Names that the gateway accepts as the `Host`, besides those of this machine.
    pub hosts: Vec<String>,
    pub search: Choice,
    pub dynamodb: Dynamodb,
    /// Prefix of every table, bucket and index name, so that several platforms can share an engine.
    pub prefix: String,
    pub clock: Clock,
    /// The names of the platform's issuers.
    pub issuers: Vec<String>,
    pub sources: source::Settings,
    /// Whether an index with the mapping of the release before is rebuilt at the start. Otherwise the platform writes it
    /// until an operator rebuilds it.
    pub rebuilds: bool,
    pub sockets: socket::Settings,
    pub forwarded_for: ForwardedFor,
    /// Wraps the engines of a system, for example with a recorder of its requests.
    pub through: fn(&System, &Arc<Engines>) -> Arc<Engines>,
    /// The lease of a background job.
    pub lease: Duration,
    /// The limits that differ from their defaults, by name.
    pub limits: BTreeMap<String, u32>,
    /// Whether people can register and log in to a system that issues tokens itself.
    pub own_login: bool,
    pub tools: Tools,
    pub cache: Cache,
}

/// A running platform. Dropping it ends it at once. [`Platform::stop`] first finishes requests and invocations.
#[derive(Debug)]
pub struct Platform {
    /// The URL of the gateway, such as `http://127.0.0.1:8080`.
    pub url: String,
    pub engines: Arc<Engines>,
    pub identity: Identity,
    /// The longest time that an invocation of a mirror takes.
    pub mirror_timeout: Duration,
    apps: Vec<Arc<App>>,
    gateway: Gateway,
    sources: Sources,
    sockets: Arc<Sockets>,
    management: Management,
    objects: Objects,
    queues: Queues,
    event_bus: EventBus,
    secrets: Secrets,
    dynamodb: dynamodb::Running,
    search: Option<Process>,
    _state: State,
}

/// The log of the event bus in the state folder: an event of JSON in each line.
pub const EVENT_LOG: &str = "events.jsonl";

/// The credentials of the local DynamoDB and S3.
pub const CREDENTIALS: (&str, &str) = ("local", "local");

impl Options {
    /// Returns the default options for these systems, with this state folder.
    pub fn new(systems: Vec<Served>, state: impl Into<PathBuf>) -> Self {
        Self {
            systems,
            state: state.into(),
            port: 0,
            hosts: Vec::new(),
            search: Choice::Best,
            dynamodb: Dynamodb::Dynoxide,
            prefix: String::new(),
            clock: Clock::system(),
            issuers: vec![identity::ISSUER.to_owned()],
            sources: source::Settings::default(),
            rebuilds: true,
            sockets: socket::Settings::default(),
            forwarded_for: ForwardedFor::default(),
            through: |_, engines| Arc::clone(engines),
            lease: LEASE,
            limits: BTreeMap::new(),
            own_login: true,
            tools: Tools::from_env(),
            cache: Cache::from_env(),
        }
    }
}

impl Platform {
    /// Starts the platform. When it returns, the gateway serves and search is up to date with the tables.
    pub async fn start(options: Options, progress: &Progress) -> Result<Self, StartError> {
        // A platform that runs on the same folder usually has the port, too.
        let mut state = State::open(&options.state)?;
        if state.has_completed_reset() {
            progress.note(format!("An interrupted reset of `{}` was completed.", options.state.display()));
        }
        state.check_tables(options.dynamodb.name())?;
        let listener = listen(options.port).await?;
        let identity = Identity::open(&options.state)?;
        identity::issue_as(&options.state, &options.issuers)?;

        let (tell, stored) = mpsc::unbounded_channel();
        let (search, dynamodb) = tokio::try_join!(
            search::start(&options.search, &options.tools, &options.cache, &state, progress),
            dynamodb::start(&options.dynamodb, &options.tools, &options.cache, &state, progress),
        )?;
        state.set_tables(options.dynamodb.name())?;
        let objects = Objects::start(&state.path("objects"), CREDENTIALS, tell.clone()).await?;
        let queues = Queues::start(&state.path("queues.sqlite"), options.clock.clone()).await?;
        let event_bus = EventBus::start(&state.path(EVENT_LOG)).await?;
        let connections = Arc::<Connections>::default();
        let management = Management::start(Arc::clone(&connections)).await?;
        let secrets = Secrets::start(&state.path("secrets")).await?;
        let config = Config {
            prefix: options.prefix,
            dynamodb: Some(dynamodb.endpoint.clone()),
            s3: Some(objects.endpoint.clone()),
            sqs: Some(queues.endpoint.clone()),
            eventbridge: Some(event_bus.endpoint.clone()),
            secretsmanager: Some(secrets.endpoint.clone()),
            queues: Some(queues.urls()),
            credentials: Some((CREDENTIALS.0.to_owned(), CREDENTIALS.1.to_owned())),
            cursor_secrets: vec![identity.cursor_secret.clone()],
            issuers: options.issuers.iter().map(|name| identity.issuer(name)).collect(),
            lease: options.lease,
            limits: options.limits,
            own_login: options.own_login,
            ..Config::new("local", &search.url)
        };
        let engines = Engines::new(config, options.clock);
        for served in &options.systems {
            provision(&engines, &objects, &secrets, served.system).await?;
            dynamodb.index_scans(&engines.config, served.system).await?;
        }
        let engine = search.identity.as_deref();
        let kept = state.has_indexes(engine);
        if !kept {
            if matches!(options.search, Choice::Url(_)) && !state.knows_search_engine(engine) {
                index::refuse_taken(&options.systems, &engines).await?;
            }
            state.begin_indexes(engine)?;
        }
        for served in &options.systems {
            index::bring_up(served, &engines, kept, options.rebuilds, progress).await?;
        }
        state.finish_indexes()?;

        let apps: Vec<Arc<App>> = options
            .systems
            .iter()
            .map(|served| {
                let engines = with_socket(&engines, served.system, &management, &listener);
                Arc::new((served.app)((options.through)(served.system, &engines)).metrics_to(log_metrics))
            })
            .collect();
        for app in &apps {
            create_queues(&queues, &engines.config, app);
        }
        let (objects_told, dynoxide) = ((tell, stored), dynamodb.dynoxide());
        let settings = &options.sources;
        let sources =
            Sources::start(&apps, &engines, settings, &state, objects_told, &queues.messages, dynoxide).await?;
        let sockets = Sockets::new(&apps, connections, &options.sockets, &settings.without);
        let sockets = Arc::new(sockets);
        let handle = gateway_of(&apps);
        let gateway =
            Gateway::with_sockets(listener, options.hosts, handle, Arc::clone(&sockets), options.forwarded_for);
        let gateway = gateway.map_err(|error| {
            StartError::new(format!("Starting the gateway failed: {error}"), "Check the machine's network settings")
        })?;
        let url = format!("http://{}", gateway.address());
        let search = search.process;
        Ok(Self {
            url,
            engines,
            identity,
            mirror_timeout: options.sources.mirror_timeout.min(mirror::TIMEOUT),
            apps,
            gateway,
            sources,
            sockets,
            management,
            objects,
            queues,
            event_bus,
            secrets,
            dynamodb,
            search,
            _state: state,
        })
    }

    /// Returns the app of a system.
    pub fn app(&self, system: &str) -> Option<&Arc<App>> {
        self.apps.iter().find(|app| app.system().name == system)
    }

    /// Returns the endpoint of DynamoDB for other programs.
    pub fn dynamodb(&self) -> &str {
        &self.dynamodb.front
    }

    /// Returns the endpoint of S3.
    pub fn s3(&self) -> &str {
        &self.objects.endpoint
    }

    /// Returns the endpoint of SQS.
    pub fn sqs(&self) -> &str {
        &self.queues.endpoint
    }

    /// Returns the endpoint of EventBridge.
    pub fn event_bus(&self) -> &str {
        &self.event_bus.endpoint
    }

    /// Returns the endpoint of Secrets Manager.
    pub fn secrets(&self) -> &str {
        &self.secrets.endpoint
    }

    /// Waits until the events of all objects and the stream records of all writes from before this call are handled.
    /// Search shows them after its next refresh.
    pub async fn caught_up(&self) {
        self.sources.caught_up().await;
    }

    /// Waits until search shows all writes from before this call. If the engine does not answer, its next refresh shows
    /// them.
    pub async fn searchable(&self) {
        self.sources.mirrored().await;
        let names = self.apps.iter().map(|app| self.engines.config.search_name(app.system().name));
        join_all(names.map(|name| index::refresh(&self.engines, name))).await;
    }

    /// Waits until an engine has died.
    pub async fn died(&self) -> Death {
        let processes = self.search.iter().chain(self.dynamodb.process.as_ref());
        let deaths: Vec<_> = processes.map(|process| Box::pin(process.died())).collect();
        if deaths.is_empty() {
            return std::future::pending().await;
        }
        select_all(deaths).await.0
    }

    /// Finishes requests, invocations and their checkpoints, and then stops the engines.
    pub async fn stop(self) {
        self.engines.wind_down();
        self.sockets.stop().await;
        self.gateway.stop().await;
        self.sources.stop().await;
        self.management.stop().await;
        self.objects.stop().await;
        self.queues.stop().await;
        self.event_bus.stop().await;
        self.secrets.stop().await;
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
            format!("Listening on port {port} failed: {error}")
        };
        StartError::new(
            happened,
            "Stop the program that uses it, or choose another one with `--port`; 0 chooses a free one",
        )
    })
}

/// Returns the engines of a system, with its socket if it has one.
fn with_socket(
    engines: &Arc<Engines>,
    system: &System,
    management: &Management,
    listener: &TcpListener,
) -> Arc<Engines> {
    let Some(address) = listener.local_addr().ok().filter(|_| system.has_socket()) else { return Arc::clone(engines) };
    engines.at(Config {
        socket: Some(management.endpoint(system.name)),
        socket_url: Some(format!("ws://{address}/{}/{SOCKET_STAGE}", system.name)),
        ..engines.config.clone()
    })
}

/// Creates the system's tables, buckets and secrets. The bucket with its own name is for quarantined records.
async fn provision(
    engines: &Engines,
    objects: &Objects,
    secrets: &Secrets,
    system: &'static System,
) -> Result<(), StartError> {
    create_tables(engines.dynamodb(), &engines.config, system).await.map_err(|error| {
        StartError::new(
            format!("Creating the tables of {} failed: {error}", system.name),
            "If they come from another version, `cairn local reset` starts over",
        )
    })?;
    tables::check(engines, system).await?;
    let declared = system.buckets.iter().map(|bucket| bucket.name.to_owned());
    for bucket in declared.chain([system.name.to_owned(), failures_bucket(system.name)]) {
        objects.create_bucket(&engines.config.bucket(&bucket))?;
    }
    for secret in system.secrets {
        secrets.create(&engines.config.secret(secret.name))?;
    }
    Ok(())
}

/// Creates the system's queues, each with one for its dead letters.
fn create_queues(queues: &Queues, config: &Config, app: &App) {
    for source in app.system().sources {
        let EventSource::Queue { name, handler } = source else { continue };
        let Some(declared) = app.event_handlers().iter().find(|own| own.name() == *handler) else {
            table::never!("the queue `{name}` has no handler `{handler}`");
            continue;
        };
        let visibility_timeout = visibility_timeout(declared.declared_timeout());
        let dead = config.queue(&dead_letter_queue(name));
        let days = Duration::from_hours(24 * u64::from(DEAD_LETTER_DAYS));
        queues.messages.create(&dead, Settings { visibility_timeout, retention: days, dead_letters: None });
        let dead_letters = Some(DeadLetters { queue: dead, max_receives: MAX_RECEIVES });
        let settings = Settings { visibility_timeout, retention: RETENTION, dead_letters };
        queues.messages.create(&config.queue(name), settings);
    }
}

/// Returns the handler of the gateway, which passes a request to the system in its path's first segment. It also serves
/// the web client of chat, and the page at `/`.
fn gateway_of(apps: &[Arc<App>]) -> impl Fn(Request<Bytes>) -> BoxFuture<'static, Response<Bytes>> + Clone + use<> {
    let apps = Arc::<[Arc<App>]>::from(apps);
    move |request| {
        let first = request.uri().path().split('/').nth(1).unwrap_or_default();
        let app = apps.iter().find(|app| app.system().name == first).cloned();
        let apps = Arc::clone(&apps);
        Box::pin(async move {
            let is_chat = app.as_ref().is_some_and(|app| app.system().name == "chat");
            if let Some(file) = chat_client::response(&request).filter(|_| is_chat) {
                return file;
            }
            match app {
                Some(app) if app.has_route(&request) => app.handle(request).await,
                _ => {
                    let names: Vec<&str> = apps.iter().map(|app| app.system().name).collect();
                    index_page::response(&request, &names).unwrap_or_else(web::app::not_found)
                }
            }
        })
    }
}

fn log_metrics(line: &str) {
    tracing::info!(target: "metrics", "{line}");
}

/// Waits for all of these futures.
async fn all(waits: impl IntoIterator<Item = impl Future<Output = ()>>) {
    join_all(waits).await;
}
