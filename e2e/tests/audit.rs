//! The audit of search, by its event handler and by `cairn audit`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use ::mirror::{AUDIT, DifferenceKind, StatusWord, Subject, TableAudit, last_audits};
use aws_sdk_dynamodb::types::AttributeValue;
use futures::future::join;
use local::systems;
use reqwest::Method;
use serde_json::{Value, json};
use table::Key;
use tokio::time::Instant;

use crate::harness::table::text;
use crate::harness::{Cairn, Setup, sized};
use crate::mirror::{campground, copy};
use crate::tests;

tests! { audit:
    handler_repairs_each_kind_of_difference,
    lost_document_below_the_marker_of_a_later_state_is_repaired,
    #[long] command_reports_in_a_dry_run_and_repairs_otherwise,
    command_refuses_an_unknown_table_and_system,
    handler_reports_the_audit_of_an_operator_once,
    handler_refuses_a_wait_that_does_not_fit_its_time,
    #[long] shape_without_its_object_is_reported_until_it_is_stored_again,
    #[long] writes_during_an_audit_are_no_differences,
    handler_audits_once_a_day,
}

/// The time limit of the function.
const LIMIT: Duration = Duration::from_mins(15);

/// The first index of a system, for direct access.
pub struct Index<'c> {
    cairn: &'c Cairn,
    name: String,
}

impl<'c> Index<'c> {
    pub fn of(cairn: &'c Cairn, system: &str) -> Self {
        Self { cairn, name: format!("{}-000001", cairn.engines().config.search_name(system)) }
    }

    /// Returns the version and the source of a document.
    pub async fn get(&self, id: &str) -> Option<(u64, Value)> {
        let path = format!("/{}/_mget", self.name);
        let found = self.cairn.search_engine(Method::POST, &path, &json!({ "ids": [id] })).await;
        let document = &found["docs"][0];
        document["found"].as_bool().unwrap().then(|| {
            let version = document["_version"].as_u64().unwrap();
            (version, document["_source"].clone())
        })
    }

    /// Replaces a document of this version or a lower one.
    pub async fn put(&self, id: &str, version: u64, source: &Value) {
        self.cairn.search_engine(Method::PUT, &self.path(id, version), source).await;
    }

    /// Removes a document as if it had never been there: any version from its own on may be written.
    pub async fn remove(&self, id: &str) {
        let (version, _) = self.get(id).await.unwrap();
        self.cairn.search_engine(Method::DELETE, &self.path(id, version), &Value::Null).await;
    }

    fn path(&self, id: &str, version: u64) -> String {
        let id = id.replace('%', "%25").replace('#', "%23").replace('/', "%2F");
        format!("/{}/_doc/{id}?version={version}&version_type=external_gte&refresh=true", self.name)
    }
}

/// Audits a system by its handler. Returns the results by table.
pub async fn audit(cairn: &Cairn, system: &str) -> BTreeMap<String, TableAudit> {
    cairn.caught_up().await;
    cairn.event_within(LIMIT, system, AUDIT, &json!({ "now": true, "waitSeconds": 0 })).await.unwrap();
    results(cairn, system).await
}

async fn results(cairn: &Cairn, system: &str) -> BTreeMap<String, TableAudit> {
    let system = systems::named(system).unwrap().system;
    let last = last_audits(system, cairn.engines()).await.unwrap();
    last.into_iter().map(|(_, result)| (result.table.clone(), result)).collect()
}

/// Returns how many differences of each kind were found and left.
pub fn counts(result: &TableAudit) -> Vec<(DifferenceKind, u64, u64)> {
    result.findings.iter().map(|(kind, finding)| (*kind, finding.found, finding.left)).collect()
}

/// Opens the marker of an item, as a function that died in between would.
pub async fn mark(cairn: &Cairn, table: &table::schema::Table, key: &Key, rev: u64) {
    let system = table.name.split('-').next().unwrap();
    let state = cairn.engines().config.table(&format!("{system}-mirror"));
    let subject = Subject::Item { table: table.name.to_owned(), key: key.clone() };
    let number = |number: u64| AttributeValue::N(number.to_string());
    let request = cairn.engines().dynamodb().put_item().table_name(state);
    let request = request
        .item("pk", text(&marker_pk(cairn, system)))
        .item("sk", text(&subject.name()))
        .item("table", text(table.name))
        .item("itemPk", text(&key.pk))
        .item("markedRev", number(rev))
        .item("code", text("unfit"))
        .item("reason", text("attribute `displayName` is no text"))
        .item("object", text("quarantine/0.json"))
        .item("since", number(1_767_225_600_000_000));
    let request = match &key.sk {
        Some(sk) => request.item("itemSk", text(sk)),
        None => request,
    };
    request.send().await.unwrap();
}

