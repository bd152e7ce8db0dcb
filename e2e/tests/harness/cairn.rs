//! The running platform of one test.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ::mirror::{AUDIT, Marker, Repaired, repair_key};
use ::parks::documents::{BucketShapes, Parks, SHAPE};
use local::gateway::ForwardedFor;
use local::identity::{ISSUER, Person};
use local::platform::EVENT_LOG;
use local::process::Process;
use local::{Dynamodb, Options, Platform, Progress, Served, systems};
use reqwest::Method;
use serde_json::{Value, json};
use table::schema::System;
use table::{Access, Clock, Engines, Secret};
use tempfile::TempDir;
use tokio::sync::RwLock;
use tokio::task::JoinHandle;
use web::token::{Claims, SigningKey};

use super::conflicts::Ongoing;
use super::counted_clients::CountedClients;
use super::description::Description;
use super::relay::HTTP;
use super::suite::RUNTIME;
use super::table::Table;
use super::{Socket, User, engines, leaks, posts, recorder, temporary};

/// A platform, which is stopped when dropped.
pub struct Cairn {
    pub clock: Clock,
    shared: Arc<Shared>,
}

/// The differences of a platform from the default one.
pub struct Setup {
    pub systems: Vec<Served>,
    /// The search engine, unless it is the one that all tests share.
    pub search: Option<String>,
    /// Handlers that the platform's event sources do not call.
    pub without: Vec<&'static str>,
    /// The limits of sockets.
    pub sockets: local::socket::Settings,
    /// The limits that differ from their defaults.
    pub limits: Vec<(&'static str, u32)>,
    /// Whether people can register and log in to a system that issues tokens itself.
    pub own_login: bool,
    /// The longest time that an invocation for stream records may take, if it differs.
    pub mirror_timeout: Option<Duration>,
}

/// The state that a platform and its users share.
pub struct Shared {
    url: String,
    platform: RwLock<Option<Platform>>,
    engines: Arc<Engines>,
    systems: Vec<&'static str>,
    dynamodb: Mutex<Option<Process>>,
    folder: Mutex<Option<TempDir>>,
}

/// The platforms that are being stopped.
static STOPPING: Mutex<Vec<JoinHandle<()>>> = Mutex::new(Vec::new());
/// The names of the platforms' token issuers.
const ISSUERS: [&str; 3] = [ISSUER, "idp", "acme"];

static STARTED: AtomicU32 = AtomicU32::new(0);

impl Default for Setup {
    fn default() -> Self {
        Self::of("parks")
    }
}

impl Setup {
    /// Returns the setup of a platform with only this system.
    pub fn of(system: &str) -> Self {
        Self {
            systems: vec![*systems::named(system).unwrap()],
            search: None,
            without: Vec::new(),
            sockets: local::socket::Settings::default(),
            limits: Vec::new(),
            own_login: true,
            mirror_timeout: None,
        }
    }
}

impl Cairn {
    /// Starts an empty platform.
    pub async fn start() -> Self {
        Self::with(Setup::default()).await
    }

    /// Starts a platform with the visible collection `bcparks_1`, "Strathcona Park", which most tests need.
    pub async fn with_strathcona() -> Self {
        let cairn = Self::start().await;
        cairn.collection("bcparks_1", "Strathcona Park").await;
        cairn
    }

