//! A running platform of one test's own.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ::mirror::{Marker, Repaired, repair_key};
use ::parks::documents::{BucketShapes, Parks, SHAPE};
use local::identity::{ISSUER, Person};
use local::process::Process;
use local::{Dynamodb, Options, Platform, Progress, Served, systems};
use reqwest::Method;
use serde_json::{Value, json};
use table::schema::System;
use table::{Access, Clock, Engines};
use tempfile::TempDir;
use tokio::sync::RwLock;
use tokio::task::JoinHandle;
use web::token::{Claims, SigningKey};

use super::conflicts::Conflicts;
use super::description::Description;
use super::relay::HTTP;
use super::suite::RUNTIME;
use super::table::Table;
use super::{User, engines, recorder};

/// A platform; gone when dropped.
pub struct Cairn {
    pub clock: Clock,
    shared: Arc<Shared>,
}

/// How a platform differs from the usual one.
pub struct Setup {
    pub systems: Vec<Served>,
    /// The search engine, if it is not the one that all tests share.
    pub search: Option<String>,
}

/// What a platform and its users share.
pub struct Shared {
    url: String,
    platform: RwLock<Option<Platform>>,
    engines: Arc<Engines>,
    systems: Vec<&'static str>,
    dynamodb: Mutex<Option<Process>>,
    folder: Mutex<Option<TempDir>>,
}

/// Platforms that are being stopped.
static STOPPING: Mutex<Vec<JoinHandle<()>>> = Mutex::new(Vec::new());
/// Under these names platforms issue tokens.
const ISSUERS: [&str; 3] = [ISSUER, "idp", "acme"];

static STARTED: AtomicU32 = AtomicU32::new(0);

impl Default for Setup {
    fn default() -> Self {
        Self::of("parks")
    }
}

impl Setup {
    /// With this system alone.
    pub fn of(system: &str) -> Self {
        Self { systems: vec![*systems::named(system).unwrap()], search: None }
    }
}

impl Cairn {
    /// An empty platform.
    pub async fn start() -> Self {
        Self::with(Setup::default()).await
    }

    /// One with the visible collection `bcparks_1`, "Strathcona Park", with which most tests start.
    pub async fn with_strathcona() -> Self {
        let cairn = Self::start().await;
        cairn.collection("bcparks_1", "Strathcona Park").await;
        cairn
    }

