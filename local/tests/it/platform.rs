//! A platform with a made-up system: from a write into the table to a search, across restarts.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use aws_sdk_dynamodbstreams::types::ShardIteratorType;
use bytes::Bytes;
use local::engine::dynoxide::Dynoxide;
use local::engine::osmem;
use local::install::{Cache, Tools};
use local::process::Process;
use local::search::Choice;
use local::socket::connections::Connections;
use local::socket::management::Management;
use local::state::State;
use local::{Dynamodb, Options, Platform, Progress, Served, StartError};
use mirror::{Document, Documents, Found, Image, Mapping, Mirrored, NoShapes, Phase, Rebuild, Unfit};
use serde_json::Value;
use table::schema::{Bucket, Entity, EventSource, Search, System, Table};
use table::{Access, AccessPattern, create_tables};
use tokio::sync::Notify;
use web::{App, Event, EventFailure, EventHandler};

use super::engines::engines_at;

static STATE: Table = mirror::schema::state_table("toys-mirror");
static TOYS: Table = Table {
    name: "toys",
    pk: "pk",
    sk: None,
    indexes: &[],
    entities: &[Entity { name: "toy", pk: "toy::{name}", sk: None, search: Search::Document }],
    stream: true,
};
static SYSTEM: System = System {
    name: "toys",
    tables: &[&TOYS, &STATE],
    buckets: &[Bucket { name: "toys", expiring: &[] }],
    sources: &[
        EventSource::Streams { handler: "mirror", filtered: false },
        EventSource::Records { handler: "read", filtered: false },
    ],
    secrets: &[],
};

#[derive(Default)]
struct Toys;

impl Mirrored for Toys {
    type Shapes = NoShapes;

    const PATTERNS: &'static [&'static AccessPattern] = &[];

    fn shapes(_: Access) -> NoShapes {
        NoShapes
    }
}

impl Documents for Toys {
    fn tables(&self) -> &'static System {
        &SYSTEM
    }

    fn mapping(&self) -> Mapping {
        Mapping { version: 1, body: r#"{"mappings":{"properties":{"name":{"type":"keyword"}}}}"# }
    }

    fn document(&self, _: &'static Entity, image: &Image<'_>) -> Result<Found, Unfit> {
        let mut document = Document::new();
        document.text("name", &*image.text("name")?);
        Ok(Found::Document(document))
    }
}

fn served() -> Served {
    Served::of::<Toys>(&SYSTEM, |engines| {
        App::new(engines, &SYSTEM, Vec::new(), vec![mirror::handler::<Toys>(), EventHandler::new("read", read)])
    })
}

/// The names of the toys in the records that the second reader has handled, on all platforms.
static READ: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Whether the second reader handles the toy `puzzle`.
static SOLVED: AtomicBool = AtomicBool::new(false);

async fn read(event: Event) -> Result<Bytes, EventFailure> {
    let payload: Value = serde_json::from_slice(&event.payload).unwrap();
    for record in payload["Records"].as_array().unwrap() {
        let name = record["dynamodb"]["NewImage"]["name"]["S"].as_str().unwrap();
        if name == "puzzle" && !SOLVED.load(Ordering::SeqCst) {
            return Err(EventFailure("the puzzle is not solved".to_owned()));
        }
        READ.lock().unwrap().push(name.to_owned());
    }
    Ok(Bytes::new())
}

async fn start(state: &Path, search: Choice) -> Result<Platform, StartError> {
    let options = Options { search, dynamodb: Dynamodb::Dynoxide, ..Options::new(vec![served()], state) };
    Platform::start(options, &Progress::silent()).await
}

/// Starts a platform, puts a toy, and stops the platform.
async fn put_once(state: &Path, search: Choice, name: &str) {
    let platform = start(state, search).await.unwrap();
    put(&platform, name).await;
    platform.stop().await;
}

async fn put(platform: &Platform, name: &str) {
    write(platform, name).await;
    tokio::time::timeout(Duration::from_secs(20), platform.caught_up()).await.unwrap();
}

async fn write(platform: &Platform, name: &str) {
    let put = platform.engines.dynamodb().put_item().table_name("toys");
    let put =
        put.item("pk", AttributeValue::S(format!("toy::{name}"))).item("name", AttributeValue::S(name.to_owned()));
    put.item("rev", AttributeValue::N((platform.engines.clock.micros() * 2).to_string())).send().await.unwrap();
}