    pub async fn with(setup: Setup) -> Self {
        let folder = temporary::folder();
        let clock = Clock::system();
        let systems: Vec<&str> = setup.systems.iter().map(|served| served.system.name).collect();
        let mut options = Options::new(setup.systems, folder.path().join("state"));
        let search = match setup.search {
            Some(url) => url,
            None => engines::search().await,
        };
        options.search = local::search::Choice::Url(search);
        let (dynamodb, url) = engines::own_dynamodb(folder.path()).await.unzip();
        options.dynamodb = url.map_or(Dynamodb::InMemory, Dynamodb::Url);
        options.prefix = format!("t{}-", STARTED.fetch_add(1, Ordering::SeqCst));
        options.clock = clock.clone();
        // Rare polls save CPU time. `caught_up` triggers a read of a stream.
        options.sources.poll = Duration::from_millis(250);
        // An audit would repair what a test damages. Tests call its handler by themselves.
        options.sources.without = [setup.without.as_slice(), &[AUDIT]].concat();
        options.sources.mirror_timeout = setup.mirror_timeout.unwrap_or(options.sources.mirror_timeout);
        options.sockets = setup.sockets;
        // Tests of limits send requests from several networks.
        options.forwarded_for = ForwardedFor::AsSent;
        options.limits = setup.limits.into_iter().map(|(name, most)| (name.to_owned(), most)).collect();
        options.own_login = setup.own_login;
        options.issuers = ISSUERS.map(str::to_owned).to_vec();
        options.through = |system, engines| match systems::named(system.name) {
            Some(_) => recorder::OF_THE_RUN.before(&posts::OF_THE_RUN.before(engines)),
            // A system that exists only in tests has no declaration to compare with.
            None => posts::OF_THE_RUN.before(engines),
        };
        let platform = Platform::start(options, &Progress::silent()).await.unwrap();
        let shared = Arc::new(Shared {
            url: platform.url.clone(),
            engines: Arc::clone(&platform.engines),
            platform: RwLock::new(Some(platform)),
            systems: systems.clone(),
            dynamodb: Mutex::new(dynamodb),
            folder: Mutex::new(Some(folder)),
        });
        let cairn = Self { clock, shared };
        for system in systems.into_iter().filter(|name| systems::named(name).is_some() && !Description::is_kept(name)) {
            let document = cairn.visitor().get(&format!("/{system}/openapi.json")).await.is(200).body;
            Description::keep(system, &document);
        }
        cairn
    }

    /// Returns the gateway's address.
    pub fn url(&self) -> &str {
        self.shared.url()
    }

    pub fn visitor(&self) -> User {
        User::new(Arc::clone(&self.shared), "visitor", None)
    }

    pub async fn administrator(&self) -> User {
        let token = self.token("ada", &["parks-admin"]).await;
        self.user("administrator", &format!("Bearer {token}"))
    }

    /// Returns a user with this `Authorization` header.
    pub fn user(&self, name: &'static str, authorization: &str) -> User {
        User::new(Arc::clone(&self.shared), name, Some(authorization.to_owned()))
    }

    /// Returns a bearer token of the platform's own issuer.
    pub async fn token(&self, subject: &str, roles: &[&str]) -> String {
        self.platform(|platform| platform.identity.token(subject, roles, &self.clock).unwrap()).await
    }

    /// Returns a user with this display name.
    pub async fn person(&self, name: &'static str, person: Person<'_>) -> User {
        let token = self.token_of(&person).await;
        self.user(name, &format!("Bearer {token}"))
    }

    /// Returns a bearer token of a person.
    pub async fn token_of(&self, person: &Person<'_>) -> String {
        self.platform(|platform| platform.identity.token_of(person, &self.clock).unwrap()).await
    }

    /// Returns a token with these claims, signed by the platform's own issuer.
    pub fn sign(&self, claims: &Claims) -> String {
        let key = std::fs::read(self.state().join("identity.pk8")).unwrap();
        SigningKey::from_pkcs8(key).unwrap().sign(claims).unwrap()
    }

    /// Returns the value of a system's secret.
    pub fn secret(&self, name: &str) -> Secret {
        Secret::new(std::fs::read_to_string(self.secret_file(name)).unwrap())
    }

    /// Gives a system's secret a new value. Functions read it once the value that they know is older than its lifetime.
    pub fn put_secret(&self, name: &str, value: &str) {
        std::fs::write(self.secret_file(name), value).unwrap();
    }

    fn secret_file(&self, name: &str) -> PathBuf {
        self.state().join("secrets").join(self.engines().config.secret(name))
    }

    /// Creates a visible collection.
    pub async fn collection(&self, id: &str, name: &str) {
        let new = json!({ "collectionId": id, "displayName": name, "isVisible": true });
        self.administrator().await.post("/parks/collections", new).await.is(201);
    }