    pub async fn with(setup: Setup) -> Self {
        let folder = tempfile::tempdir().unwrap();
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
        // Rare polls save CPU time: `caught_up` has a stream read at once.
        options.sources.poll = Duration::from_millis(250);
        options.issuers = ISSUERS.map(str::to_owned).to_vec();
        options.through = |system, engines| match systems::named(system.name) {
            Some(_) => recorder::OF_THE_RUN.before(engines),
            // What is made up for a test declares nothing to compare with.
            None => Arc::clone(engines),
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

    /// The gateway's address.
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

    /// Somebody who sends this as `Authorization`.
    pub fn user(&self, name: &'static str, authorization: &str) -> User {
        User::new(Arc::clone(&self.shared), name, Some(authorization.to_owned()))
    }

    /// A bearer token of the platform's own issuer.
    pub async fn token(&self, subject: &str, roles: &[&str]) -> String {
        self.platform(|platform| platform.identity.token(subject, roles, &self.clock).unwrap()).await
    }

    /// Somebody with a name of their own.
    pub async fn person(&self, name: &'static str, person: Person<'_>) -> User {
        let token = self.platform(|platform| platform.identity.token_of(&person, &self.clock).unwrap()).await;
        self.user(name, &format!("Bearer {token}"))
    }

    /// A token that says this, signed by the platform's own issuer.
    pub fn sign(&self, claims: &Claims) -> String {
        let key = std::fs::read(self.state().join("identity.pk8")).unwrap();
        SigningKey::from_pkcs8(key).unwrap().sign(claims).unwrap()
    }

    /// Makes a visible collection.
    pub async fn collection(&self, id: &str, name: &str) {
        let new = json!({ "collectionId": id, "displayName": name, "isVisible": true });
        self.administrator().await.post("/parks/collections", new).await.is(201);
    }

    /// Waits until everything that was written before this call can be found.
    pub async fn caught_up(&self) {
        self.shared.caught_up().await;
    }

    /// The engines themselves, for what happens past the platform.
    pub fn engines(&self) -> &Arc<Engines> {
        &self.shared.engines
    }

    /// From now on this part of the platform's writes meets others at the same items.
    pub fn conflicts(&self, rate: f64) -> Arc<Conflicts> {
        let conflicts = Arc::new(Conflicts::at(rate));
        recorder::OF_THE_RUN.conflicts(self.engines(), Arc::clone(&conflicts));
        conflicts
    }

    /// The table of parks, past the platform.
    pub fn table(&self) -> Table {
        self.table_of(&::parks::schema::PARKS)
    }

    /// A table, past the platform.
    pub fn table_of(&self, table: &'static table::schema::Table) -> Table {
        Table { engines: Arc::clone(self.engines()), table }
    }

    /// What of parks is in quarantine, as the operator's command lists it.
    pub async fn quarantined(&self) -> Vec<Marker> {
        self.quarantined_of(&::parks::SYSTEM).await
    }

    pub async fn quarantined_of(&self, system: &'static System) -> Vec<Marker> {
        self.caught_up().await;
        let found = ::mirror::quarantined(system, self.engines()).await.unwrap();
        found.into_iter().map(|(_, marker)| marker).collect()
    }

    /// What the operator's command makes of an item's document.
    pub async fn repair(&self, pk: &str, sk: &str) -> Vec<Repaired> {
        self.caught_up().await;
        let shapes = BucketShapes::new(Access::new(Arc::clone(self.engines()), &[&SHAPE]));
        let key = table::Key::new(pk, sk);
        let repaired = repair_key(&Parks, &shapes, self.engines(), &::parks::schema::PARKS, &key).await.unwrap();
        repaired.expect("its items have documents")
    }

    /// Calls an event handler as Lambda does.
    pub async fn event(&self, system: &str, handler: &str, payload: &Value) -> Result<Value, String> {
        let app = self.platform(|platform| platform.app(system).cloned().unwrap()).await;
        let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
        let answer = app.event(handler, payload.to_string().into(), deadline).await;
        answer.map(|answer| serde_json::from_slice(&answer).unwrap()).map_err(|failure| failure.to_string())
    }

    /// The folder in which the local S3 keeps a bucket.
    pub fn bucket(&self, name: &str) -> PathBuf {
        self.state().join("objects").join(self.engines().config.bucket(name))
    }

    fn state(&self) -> PathBuf {
        self.shared.folder.lock().unwrap().as_ref().unwrap().path().join("state")
    }

    /// The document of an item as the index has it, tombstones included; none if there is none.
    pub async fn document(&self, system: &str, id: &str) -> Option<Value> {
        self.caught_up().await;
        let index = format!("{}-000001", self.engines().config.search_name(system));
        let query = json!({ "query": { "ids": { "values": [id] } }, "version": true, "size": 2 });
        let found = self.search_engine(Method::POST, &format!("/{index}/_search"), &query).await;
        let hits = found["hits"]["hits"].as_array().unwrap();
        assert!(hits.len() < 2, "{found}");
        hits.first().map(|hit| hit["_source"].clone())
    }

    /// Asks the search engine itself.
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
            // What was written past the platform is stamped first; the stamp is a write of its own.
            platform.caught_up().await;
        }
        for system in &self.systems {
            let alias = self.engines.config.search_name(system);
            self.search_engine(Method::POST, &format!("/{alias}/_refresh"), &Value::Null).await;
        }
    }

    /// Deletes its indexes: each costs the engine a little for as long as it is there.
    async fn forget(&self) {
        for system in &self.systems {
            let index = format!("{}-000001", self.engines.config.search_name(system));
            // An engine of the test's own may be gone already.
            let _ = HTTP.delete(format!("{}/{index}", self.engines.config.search)).send().await;
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
            if let Some(platform) = shared.platform.write().await.take() {
                platform.stop().await;
            }
            recorder::OF_THE_RUN.stop(&shared.engines);
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
