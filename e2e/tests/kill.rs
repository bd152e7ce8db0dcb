//! The whole process or only search is killed. Afterwards search shows exactly the items of the table.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::process::Process;
use crate::harness::proxy::Proxy;
use crate::harness::relay::HTTP;
use crate::harness::{
    Answer, Cairn, Set, Setup, User, engines, eventually, eventually_some, seed, send_file_or_gone, sized, temporary,
};
use crate::parks::shapes::{ellipse, rectangle};
use crate::tests;

tests! { kill:
    #[long] platform_killed_at_failpoints_and_at_random_loses_nothing,
    #[long] search_restart_revives_no_deleted_document,
}

const ZONES: &str = "/parks/geozones/bcparks_1";

/// The writes that were confirmed to a user.
#[derive(Default)]
struct Told {
    /// The last name of each item by its path, or `None` after its deletion.
    names: BTreeMap<String, Option<String>>,
    /// Whether S3 confirmed the file of each announced upload.
    uploads: BTreeMap<String, bool>,
    rounds: u32,
}

impl Told {
    /// Creates, changes, deletes and uploads until the platform is killed. A request without a response may have been
    /// carried out.
    async fn work(&mut self, admin: &User) {
        while self.round(admin).await.is_some() {}
    }

    async fn round(&mut self, admin: &User) -> Option<()> {
        self.rounds += 1;
        let name = format!("Round {}", self.rounds);
        let mut new = json!({ "displayName": name, "location": [1, 2], "isVisible": true });
        if self.rounds.is_multiple_of(3) {
            new["boundary"] = rectangle(f64::from(self.rounds % 50), 1.0, f64::from(self.rounds % 50) + 1.0, 2.0);
        }
        let made = admin.post(ZONES, new).or_gone().await?.is(201);
        let path = made.header("location").to_owned();
        self.names.insert(path.clone(), Some(name.clone()));
        if self.rounds.is_multiple_of(2) {
            // Until the response arrives, either name may be the present one.
            self.names.remove(&path);
            let changed = format!("{name} changed");
            admin.patch(&path, json!({ "displayName": changed })).or_gone().await?.is(200);
            self.names.insert(path.clone(), Some(changed));
        }
        if self.rounds.is_multiple_of(5) {
            self.names.remove(&path);
            admin.delete(&path).or_gone().await?.is(204);
            self.names.insert(path, None);
        }
        if self.rounds.is_multiple_of(4) {
            let ring = ellipse([f64::from(self.rounds % 90), 1.0], [0.5, 0.5], 600, 7);
            let file = format!(r#"{{"type":"Polygon","coordinates":[{ring}]}}"#);
            let announced =
                admin.post("/parks/geometries/uploads", json!({ "bytes": file.len() })).or_gone().await?.is(201);
            let upload = announced.header("location").to_owned();
            // S3 may keep a file without a response to its sender.
            self.uploads.insert(upload.clone(), false);
            assert_eq!(send_file_or_gone(&announced, &file).await.ok()?, 200, "{upload}");
            self.uploads.insert(upload, true);
        }
        Some(())
    }

    /// Asserts that all confirmed writes are still there.
    async fn holds(&self, admin: &User) {
        for (path, name) in &self.names {
            let read = admin.get(path).await.is(200);
            match name {
                Some(name) => assert_eq!(read["displayName"], *name, "{}", read.told()),
                None => assert_eq!(read["isDeleted"], true, "{}", read.told()),
            }
        }
        for (upload, is_confirmed) in &self.uploads {
            eventually(&format!("{upload} settles, confirmed: {is_confirmed}"), async || {
                let upload = admin.get(upload).await.is(200);
                // Only an upload whose file S3 did not confirm may wait for it.
                upload["status"] == "ready" || (!is_confirmed && upload["status"] == "awaiting")
            })
            .await;
        }
    }
}

/// Waits until search has each item at its revision and nothing else. Returns its documents.
async fn settled(process: &Process) -> BTreeMap<String, Value> {
    let admin = process.administrator();
    let mut revs = BTreeMap::new();
    for list in [ZONES.to_owned(), format!("{ZONES}?deleted=true"), "/parks/collections".to_owned()] {
        for summary in admin.pages(&list, 100).await.iter().flat_map(|page| page["items"].as_array().unwrap().clone()) {
            let read = admin.get(&format!("/parks/items/{}", summary["globalId"].as_str().unwrap())).await.is(200);
            revs.insert(format!("{}#{}", read.text("pk"), read.text("sk")), read.rev());
        }
    }
    let documents = eventually_some("search has what the table has", async || {
        let documents = documents(process).await;
        let found: BTreeMap<String, u64> =
            documents.iter().map(|(id, document)| (id.clone(), document["rev"].as_u64().unwrap())).collect();
        (found == revs).then_some(documents)
    });
    documents.await
}

/// Returns the live documents of an index, by id.
async fn documents(process: &Process) -> BTreeMap<String, Value> {
    let url = format!("{}/parks", process.search);
    HTTP.post(format!("{url}/_refresh")).send().await.unwrap();
    let all = json!({ "size": 10_000, "query": { "match_all": {} } }).to_string();
    let found = HTTP.post(format!("{url}/_search")).header("content-type", "application/json").body(all);
    let found: Value = serde_json::from_str(&found.send().await.unwrap().text().await.unwrap()).unwrap();
    let hits = found["hits"]["hits"].as_array().unwrap_or_else(|| panic!("{found}"));
    assert!(hits.len() < 10_000);
    hits.iter().map(|hit| (hit["_id"].as_str().unwrap().to_owned(), hit["_source"].clone())).collect()
}

async fn platform_killed_at_failpoints_and_at_random_loses_nothing() {
    let folder = temporary::folder();
    let state = folder.path().join("state");
    let (mut told, mut random) = (Told::default(), seed::random("kill"));

    let first = Process::start(&state, Some("mirror.applied=12")).await;
    let new = json!({ "collectionId": "bcparks_1", "displayName": "Strathcona Park", "isVisible": true });
    first.administrator().post("/parks/collections", new).await.is(201);
    told.work(&first.administrator()).await;
    first.died().await;

    for failpoint in sized(&[][..], &["stream.unread=9", "objects.stored=4"]) {
        let process = Process::start(&state, Some(failpoint)).await;
        told.work(&process.administrator()).await;
        process.died().await;
    }
    for _ in 0..sized(0, 2) {
        let process = Process::start(&state, None).await;
        let admin = process.administrator();
        let killed = Duration::from_millis(random.u64(300..2300));
        // The process is killed while requests are pending.
        let _ = tokio::time::timeout(killed, told.work(&admin)).await;
        process.kill().await;
    }

    let process = Process::start(&state, None).await;
    told.holds(&process.administrator()).await;
    let by_stream = settled(&process).await;
    // The number of applied records depends on their division into batches.
    assert!(told.names.len() > 3 && by_stream.len() >= told.names.len(), "{} of {}", by_stream.len(), told.names.len());
    process.stop().await;

    if sized(false, true) {
        refilled_index_is_the_same(&state, &by_stream).await;
    }
    left_nothing(&state);
}

/// Asserts that an index which is filled from the table is the same.
async fn refilled_index_is_the_same(state: &Path, by_stream: &BTreeMap<String, Value>) {
    if engines::set() != Set::WithoutJava {
        std::fs::remove_dir_all(state.join("opensearch")).unwrap();
    }
    let process = Process::start(state, None).await;
    let by_scan = settled(&process).await;
    let differing = by_stream.iter().find(|(id, document)| by_scan.get(*id) != Some(document));
    assert_eq!(differing.map(|(id, document)| (document, by_scan.get(id))), None);
    assert_eq!(by_stream.len(), by_scan.len());
    process.stop().await;
}

/// Asserts that no process of the platform uses the folder any more.
fn left_nothing(state: &Path) {
    let state = state.display().to_string();
    let processes = std::fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    for process in processes {
        let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).into_owned();
        assert!(!line.contains(&state), "still running: {line}");
    }
}