    /// Opens the socket of a system with this query string. The error is the status of the refusal.
    pub async fn socket(&self, system: &str, query: &str) -> Result<Socket, u16> {
        let url = self.url().replacen("http", "ws", 1);
        Socket::open(&format!("{url}/{system}/live?{query}")).await
    }

    /// Answers later requests of handlers to a connection with this status, or passes them on again.
    pub fn refuse_posts(&self, connection: &str, status: Option<u16>) {
        posts::OF_THE_RUN.refuse(connection, status);
    }

    /// Lets clients without sockets answer later posts to their connections.
    pub fn count_posts(&self, clients: &Arc<CountedClients>) {
        posts::OF_THE_RUN.count(self.engines(), Arc::clone(clients));
    }

    /// Waits until search shows every write from before this call, whatever other readers of the streams do.
    pub async fn searchable(&self) {
        if let Some(platform) = self.shared.platform.read().await.as_ref() {
            platform.searchable().await;
        }
    }

    /// Waits until search shows every write from before this call.
    pub async fn caught_up(&self) {
        self.shared.caught_up().await;
    }

    /// Returns the engines, for direct access that bypasses the platform.
    pub fn engines(&self) -> &Arc<Engines> {
        &self.shared.engines
    }

    /// Lets this share of the platform's later writes conflict with concurrent writes, until the result is dropped.
    pub fn conflicts(&self, rate: f64) -> Ongoing {
        Ongoing::begin(self.engines(), rate)
    }

    /// Returns the table of parks, for direct access.
    pub fn table(&self) -> Table {
        self.table_of(&::parks::schema::PARKS)
    }

    /// Returns a table, for direct access.
    pub fn table_of(&self, table: &'static table::schema::Table) -> Table {
        Table { engines: Arc::clone(self.engines()), table }
    }

    /// Returns the quarantine of parks, as the operator's command lists it.
    pub async fn quarantined(&self) -> Vec<Marker> {
        self.quarantined_of(&::parks::SYSTEM).await
    }

    pub async fn quarantined_of(&self, system: &'static System) -> Vec<Marker> {
        self.caught_up().await;
        let found = ::mirror::quarantined(system, self.engines()).await.unwrap();
        found.into_iter().map(|(_, marker)| marker).collect()
    }

    /// Repairs an item's document, as the operator's command does.
    pub async fn repair(&self, pk: &str, sk: &str) -> Vec<Repaired> {
        self.caught_up().await;
        let shapes = BucketShapes::new(Access::new(Arc::clone(self.engines()), &[&SHAPE]));
        let key = table::Key::new(pk, sk);
        let repaired = repair_key(&Parks, &shapes, self.engines(), &::parks::schema::PARKS, &key).await.unwrap();
        repaired.expect("its items have documents")
    }

    /// Calls an event handler as Lambda does.
    pub async fn event(&self, system: &str, handler: &str, payload: &Value) -> Result<Value, String> {
        self.event_within(Duration::from_secs(60), system, handler, payload).await
    }

    /// Calls an event handler that has only this time.
    pub async fn event_within(
        &self,
        time: Duration,
        system: &str,
        handler: &str,
        payload: &Value,
    ) -> Result<Value, String> {
        let app = self.app(system).await;
        let deadline = tokio::time::Instant::now() + time;
        let answer = app.event(handler, payload.to_string().into(), deadline).await;
        answer.map(|answer| serde_json::from_slice(&answer).unwrap()).map_err(|failure| failure.to_string())
    }

    /// Returns the functions of a system.
    pub async fn app(&self, system: &str) -> Arc<web::App> {
        self.platform(|platform| platform.app(system).cloned().unwrap()).await
    }

