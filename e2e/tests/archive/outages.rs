//! Runs while an engine is down, is too slow, or kills every worker. The tests do the work of the platform's event sources,
//! so that the time between two steps is theirs.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use table::{Config, Engines};
use tokio::time::Instant;

use super::publishing::{CENSUS, LEASE, assert_nothing_is_left, long_file, post, upload};
use super::stage::{Archive, attribute, listed};
use crate::harness::proxy::Proxy;
use crate::harness::stopper::Moment;
use crate::harness::throttle::Throttle;
use crate::harness::{Answer, Setup, engines, eventually};
use crate::tests;

tests! { archive_outages:
    #[long] run_that_kills_ten_workers_is_undone,
    #[long] run_that_kills_nine_workers_is_published,
    #[long] run_that_readers_see_is_not_undone,
    #[long] run_ends_while_search_is_stopped_and_search_catches_up,
    #[long] first_run_says_that_search_lags_until_search_catches_up,
    #[long] post_that_is_unpublished_does_not_say_that_search_lags,
    #[long] run_is_cancelled_if_its_post_is_deleted_while_search_lags,
    cancelled_run_is_hidden_until_search_has_caught_up,
    #[long] run_is_complete_although_the_table_throttles,
}

/// The leases after which a run without progress is undone.
const MAX_LEASES: usize = 10;

/// An archive whose jobs only the test works on.
pub async fn by_hand(search: Option<String>) -> Archive {
    Archive::with(Setup { search, without: vec!["runJob", ::jobs::RUN_JOBS], ..Setup::of("archive") }).await
}

/// Starts a run of a file. Returns the run's path.
pub async fn begin(archive: &Archive, post: &str, csv: &str) -> String {
    upload(&archive.volunteer, post, csv).await;
    archive.volunteer.post(&format!("{post}/publish"), json!({})).await.is(202).header("location").to_owned()
}

/// Lets workers die one after the other, each before the first write after that of its lease.
async fn kill(archive: &Archive, workers: usize) {
    for worker in 0..workers {
        archive.work(Some((1, Moment::BeforeItIsSent))).await;
        archive.cairn.clock.advance(LEASE);
        assert!(archive.items().await.keys().any(|key| key.ends_with("#jobDue")), "worker {worker}");
    }
}

pub async fn ended(archive: &Archive, run: &str) -> Answer {
    let run = archive.volunteer.get(run).await.is(200);
    assert_eq!(run["phase"], "ended", "{}", run.told());
    run
}

async fn run_that_kills_ten_workers_is_undone() {
    let archive = by_hand(None).await;
    let post = post(&archive).await;
    let run = begin(&archive, &post, CENSUS).await;
    kill(&archive, MAX_LEASES).await;
    archive.finish().await;
    let run = ended(&archive, &run).await;
    assert_eq!((run.text("status"), run.text("reason")), ("failed", "no-progress"), "{}", run.told());
    let read = archive.volunteer.get(&post).await.is(200);
    assert_eq!((read.text("status"), read.text("lastError")), ("error", "no-progress"), "{}", read.told());
    assert!(archive.records().await.is_empty());
    archive.publishing_agrees().await;
    // The next run is counted by itself.
    let run = begin(&archive, &post, CENSUS).await;
    archive.finish().await;
    assert_eq!(ended(&archive, &run).await["status"], "published");
}

async fn run_that_kills_nine_workers_is_published() {
    let archive = by_hand(None).await;
    let post = post(&archive).await;
    let run = begin(&archive, &post, CENSUS).await;
    kill(&archive, MAX_LEASES - 1).await;
    // One step is progress, so the next workers count from the start.
    archive.work(Some((2, Moment::BeforeItIsSent))).await;
    archive.cairn.clock.advance(LEASE);
    kill(&archive, MAX_LEASES - 1).await;
    archive.finish().await;
    assert_eq!(ended(&archive, &run).await["status"], "published");
    assert_eq!(archive.records().await.len(), 5);
    archive.publishing_agrees().await;
}

/// A published register and a later file of it, whose run waits for search, which is stopped. Returns the paths of the post
/// and of the run.
async fn published_without_search(archive: &Archive, proxy: &Proxy) -> [String; 2] {
    let post = post(archive).await;
    begin(archive, &post, CENSUS).await;
    archive.finish().await;
    // No server listens on this port.
    proxy.move_to("http://127.0.0.1:1".to_owned());
    let run = begin(archive, &post, &CENSUS.replace("Wm.", "Huw").replace("Griffith", "Gruffudd")).await;
    until_retiring(archive, &run).await;
    [post, run]
}