async fn found(platform: &Platform) -> Vec<String> {
    let url = &platform.engines.config.search;
    reqwest::Client::new().post(format!("{url}/_refresh")).send().await.unwrap();
    let answer: Value = reqwest::get(format!("{url}/toys/_search?sort=name")).await.unwrap().json().await.unwrap();
    let hits = answer["hits"]["hits"].as_array().unwrap_or_else(|| panic!("{answer}"));
    hits.iter().map(|hit| hit["_source"]["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn written_item_is_found_and_an_empty_search_engine_is_filled_from_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let platform = start(folder.path(), Choice::Osmem).await.unwrap();
    let health = reqwest::get(format!("{}/toys/health", platform.url)).await.unwrap();
    assert_eq!(health.status(), 200);
    assert_eq!(reqwest::get(format!("{}/nowhere", platform.url)).await.unwrap().status(), 404);
    put(&platform, "kite").await;
    assert_eq!(found(&platform).await, ["kite"]);
    platform.stop().await;

    let platform = start(folder.path(), Choice::Osmem).await.unwrap();
    assert_eq!(found(&platform).await, ["kite"]);
    put(&platform, "ball").await;
    assert_eq!(found(&platform).await, ["ball", "kite"]);
    platform.stop().await;
}

/// A page can let its own name point to this machine, and its script would read the responses.
#[tokio::test]
async fn own_servers_of_the_platform_refuse_another_host() {
    let folder = tempfile::tempdir().unwrap();
    let platform = start(folder.path(), Choice::Osmem).await.unwrap();
    let management = Management::start(Arc::<Connections>::default()).await.unwrap();
    let management_url = management.endpoint("toys");
    let urls = [platform.url.as_str(), platform.dynamodb(), platform.s3(), platform.sqs(), platform.event_bus()];
    for url in urls.into_iter().chain([platform.secrets(), &management_url]) {
        let answer = reqwest::Client::new().get(url).header("host", "evil.example").send().await.unwrap();
        assert_eq!(answer.status(), 403, "{url}");
        let text = answer.text().await.unwrap();
        assert!(text.starts_with("Use `localhost`"), "{url}: {text}");
    }
    management.stop().await;
    platform.stop().await;
}

/// Starts a search engine that keeps its indexes between the platform's starts.
async fn lasting_search(folder: &Path) -> (Process, Choice) {
    let program = osmem::RECIPE.install(&Tools::from_env(), &Cache::from_env(), &Progress::silent()).await.unwrap();
    let (engine, url) = osmem::start(&program, &folder.join("osmem.log")).await.unwrap();
    (engine, Choice::Url(url))
}

#[tokio::test]
async fn changed_mapping_fills_search_again_from_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let (_engine, search) = lasting_search(folder.path()).await;
    let state = folder.path().join("state");
    let platform = start(&state, search.clone()).await.unwrap();
    put(&platform, "kite").await;
    assert_eq!(indexes(&platform).await, ["toys-000001"]);
    // The state that an earlier version with another mapping leaves.
    let state_table = platform.engines.dynamodb().update_item().table_name("toys-mirror");
    let config = state_table
        .key("pk", AttributeValue::S("config".to_owned()))
        .key("sk", AttributeValue::S("generations".to_owned()))
        .update_expression("SET generations[0].mapping = :other")
        .expression_attribute_values(":other", AttributeValue::N("7".to_owned()));
    config.send().await.unwrap();
    platform.stop().await;

    let platform = start(&state, search).await.unwrap();
    assert_eq!(indexes(&platform).await, ["toys-000002"]);
    assert_eq!(found(&platform).await, ["kite"]);
    put(&platform, "ball").await;
    assert_eq!(found(&platform).await, ["ball", "kite"]);
    platform.stop().await;
}

/// A start fills an index again unless readers search it, since everything else looks as if it served.
#[tokio::test]
async fn moved_readers_alias_is_noticed_at_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let (_engine, search) = lasting_search(folder.path()).await;
    let state = folder.path().join("state");
    let platform = start(&state, search.clone()).await.unwrap();
    put(&platform, "kite").await;
    let url = platform.engines.config.search.clone();
    platform.stop().await;
    let client = reqwest::Client::new();
    assert!(
        client.put(format!("{url}/other")).json(&serde_json::json!({})).send().await.unwrap().status().is_success()
    );
    let actions = serde_json::json!({ "actions": [
        { "add": { "index": "other", "alias": "toys" } },
        { "remove": { "index": "toys-000001", "alias": "toys" } },
    ] });
    let moved = client.post(format!("{url}/_aliases")).json(&actions).send().await.unwrap();
    assert!(moved.status().is_success());

    let platform = start(&state, search).await.unwrap();
    assert_eq!(indexes(&platform).await, ["toys-000002"]);
    assert_eq!(found(&platform).await, ["kite"]);
    platform.stop().await;
}