    /// Returns the events on the event bus so far.
    pub fn bus_events(&self) -> Vec<Value> {
        let log = std::fs::read_to_string(self.state().join(EVENT_LOG)).unwrap();
        log.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Returns the folder in which the local S3 stores a bucket.
    pub fn bucket(&self, name: &str) -> PathBuf {
        self.shared.objects(name)
    }

    fn state(&self) -> PathBuf {
        self.shared.state()
    }

    /// Returns the document of an item from the index, if there is one. It may be a tombstone.
    pub async fn document(&self, system: &str, id: &str) -> Option<Value> {
        self.caught_up().await;
        let index = format!("{}-000001", self.engines().config.search_name(system));
        let query = json!({ "query": { "ids": { "values": [id] } }, "version": true, "size": 2 });
        let found = self.search_engine(Method::POST, &format!("/{index}/_search"), &query).await;
        let hits = found["hits"]["hits"].as_array().unwrap();
        assert!(hits.len() < 2, "{found}");
        hits.first().map(|hit| hit["_source"].clone())
    }

    /// Sends a request to the search engine.
    pub async fn search_engine(&self, method: Method, path: &str, body: &Value) -> Value {
        self.shared.search_engine(method, path, body).await
    }

    async fn platform<T>(&self, read: impl FnOnce(&Platform) -> T) -> T {
        read(self.shared.platform.read().await.as_ref().unwrap())
    }
}

impl Shared {
    pub fn url(&self) -> &str {
        &self.url
    }

    pub async fn caught_up(&self) {
        if let Some(platform) = self.platform.read().await.as_ref() {
            platform.caught_up().await;
            // An item that was written directly is stamped first, and the stamp is another write.
            platform.caught_up().await;
        }
        for system in &self.systems {
            let alias = self.engines.config.search_name(system);
            self.search_engine(Method::POST, &format!("/{alias}/_refresh"), &Value::Null).await;
        }
    }

    fn state(&self) -> PathBuf {
        self.folder.lock().unwrap().as_ref().unwrap().path().join("state")
    }

    /// Returns the folder in which the local S3 stores a bucket.
    fn objects(&self, bucket: &str) -> PathBuf {
        self.state().join("objects").join(self.engines.config.bucket(bucket))
    }

    /// Deletes the platform's indexes, since each of them costs the engine some time.
    async fn forget(&self) {
        let url = &self.engines.config.search;
        for system in &self.systems {
            let alias = self.engines.config.search_name(system);
            // A test's own engine may have been stopped already.
            let Ok(answer) = HTTP.get(format!("{url}/{alias}-*/_alias")).send().await else { continue };
            let indexes: Value = answer.json().await.unwrap_or_default();
            for index in indexes.as_object().into_iter().flat_map(|indexes| indexes.keys()) {
                let _ = HTTP.delete(format!("{url}/{index}")).send().await;
            }
        }
    }

    async fn search_engine(&self, method: Method, path: &str, body: &Value) -> Value {
        let url = format!("{}{path}", self.engines.config.search);
        let mut call = HTTP.request(method, url);
        if !body.is_null() {
            call = call.header("content-type", "application/json").body(body.to_string());
        }
        let answer = call.send().await.unwrap();
        let status = answer.status();
        let text = answer.text().await.unwrap();
        assert!(status.is_success(), "{path}: {status} {text}");
        serde_json::from_str(&text).unwrap()
    }
}

impl Drop for Cairn {
    fn drop(&mut self) {
        let shared = Arc::clone(&self.shared);
        let stopping = RUNTIME.spawn(async move {
            if shared.systems.contains(&::chat::SYSTEM.name) {
                leaks::search_stored(&shared.engines, &shared.objects(::chat::schema::BUCKET)).await;
            }
            if let Some(platform) = shared.platform.write().await.take() {
                platform.stop().await;
            }
            recorder::OF_THE_RUN.stop(&shared.engines);
            posts::OF_THE_RUN.stop(&shared.engines);
            shared.forget().await;
            let dynamodb = shared.dynamodb.lock().unwrap().take();
            if let Some(dynamodb) = dynamodb {
                dynamodb.stop().await;
            }
            drop(shared.folder.lock().unwrap().take());
        });
        STOPPING.lock().unwrap().push(stopping);
    }
}

/// Waits until all platforms that were dropped have stopped.
pub async fn all_stopped() {
    let stopping = std::mem::take(&mut *STOPPING.lock().unwrap());
    for platform in stopping {
        let _ = platform.await;
    }
}