/// Works on a run until readers see it, although search does not answer.
async fn until_retiring(archive: &Archive, run: &str) {
    for look in 0.. {
        assert!(look < 100, "the run still waits for search");
        archive.work(None).await;
        if archive.volunteer.get(run).await.is(200)["phase"] == "retiring" {
            break;
        }
        archive.cairn.clock.advance(Duration::from_secs(16));
    }
}

async fn lags(archive: &Archive, post: &str) -> bool {
    archive.volunteer.get(post).await.is(200)["searchLag"].as_bool().unwrap()
}

async fn run_that_readers_see_is_not_undone() {
    let (archive, proxy) = behind_proxy().await;
    let [_, run] = published_without_search(&archive, &proxy).await;
    archive.cairn.clock.advance(LEASE);
    kill(&archive, MAX_LEASES + 1).await;
    proxy.move_to(engines::search().await);
    archive.finish().await;
    assert_eq!(ended(&archive, &run).await["status"], "published");
    assert_eq!(archive.records().await.len(), 5);
    archive.publishing_agrees().await;
}

async fn run_ends_while_search_is_stopped_and_search_catches_up() {
    let (archive, proxy) = behind_proxy().await;
    let [post, run] = published_without_search(&archive, &proxy).await;
    let read = archive.volunteer.get(&post).await.is(200);
    assert_eq!((read.text("status"), &read["searchLag"]), ("published", &json!(true)), "{}", read.told());
    let listed = listed(&archive.visitor, &format!("{post}/records"), "id").await;
    let huw = archive.visitor.get(&format!("/archive/records/{}", listed[4])).await.is(200);
    assert_eq!((listed.len(), &huw["people"][0]["given"]), (5, &json!("Huw")));
    archive.visitor.get("/archive/search?surname=jones").may_fail().await.refused(503, "search-unavailable");
    let completed = archive.visitor.get("/archive/places/autocomplete?q=bala").await.is(200);
    assert_eq!(completed["complete"], false);
    proxy.move_to(engines::search().await);
    archive.finish().await;
    assert_eq!(ended(&archive, &run).await["status"], "published");
    let found = async |query: &str| -> Value {
        let found = archive.visitor.get(&format!("/archive/search?match=exact&{query}")).await.is(200);
        found["total"]["value"].clone()
    };
    for (query, total) in [("surname=pugh", 3), ("given=huw", 1), ("given=wm", 0), ("given=griffith", 0)] {
        assert_eq!(found(query).await, total, "{query}");
    }
    assert!(!lags(&archive, &post).await);
    archive.publishing_agrees().await;
}

/// An archive whose search the test stops by moving the proxy.
async fn behind_proxy() -> (Archive, Proxy) {
    let proxy = Proxy::before(engines::search().await).await;
    (by_hand(Some(proxy.url.clone())).await, proxy)
}

/// Publishes the first run of a post while search is stopped. Returns the paths of the post and the run, which waits for
/// search.
async fn first_run_without_search(archive: &Archive, proxy: &Proxy) -> (String, String) {
    let post = post(archive).await;
    proxy.move_to("http://127.0.0.1:1".to_owned());
    let run = begin(archive, &post, CENSUS).await;
    until_retiring(archive, &run).await;
    (post, run)
}

async fn first_run_says_that_search_lags_until_search_catches_up() {
    let (archive, proxy) = behind_proxy().await;
    let (post, run) = first_run_without_search(&archive, &proxy).await;
    assert!(lags(&archive, &post).await);
    proxy.move_to(engines::search().await);
    archive.finish().await;
    assert_eq!(ended(&archive, &run).await["status"], "published");
    assert!(!lags(&archive, &post).await);
    archive.publishing_agrees().await;
}

async fn post_that_is_unpublished_does_not_say_that_search_lags() {
    let (archive, proxy) = behind_proxy().await;
    let [post, _] = published_without_search(&archive, &proxy).await;
    assert!(lags(&archive, &post).await);
    archive.volunteer.post(&format!("{post}/unpublish"), json!({})).await.is(202);
    assert!(!lags(&archive, &post).await);
    proxy.move_to(engines::search().await);
    archive.finish().await;
    let read = archive.volunteer.get(&post).await.is(200);
    assert_eq!((read.text("status"), &read["searchLag"]), ("draft", &json!(false)), "{}", read.told());
    assert!(archive.records().await.is_empty());
    archive.publishing_agrees().await;
}