/// Removes the marker of an item.
pub async fn unmark(cairn: &Cairn, table: &table::schema::Table, key: &Key) {
    let system = table.name.split('-').next().unwrap();
    let state = cairn.engines().config.table(&format!("{system}-mirror"));
    let subject = Subject::Item { table: table.name.to_owned(), key: key.clone() };
    let request = cairn.engines().dynamodb().delete_item().table_name(state);
    request.key("pk", text(&marker_pk(cairn, system))).key("sk", text(&subject.name())).send().await.unwrap();
}

fn marker_pk(cairn: &Cairn, system: &str) -> String {
    format!("marker#{}-000001", cairn.engines().config.search_name(system))
}

/// Audits parks by the command, which must exit with this code. Returns its output.
async fn printed(cairn: &Cairn, code: i32, arguments: &[&str]) -> String {
    cairn.command(&[&["audit", "parks"], arguments].concat()).await.exited(code)
}

fn id(number: u32) -> String {
    format!("facility::bcparks_1#campground::{number}")
}

fn key(number: u32) -> Key {
    Key::new("facility::bcparks_1", format!("campground::{number}"))
}

/// Starts a platform with this many campgrounds.
async fn campgrounds(number: u32) -> Cairn {
    let cairn = Cairn::with_strathcona().await;
    let item = campground(&cairn).await;
    for at in 2..=number {
        let name = format!("Model {at}");
        cairn.table().put(copy(&item, at, &[("displayName", text(&name))])).await;
    }
    cairn.caught_up().await;
    cairn
}

async fn handler_repairs_each_kind_of_difference() {
    let cairn = campgrounds(9).await;
    let (index, table) = (Index::of(&cairn, "parks"), cairn.table());
    let parks = &::parks::schema::PARKS;
    assert_eq!(counts(&audit(&cairn, "parks").await["parks"]), [], "an index that is equal");

    index.remove(&id(1)).await;
    let (version, right) = index.get(&id(2)).await.unwrap();
    let mut corrupt = right.clone();
    corrupt["name"] = json!("Corrupt");
    index.put(&id(2), version, &corrupt).await;
    let (version, later) = index.get(&id(3)).await.unwrap();
    index.put(&id(3), version + 11, &later).await;
    // A copy of an item's document, under the key of an item that does not exist.
    index.put(&id(90), version, &right).await;
    // Poison whose marker is lost.
    let item = table.get("facility::bcparks_1", "campground::4").await.unwrap();
    let rev: u64 = item["rev"].as_n().unwrap().parse().unwrap();
    let rev = AttributeValue::N((rev + 2).to_string());
    table.put(copy(&item, 4, &[("displayName", AttributeValue::Bool(true)), ("rev", rev)])).await;
    assert_eq!(cairn.quarantined().await.len(), 1);
    unmark(&cairn, parks, &key(4)).await;
    mark(&cairn, parks, &key(5), 2).await;
    // A shape that is coarser than it must be.
    let (version, mut coarse) = index.get(&id(6)).await.unwrap();
    let envelope = json!({ "type": "envelope", "coordinates": [[-126.0, 50.0], [-125.0, 49.0]] });
    coarse["boundary"] = envelope;
    coarse["boundaryStatus"] = json!("missing");
    index.put(&id(6), version, &coarse).await;

    let found = audit(&cairn, "parks").await;
    let expected = [
        DifferenceKind::Lost,
        DifferenceKind::Ghost,
        DifferenceKind::Stale,
        DifferenceKind::Corrupt,
        DifferenceKind::Unmarked,
    ];
    let expected = expected.into_iter().chain([DifferenceKind::MissingShape, DifferenceKind::StaleMarker]);
    assert_eq!(counts(&found["parks"]), expected.map(|kind| (kind, 1, 0)).collect::<Vec<_>>());
    assert_eq!(found["parks"].findings[&DifferenceKind::Ghost].examples, [id(90)]);
    cairn.caught_up().await;
    assert_eq!(cairn.quarantined().await.len(), 1);
    assert_eq!(counts(&audit(&cairn, "parks").await["parks"]), [], "it is equal again");
    assert_eq!(cairn.visitor().search("q=model").await.total(), 8);
    assert_eq!(cairn.visitor().search("q=corrupt").await.total(), 0);
}