#[tokio::test]
async fn search_engine_with_the_index_of_another_platform_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (_engine, search) = lasting_search(folder.path()).await;
    let platform = start(&folder.path().join("state"), search.clone()).await.unwrap();
    put(&platform, "kite").await;
    let error = start(&folder.path().join("other"), search.clone()).await.unwrap_err();
    assert!(error.happened.contains("that this state folder does not know: toys-000001"), "{error}");
    let url = &platform.engines.config.search;
    assert!(error.remedy.contains(&format!("`curl -X DELETE {url}/toys-000001`")), "{error}");
    assert_eq!(found(&platform).await, ["kite"]);
    platform.stop().await;
    // Its own platform knows the index.
    start(&folder.path().join("state"), search).await.unwrap().stop().await;
}

#[tokio::test]
async fn search_engine_is_accepted_again_after_another_one() {
    let folder = tempfile::tempdir().unwrap();
    let (_engine, search) = lasting_search(folder.path()).await;
    let state = folder.path().join("state");
    put_once(&state, search.clone(), "kite").await;
    put_once(&state, Choice::Osmem, "ball").await;
    let platform = start(&state, search).await.unwrap();
    assert_eq!(found(&platform).await, ["ball", "kite"]);
    platform.stop().await;
}

#[tokio::test]
async fn other_engine_for_dynamodb_needs_another_state_folder() {
    let folder = tempfile::tempdir().unwrap();
    let (_engine, search) = lasting_search(folder.path()).await;
    let state = folder.path().join("state");
    put_once(&state, search.clone(), "kite").await;
    let options =
        Options { search: search.clone(), dynamodb: Dynamodb::InMemory, ..Options::new(vec![served()], &state) };
    let error = Platform::start(options, &Progress::silent()).await.unwrap_err();
    assert!(error.happened.contains("are in dynoxide") && error.remedy.contains("--state"), "{error}");
    let platform = start(&state, search).await.unwrap();
    assert_eq!(indexes(&platform).await, ["toys-000001"]);
    assert_eq!(found(&platform).await, ["kite"]);
    platform.stop().await;
}

/// The commands of its operator need a running platform.
#[tokio::test]
async fn paused_rebuild_without_a_serving_index_ends_with_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let (_engine, search) = lasting_search(folder.path()).await;
    let state = folder.path().join("state");
    let platform = start(&state, search.clone()).await.unwrap();
    put(&platform, "kite").await;
    // A rebuild that replaces the index is stopped once the new index is published.
    let published = Arc::new(Notify::new());
    let notify = Arc::clone(&published);
    let on_step = Box::new(move |step| {
        if step == mirror::Progress::Published {
            notify.notify_one();
        }
    });
    let order = Rebuild { begins: true, replaces: true, ..Rebuild::WITHOUT_WAIT };
    tokio::select! {
        biased;
        () = published.notified() => {}
        ended = mirror::rebuild::<Toys>(Arc::clone(&platform.engines), order, on_step) => panic!("{ended:?}"),
    }
    mirror::pause_rebuild(&SYSTEM, &platform.engines).await.unwrap();
    let state_before = mirror::generations(&SYSTEM, &platform.engines).await.unwrap().unwrap();
    assert!(state_before.rebuild_paused && state_before.of(Phase::Serving).is_none(), "{state_before:?}");
    platform.stop().await;

    let platform = start(&state, search).await.unwrap();
    assert_eq!(indexes(&platform).await, ["toys-000002"]);
    assert_eq!(found(&platform).await, ["kite"]);
    platform.stop().await;
}

/// Returns the written indexes, which must be the only ones of the engine.
async fn indexes(platform: &Platform) -> Vec<String> {
    let generations = mirror::generations(&SYSTEM, &platform.engines).await.unwrap().unwrap();
    let written: Vec<String> = generations.written.into_iter().map(|generation| generation.index).collect();
    for number in 1..=2 {
        let index = format!("toys-{number:06}");
        let url = format!("{}/{index}", platform.engines.config.search);
        let there = reqwest::Client::new().head(url).send().await.unwrap().status().is_success();
        assert_eq!(there, written.contains(&index), "{index}");
    }
    written
}

/// Returns the number of records in the table's stream.
async fn streamed(platform: &Platform) -> usize {
    let client = local::aws::streams(&platform.engines.config);
    let arn = local::aws::stream_arn(platform.engines.dynamodb(), "toys").await.unwrap();
    let described = client.describe_stream().stream_arn(&arn).send().await.unwrap();
    let mut records = 0;
    for shard in described.stream_description().unwrap().shards() {
        let start = client.get_shard_iterator().stream_arn(&arn).set_shard_id(shard.shard_id().map(str::to_owned));
        let start = start.shard_iterator_type(ShardIteratorType::TrimHorizon).send().await.unwrap();
        let read = client.get_records().set_shard_iterator(start.shard_iterator).send().await.unwrap();
        records += read.records().len();
    }
    records
}