async fn run_is_cancelled_if_its_post_is_deleted_while_search_lags() {
    let (archive, proxy) = behind_proxy().await;
    let (post, _) = first_run_without_search(&archive, &proxy).await;
    // After 60 looks the job waits long enough for the deletion to end first.
    for _ in 0..62 {
        archive.cairn.clock.advance(Duration::from_secs(16));
        archive.work(None).await;
    }
    archive.volunteer.delete(&post).await.is(202);
    proxy.move_to(engines::search().await);
    // The deletion gives search a minute, since search has not held the records.
    archive.work(None).await;
    archive.cairn.clock.advance(Duration::from_secs(61));
    eventually("the post is deleted", async || {
        archive.work(None).await;
        archive.volunteer.get(&post).await.status == 404
    })
    .await;
    archive.finish().await;
    let items = archive.items().await;
    let runs = items.values().filter(|item| item.get("kind").is_some_and(|kind| kind.as_s().unwrap() == "publish"));
    assert_eq!(runs.map(|run| attribute(run, "status")).collect::<Vec<_>>(), ["cancelled"]);
    assert_nothing_is_left(&archive, &post).await;
}

/// The mirror is behind: it indexes the records only after they were deleted, and learns of that later still.
async fn cancelled_run_is_hidden_until_search_has_caught_up() {
    let (archive, proxy) = behind_proxy().await;
    let post = post(&archive).await;
    upload(&archive.volunteer, &post, CENSUS).await;
    let sequence = archive.table().get("sequence", "sequence").await.unwrap();
    let first = sequence["value"].as_n().unwrap().parse::<u64>().unwrap() + 1;
    let id = post.rsplit('/').next().unwrap();
    let document = format!("{first}#record_post#{id}");
    proxy.hold(&document);
    let begun = archive.volunteer.post(&format!("{post}/publish"), json!({})).await.is(202);
    let run = begun.header("location").to_owned();
    archive.work(None).await;
    proxy.holds().await;
    let phase = async || archive.volunteer.get(&run).await.is(200).text("phase").to_owned();
    assert_eq!(phase().await, "settling");
    archive.volunteer.post(&format!("{post}/cancel"), json!({})).await.is(202);
    for _ in 0..5 {
        archive.cairn.clock.advance(Duration::from_secs(2));
        archive.work(None).await;
    }
    // Search holds no record, since it has not held any yet.
    assert!(archive.records().await.is_empty());
    assert_eq!(phase().await, "undoing");
    // The records come to search, and their deletions do not yet.
    proxy.release();
    proxy.hold(&document);
    proxy.holds().await;
    let alias = archive.cairn.engines().config.search_name("archive");
    let query = json!({ "query": { "term": { "run": format!("{id}-1") } } });
    eventually("search holds records of the run", async || {
        archive.cairn.search_engine(Method::POST, &format!("/{alias}/_refresh"), &Value::Null).await;
        let held = archive.cairn.search_engine(Method::POST, &format!("/{alias}/_search"), &query).await;
        held["hits"]["total"]["value"] != 0
    })
    .await;
    let found = archive.visitor.get("/archive/search?surname=pugh").await.is(200);
    assert_eq!(found["total"]["value"], 0, "{}", found.told());
    assert_eq!(phase().await, "undoing");
    proxy.release();
    archive.finish().await;
    assert_eq!(ended(&archive, &run).await["status"], "cancelled");
    archive.publishing_agrees().await;
}

async fn run_is_complete_although_the_table_throttles() {
    let rows = 300;
    let archive = by_hand(None).await;
    let post = post(&archive).await;
    let run = begin(&archive, &post, &long_file(rows)).await;
    let config = archive.cairn.engines().config.clone();
    // A run writes 64 records at once.
    let throttle = Throttle::before(config.dynamodb.clone().unwrap(), "PutItem", 8).await;
    let config = Config { dynamodb: Some(throttle.url.clone()), ..config };
    let app = ::archive::app(Engines::new(config, archive.cairn.clock.clone())).metrics_to(|_| {});
    for _ in 0..10 {
        // A worker without time leaves the rest to the next.
        drop(app.event(::jobs::RUN_JOBS, "{}".into(), Instant::now() + Duration::from_secs(60)).await);
        if archive.records().await.len() == rows {
            break;
        }
        archive.cairn.clock.advance(LEASE);
    }
    assert!(throttle.throttled() > 0);
    archive.finish().await;
    assert_eq!(archive.records().await.len(), rows);
    assert_eq!(ended(&archive, &run).await["status"], "published");
    archive.publishing_agrees().await;
}