/// A host whose clock is behind has created the item again, and the marker of its former state is still open.
async fn lost_document_below_the_marker_of_a_later_state_is_repaired() {
    let cairn = campgrounds(2).await;
    let index = Index::of(&cairn, "parks");
    let (version, right) = index.get(&id(1)).await.unwrap();
    mark(&cairn, &::parks::schema::PARKS, &key(1), version + 100).await;
    index.remove(&id(1)).await;
    let found = audit(&cairn, "parks").await;
    let expected = [DifferenceKind::Lost, DifferenceKind::StaleMarker].map(|kind| (kind, 1, 0)).to_vec();
    assert_eq!(counts(&found["parks"]), expected);
    assert_eq!(index.get(&id(1)).await, Some((version, right)));
    assert_eq!(cairn.quarantined().await, Vec::new());
    assert_eq!(counts(&audit(&cairn, "parks").await["parks"]), [], "it is equal again");
}

async fn command_reports_in_a_dry_run_and_repairs_otherwise() {
    let cairn = campgrounds(3).await;
    let index = Index::of(&cairn, "parks");
    let quick = ["--wait", "0"];
    assert!(printed(&cairn, 0, &["--last"]).await.starts_with("No audit of parks has ended yet."));
    let equal = printed(&cairn, 0, &quick).await;
    assert!(equal.contains("  parks  ") && equal.trim_end().ends_with("4 documents, equal"), "{equal}");

    index.remove(&id(2)).await;
    for _ in 0..2 {
        let dry = printed(&cairn, 3, &["--dry-run", "--wait", "0"]).await;
        assert!(dry.contains(&format!("lost: 1 found, 0 repaired, 1 left: {}\n", id(2))), "{dry}");
    }
    assert!(index.get(&id(2)).await.is_none());
    let of_table = printed(&cairn, 0, &["--table", "parks", "--wait", "0"]).await;
    assert!(of_table.contains("lost: 1 found, 1 repaired, 0 left"), "{of_table}");
    assert!(index.get(&id(2)).await.is_some());

    // A dry run and one table are no full audit.
    let last = printed(&cairn, 0, &["--last", "--json"]).await;
    let last: Vec<Value> = last.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let parks = last.iter().find(|result| result["table"] == "parks").unwrap();
    assert_eq!((&parks["full"], &parks["left"], &parks["findings"]), (&json!(true), &json!(0), &json!({})));
    assert!(parks["ended"].is_string() && parks["generation"].as_str().unwrap().ends_with("parks-000001"), "{parks}");

    index.put("bush", 10, &json!({ "pk": "bush", "name": "Ghost" })).await;
    let without_table = printed(&cairn, 3, &quick).await;
    let ghost = "  0 items, 1 documents\n  ghost: 1 found, 0 repaired, 1 left: bush\n";
    assert!(without_table.contains("  (no table)  ") && without_table.contains(ghost), "{without_table}");
    let differs = "the last audit has left 1 finding: `cairn audit parks --last` prints what differs";
    assert_eq!(cairn.command(&["status", "parks"]).await.exited(3), format!("parks  differs  {differs}\n"));
    index.remove("bush").await;
    printed(&cairn, 0, &quick).await;
    assert_eq!(cairn.command(&["status", "parks"]).await.exited(0), "parks  ok\n");
}

async fn command_refuses_an_unknown_table_and_system() {
    let cairn = Cairn::start().await;
    for (arguments, expected) in [
        (&["parks", "--table", "trees"][..], "`trees` is not a searchable table.\nUse one of: parks"),
        (&["trees"][..], "There is no system `trees`."),
    ] {
        let error = cairn.command(&[&["audit"], arguments].concat()).await.failed();
        assert!(error.contains(expected), "{error}");
    }
}

