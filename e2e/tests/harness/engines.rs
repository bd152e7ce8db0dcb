//! The engines of a run. All tests share one search engine, each with its own prefix. Each platform has its own
//! DynamoDB, since DynamoDB Local scans the stream records of all its tables for each request for records.

use std::path::Path;
use std::sync::LazyLock;

use local::Progress;
use local::engine::{dynamodb_local, opensearch, osmem};
use local::install::maven::{Installed, Unavailable};
use local::install::{Cache, Tools};
use local::process::Process;
use tempfile::TempDir;
use tokio::sync::{OnceCell, RwLock};

use super::suite::RUNTIME;
use super::temporary;

/// The set of engines of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Set {
    /// dynoxide and OpenSearch.
    Embedded,
    /// DynamoDB Local and OpenSearch.
    Real,
    /// dynoxide and osmem.
    WithoutJava,
}

/// The engines of a run, which the first test that needs them starts.
struct Engines {
    search: String,
    process: Process,
    folder: TempDir,
}

/// The set, and OpenSearch's program if the set has it.
static CHOSEN: LazyLock<(Set, Option<Installed>)> = LazyLock::new(|| RUNTIME.block_on(choose()));
static STARTED: RwLock<OnceCell<Engines>> = RwLock::const_new(OnceCell::const_new());

impl Set {
    pub fn of_name(name: &str) -> Option<Self> {
        match name {
            "embedded" => Some(Self::Embedded),
            "real" => Some(Self::Real),
            "without-java" => Some(Self::WithoutJava),
            _ => None,
        }
    }
}

/// Returns the set that `CAIRN_ENGINES` names, or `embedded` if it is not set.
pub fn set() -> Set {
    CHOSEN.0
}

/// Returns the endpoint of the run's search engine.
pub async fn search() -> String {
    with(|engines| engines.search.clone()).await
}

/// Starts a DynamoDB Local with its log in this folder. Returns `None` if platforms use dynoxide.
pub async fn own_dynamodb(folder: &Path) -> Option<(Process, String)> {
    if set() != Set::Real {
        return None;
    }
    let installed = dynamodb_local::RECIPE.install(&Tools::from_env(), &Cache::from_env(), &Progress::silent()).await;
    let installed = installed.unwrap_or_else(|error| panic!("{error:?}"));
    Some(dynamodb_local::start(&installed, None, &folder.join("dynamodb.log")).await.unwrap())
}

/// Starts a search engine for one test, of the same kind as the run's.
pub async fn own_search(folder: &Path) -> (Process, String) {
    start_search(folder).await
}

/// Stops the engines that were started.
pub async fn stop() {
    if let Some(engines) = STARTED.write().await.take() {
        engines.process.stop().await;
        engines.folder.close().unwrap();
    }
}

async fn with<T>(read: impl FnOnce(&Engines) -> T) -> T {
    read(STARTED.read().await.get_or_init(start).await)
}

async fn choose() -> (Set, Option<Installed>) {
    let named = std::env::var("CAIRN_ENGINES").unwrap_or_else(|_| "embedded".to_owned());
    let set = Set::of_name(&named).unwrap_or_else(|| {
        panic!("CAIRN_ENGINES is `{named}`; set it to `embedded`, `real` or `without-java`");
    });
    if set == Set::WithoutJava {
        return (set, None);
    }
    match opensearch::RECIPE.install(&Tools::from_env(), &Cache::from_env(), &Progress::silent()).await {
        Ok(installed) => (set, Some(installed)),
        Err(Unavailable::Missing(what)) if set == Set::Embedded => {
            eprintln!("The tests run on osmem instead of OpenSearch, without exact shapes, because {what}.");
            (Set::WithoutJava, None)
        }
        Err(Unavailable::Missing(what)) => panic!("these engines cannot be had, because {what}"),
        Err(Unavailable::Failed(error)) => panic!("{error}"),
    }
}

async fn start() -> Engines {
    let folder = temporary::folder();
    let (process, search) = start_search(folder.path()).await;
    Engines { search, process, folder }
}

async fn start_search(folder: &Path) -> (Process, String) {
    let log = folder.join("search.log");
    match &CHOSEN.1 {
        Some(installed) => {
            opensearch::start(installed, opensearch::Lifetime::Short, &folder.join("search"), &log).await.unwrap()
        }
        None => {
            let program = osmem::RECIPE.install(&Tools::from_env(), &Cache::from_env(), &Progress::silent()).await;
            osmem::start(&program.unwrap(), &log).await.unwrap()
        }
    }
}