async fn search_restart_revives_no_deleted_document() {
    let folder = temporary::folder();
    let (search, url) = engines::own_search(folder.path()).await;
    let proxy = Proxy::before(url).await;
    let cairn = Cairn::with(Setup { search: Some(proxy.url.clone()), ..Setup::default() }).await;
    cairn.collection("bcparks_1", "Strathcona Park").await;
    let (admin, visitor) = (cairn.administrator().await, cairn.visitor());
    let mut made: Vec<Answer> = Vec::new();
    for number in 0..12 {
        let new = json!({ "displayName": format!("Fleeting {number}"), "location": [1, 2], "isVisible": true });
        made.push(admin.post(ZONES, new).await.is(201));
    }
    let table = cairn.table();
    let mut old = Vec::new();
    for zone in &made {
        old.push(table.get(zone.text("pk"), zone.text("sk")).await.unwrap());
    }
    assert_eq!(visitor.search("q=fleeting").await.total(), 12);
    // Half of them are deleted by their administrators, the others directly in the table.
    for (number, zone) in made.iter().enumerate() {
        if number % 2 == 0 {
            admin.delete(zone.header("location")).await.is(204);
        } else {
            table.delete(zone.text("pk"), zone.text("sk")).await;
        }
    }
    visitor.search("q=fleeting").await.is_nothing();

    // A normal stop, and a start on the same data.
    search.stop().await;
    visitor.get("/parks/search?q=fleeting").may_fail().await.refused(503, "search-unavailable");
    let (search, url) = engines::own_search(folder.path()).await;
    proxy.move_to(url);
    // Every earlier record is delivered again.
    let records: Vec<Value> = old.iter().enumerate().map(|(at, item)| table.insert_record(item, at)).collect();
    let answer = cairn.event("parks", "mirror", &json!({ "Records": records })).await.unwrap();
    assert_eq!(answer, json!({ "batchItemFailures": [] }));
    visitor.search("q=fleeting").await.is_nothing();
    let again = json!({ "displayName": "Lasting", "location": [1, 2], "isVisible": true });
    admin.post(ZONES, again).await.is(201);
    visitor.search("q=lasting").await.are(&["Lasting"]);
    drop(cairn);
    search.stop().await;
}