/// dynoxide never deletes stream records, so its file would grow with every write.
#[tokio::test]
async fn handled_stream_records_are_deleted_after_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let platform = start(folder.path(), Choice::Osmem).await.unwrap();
    for name in ["ball", "kite", "top"] {
        put(&platform, name).await;
    }
    platform.stop().await;

    let platform = start(folder.path(), Choice::Osmem).await.unwrap();
    let trimmed = async {
        // The last handled record stays, so that the next numbers count on from it.
        while streamed(&platform).await != 1 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), trimmed).await.unwrap();
    assert_eq!(found(&platform).await, ["ball", "kite", "top"]);
    platform.stop().await;
}

/// A power cut can leave an empty file.
#[tokio::test]
async fn stream_with_a_damaged_checkpoint_is_read_again() {
    let folder = tempfile::tempdir().unwrap();
    let (_engine, search) = lasting_search(folder.path()).await;
    let state = folder.path().join("state");
    put_once(&state, search.clone(), "kite").await;
    let checkpoint = state.join("checkpoints/toys.json");
    assert!(std::fs::metadata(&checkpoint).unwrap().len() > 0);
    std::fs::write(&checkpoint, "").unwrap();

    let platform = start(&state, search).await.unwrap();
    put(&platform, "ball").await;
    assert_eq!(found(&platform).await, ["ball", "kite"]);
    platform.stop().await;
}

#[tokio::test]
async fn table_of_another_version_is_an_error_that_names_it() {
    static EARLIER: Table = Table { name: "toys", pk: "pk", sk: None, indexes: &[], entities: &[], stream: false };
    static EARLIER_SYSTEM: System =
        System { name: "toys", tables: &[&EARLIER], buckets: &[], sources: &[], secrets: &[] };
    let folder = tempfile::tempdir().unwrap();
    let file = State::open(folder.path()).unwrap().path("dynamodb.sqlite");
    let dynoxide = Dynoxide::start(Some(&file)).await.unwrap();
    let engines = engines_at(&dynoxide.endpoint);
    create_tables(engines.dynamodb(), &engines.config, &EARLIER_SYSTEM).await.unwrap();
    dynoxide.stop().await;

    let error = start(folder.path(), Choice::Osmem).await.unwrap_err();
    assert!(error.happened.contains("The table `toys`") && error.happened.contains("no stream"), "{error}");
    assert!(error.remedy.contains("cairn local reset"), "{error}");
}

#[tokio::test]
async fn second_reader_resumes_at_its_own_position_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let platform = start(folder.path(), Choice::Osmem).await.unwrap();
    put(&platform, "sloop").await;
    write(&platform, "puzzle").await;
    // The mirror does not wait for the second reader.
    tokio::time::timeout(Duration::from_secs(20), platform.searchable()).await.unwrap();
    assert_eq!(found(&platform).await, ["puzzle", "sloop"]);
    platform.stop().await;

    SOLVED.store(true, Ordering::SeqCst);
    let platform = start(folder.path(), Choice::Osmem).await.unwrap();
    tokio::time::timeout(Duration::from_secs(20), platform.caught_up()).await.unwrap();
    let read = READ.lock().unwrap().clone();
    let own: Vec<_> = read.iter().filter(|name| ["sloop", "puzzle"].contains(&name.as_str())).collect();
    assert_eq!(own, ["sloop", "puzzle"]);
    platform.stop().await;
}

#[tokio::test]
async fn port_or_folder_in_use_is_an_error_that_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let platform = start(folder.path(), Choice::Osmem).await.unwrap();
    let port = platform.url.rsplit(':').next().unwrap().parse().unwrap();
    let other = tempfile::tempdir().unwrap();
    let options = Options { port, search: Choice::Osmem, ..Options::new(vec![served()], other.path()) };
    let error = Platform::start(options, &Progress::silent()).await.unwrap_err();
    assert!(error.happened.contains("is in use") && error.remedy.contains("--port"), "{error}");
    for port in [0, port] {
        let options = Options { port, search: Choice::Osmem, ..Options::new(vec![served()], folder.path()) };
        let error = Platform::start(options, &Progress::silent()).await.unwrap_err();
        assert!(error.happened.contains("Another cairn") && error.remedy.contains("--state"), "{error}");
    }
    platform.stop().await;
}

#[tokio::test]
async fn unreachable_search_engine_is_an_error_with_its_url() {
    let folder = tempfile::tempdir().unwrap();
    let error = start(folder.path(), Choice::Url("http://127.0.0.1:1".to_owned())).await.unwrap_err();
    assert!(error.happened.contains("http://127.0.0.1:1"), "{error}");
}