async fn shape_without_its_object_is_reported_until_it_is_stored_again() {
    let cairn = campgrounds(1).await;
    let index = Index::of(&cairn, "parks");
    let folder = std::fs::read_dir(cairn.bucket("parks").join("geometries")).unwrap();
    let mut objects = folder.map(|entry| entry.unwrap().path()).filter(|path| path.extension().is_some());
    let object = objects.find(|path| path.is_file()).unwrap();
    let kept = std::fs::read(&object).unwrap();
    std::fs::remove_file(&object).unwrap();
    // The document is what its item maps to now: it has the shape's envelope.
    cairn.repair("facility::bcparks_1", "campground::1").await;
    assert_eq!(index.get(&id(1)).await.unwrap().1["boundaryStatus"], "missing");
    for _ in 0..2 {
        let found = &audit(&cairn, "parks").await["parks"];
        assert_eq!(counts(found), [(DifferenceKind::MissingShape, 1, 1)]);
        assert_eq!((found.differences(), found.left(), found.missing_shapes()), (0, 1, 1));
    }
    std::fs::write(&object, kept).unwrap();
    assert_eq!(counts(&audit(&cairn, "parks").await["parks"]), [(DifferenceKind::MissingShape, 1, 0)]);
    assert_eq!(index.get(&id(1)).await.unwrap().1["boundaryStatus"], "full");
    assert_eq!(counts(&audit(&cairn, "parks").await["parks"]), []);
}

async fn writes_during_an_audit_are_no_differences() {
    let cairn = campgrounds(sized(60, 2_000)).await;
    let admin = cairn.administrator().await;
    let index = Index::of(&cairn, "parks");
    index.remove(&id(2)).await;
    let writes = async {
        for number in 0..sized(120, 2_000) {
            let url = format!("/parks/facilities/bcparks_1/campground/{}", 3 + number % 20);
            admin.patch(&url, json!({ "displayName": format!("Written {number}") })).await.is(200);
        }
        for number in 30..40 {
            admin.delete(&format!("/parks/facilities/bcparks_1/campground/{number}")).await;
        }
    };
    let payload = json!({ "now": true, "waitSeconds": 2 });
    let (audited, ()) = join(cairn.event_within(LIMIT, "parks", AUDIT, &payload), writes).await;
    audited.unwrap();
    assert_eq!(counts(&results(&cairn, "parks").await["parks"]), [(DifferenceKind::Lost, 1, 0)]);
    assert_eq!(counts(&audit(&cairn, "parks").await["parks"]), []);
}

async fn handler_audits_once_a_day() {
    let cairn = Cairn::with(Setup::of("shelf")).await;
    let call = async || {
        cairn.event("shelf", AUDIT, &json!({})).await.unwrap();
        results(&cairn, "shelf").await["shelf"].started
    };
    let first = call().await;
    assert_eq!(call().await, first);
    cairn.clock.advance(Duration::from_secs(22 * 3600));
    assert_eq!(call().await, first);
    cairn.clock.advance(Duration::from_secs(2 * 3600));
    assert!(call().await > first);

    let shelf = systems::named("shelf").unwrap();
    let status = async || ::mirror::status(shelf.system, cairn.engines(), (shelf.mapping)().version).await.unwrap();
    assert_eq!(status().await.word, StatusWord::Ok);
    cairn.clock.advance(Duration::from_secs(27 * 3600));
    let overdue = status().await;
    let reason = "the last audit ended 27 hours ago: `cairn audit shelf`";
    assert_eq!((overdue.word, overdue.reason.as_deref()), (StatusWord::Unaudited, Some(reason)));
}

async fn handler_reports_the_audit_of_an_operator_once() {
    let cairn = Cairn::with(Setup::of("parks")).await;
    printed(&cairn, 0, &["--wait", "0"]).await;
    let lines = Arc::new(Mutex::new(Vec::new()));
    let written = Arc::clone(&lines);
    let app = (systems::named("parks").unwrap().app)(Arc::clone(cairn.engines()));
    let app = app.metrics_to(move |line| written.lock().unwrap().push(line.to_owned()));
    for audits in [1, 0] {
        app.event(AUDIT, "{}".into(), Instant::now() + LIMIT).await.unwrap();
        let lines = std::mem::take(&mut *lines.lock().unwrap());
        assert_eq!(lines.iter().filter(|line| line.contains(r#""Audits":1"#)).count(), audits, "{lines:?}");
    }
}

async fn handler_refuses_a_wait_that_does_not_fit_its_time() {
    let cairn = Cairn::with(Setup::of("shelf")).await;
    let payload = json!({ "now": true, "waitSeconds": 450 });
    let refused = cairn.event_within(LIMIT, "shelf", AUDIT, &payload).await.unwrap_err();
    assert!(refused.contains("a wait of 450 s does not fit a run of 899 s: give at most 299 s"), "{refused}");
}
