//! Single batches in a world without faults, except those that the test causes.

use std::time::Duration;

use serde_json::{Value, json};
use table::Key;

use super::executor::{TABLES, drive};
use super::toy::Leaves;
use super::world::{Attributes, Record, Shared};
use crate::documents::Documents;
use crate::first_index::create;
use crate::generation::Generations;
use crate::quarantine::Code;
use crate::rebuild::Progress;
use crate::report::Ledger;
use crate::work::{ProcessedBatch, process_batch};

/// Creates a world with an index that serves.
pub(super) fn serving() -> Shared {
    let shared = Shared::default();
    shared.world().now = 1_000_000;
    create_first_index(&shared);
    shared
}

fn create_first_index(shared: &Shared) {
    drive(shared, create(shared, &Leaves, "toy", Duration::ZERO, &|_| ())).unwrap();
}

pub(super) fn deliver(shared: &Shared, payload: &str) -> ProcessedBatch {
    drive(shared, process_batch(shared, &Leaves, &TABLES, payload)).unwrap()
}

/// Delivers the records of the stream from this position on.
pub(super) fn deliver_from(shared: &Shared, from: usize) -> ProcessedBatch {
    let to = shared.world_len();
    let payload = shared.world().event(from, to);
    deliver(shared, &payload)
}

pub(super) fn leaf(name: &str, rev: u64) -> Attributes {
    attributes(json!({"name": {"S": name}, "rev": {"N": rev.to_string()}}))
}

/// Returns a leaf whose size is not a number.
pub(super) fn poison(rev: u64) -> Attributes {
    let mut poison = leaf("poison", rev);
    poison.insert("size".to_owned(), json!({ "S": "large" }));
    poison
}

pub(super) fn attributes(value: Value) -> Attributes {
    let Value::Object(attributes) = value else { panic!("an item is an object") };
    attributes
}

pub(super) fn key(tree: &str) -> Key {
    Key::new(format!("TREE#{tree}"), "LEAF#1")
}

pub(super) fn put(shared: &Shared, tree: &str, item: Option<Attributes>) {
    shared.world().put(&key(tree), item);
}

pub(super) fn visible(shared: &Shared) -> Vec<(String, u64)> {
    let documents = shared.world().search.visible("toy");
    documents.into_iter().map(|(id, document)| (id, document.version)).collect()
}

pub(super) fn codes(shared: &Shared) -> Vec<(Code, u64)> {
    shared.world().markers.values().map(|marker| (marker.code, marker.rev)).collect()
}

const NOTHING_FAILED: &str = r#"{"batchItemFailures":[]}"#;

#[test]
fn last_record_of_a_key_decides_between_document_and_tombstone() {
    let shared = serving();
    put(&shared, "a", Some(leaf("old", 10)));
    put(&shared, "a", None);
    put(&shared, "a", Some(leaf("new", 14)));
    put(&shared, "b", Some(leaf("short", 10)));
    put(&shared, "b", None);
    let processed = deliver_from(&shared, 0);
    assert_eq!(processed.answer, NOTHING_FAILED);
    assert_eq!(processed.ledger, Ledger { records: 5, applied: 2, superseded: 3, ..Ledger::default() });
    assert_eq!(visible(&shared), [("TREE#a#LEAF#1".to_owned(), 14)]);
}

#[test]
fn item_with_any_unfit_attribute_goes_to_quarantine_alone() {
    for (attribute, value) in [
        ("name", json!({"N": "1"})),
        ("name", json!({"NULL": true})),
        ("name", json!({"SS": ["x"]})),
        ("size", json!({"S": "1"})),
        ("size", json!({"L": [{"N": "1"}]})),
        ("area", json!({"M": {}})),
        ("hidden", json!({"S": "true"})),
    ] {
        let shared = serving();
        let mut poison = leaf("poison", 10);
        poison.insert(attribute.to_owned(), value);
        put(&shared, "a", Some(leaf("before", 10)));
        put(&shared, "b", Some(poison));
        put(&shared, "c", Some(leaf("after", 10)));
        let processed = deliver_from(&shared, 0);
        assert_eq!(processed.answer, NOTHING_FAILED);
        assert_eq!(processed.ledger, Ledger { records: 3, applied: 2, quarantined: 1, ..Ledger::default() });
        let others = [("TREE#a#LEAF#1".to_owned(), 10), ("TREE#c#LEAF#1".to_owned(), 10)];
        assert_eq!(visible(&shared), others);
        assert_eq!(codes(&shared), [(Code::Unfit, 10)]);
        let kept: Value = serde_json::from_str(shared.world().kept.values().next().unwrap()).unwrap();
        assert_eq!((&kept["pk"], &kept["code"]), (&json!("TREE#b"), &json!("unfit")));
        assert!(kept["reason"].as_str().unwrap().contains(attribute), "{kept}");
        assert_eq!(kept["record"]["dynamodb"]["NewImage"]["name"]["S"].is_null(), attribute == "name");

        // A later valid write clears the marker.
        let from = shared.world_len();
        put(&shared, "b", Some(leaf("cured", 12)));
        assert_eq!(deliver_from(&shared, from).ledger.applied, 1);
        assert_eq!(codes(&shared), []);
        assert_eq!(visible(&shared).len(), 3);
    }
}

#[test]
fn unreadable_records_go_to_quarantine_alone() {
    let shared = serving();
    put(&shared, "a", Some(leaf("good", 10)));
    shared.world().put(&Key::new("BUSH#a", "LEAF#1"), Some(leaf("no such template", 10)));
    shared.world().put(&Key::new(format!("TREE#{}", "long".repeat(200)), "LEAF#1"), Some(leaf("long key", 10)));
    let event: Value = serde_json::from_str(&shared.world().event(0, 3)).unwrap();
    let mut records = event["Records"].as_array().unwrap().clone();
    let mut elsewhere = records[0].clone();
    elsewhere["eventSourceARN"] = json!("arn:aws:dynamodb:r:1:table/others/stream/x");
    let mut keyless = records[0].clone();
    keyless["dynamodb"]["Keys"] = json!({"PK": {"N": "1"}});
    let mut shapeless = records[0].clone();
    shapeless["dynamodb"] = json!("?");
    records.extend([elsewhere, keyless, shapeless, json!(7)]);
    let processed = deliver(&shared, &json!({ "Records": records }).to_string());
    assert_eq!(processed.answer, NOTHING_FAILED);
    assert_eq!(processed.ledger, Ledger { records: 7, applied: 1, quarantined: 6, ..Ledger::default() });
    assert_eq!(visible(&shared), [("TREE#a#LEAF#1".to_owned(), 10)]);
    let mut found: Vec<_> = codes(&shared).into_iter().map(|(code, _)| code.name()).collect();
    found.sort_unstable();
    let unknown = ["unknown-record"; 4];
    assert_eq!(found, [&["key-too-long", "unknown-key"][..], &unknown].concat());
    assert_eq!(shared.world().kept.len(), 6);
}

#[test]
fn record_with_unknown_event_name_is_quarantined_and_applied() {
    let shared = serving();
    put(&shared, "a", Some(leaf("x", 10)));
    deliver_from(&shared, 0);
    let from = shared.world_len();
    put(&shared, "a", None);
    shared.world().stream[from].name = "EXPIRED";
    let processed = deliver_from(&shared, from);
    assert_eq!(processed.ledger, Ledger { records: 1, quarantined: 1, ..Ledger::default() });
    assert_eq!((visible(&shared), codes(&shared)), (vec![], vec![]));
    assert_eq!(shared.world().kept.len(), 1);
}

#[test]
fn key_that_is_never_searchable_is_ignored_with_any_event_name() {
    let shared = serving();
    shared.world().put(&Key::new("COUNTER", "leaves"), Some(attributes(json!({"value": {"N": "1"}}))));
    shared.world().stream[0].name = "EXPIRED";
    let processed = deliver_from(&shared, 0);
    assert_eq!(processed.answer, NOTHING_FAILED);
    assert_eq!(processed.ledger, Ledger { records: 1, ignored: 1, ..Ledger::default() });
}

#[test]
fn records_are_folded_in_the_numeric_order_of_sequence_numbers() {
    let shared = serving();
    put(&shared, "a", Some(leaf("old", 10)));
    put(&shared, "a", Some(leaf("new", 12)));
    // Their numbers are 5 and 12.
    let mut event: Value = serde_json::from_str(&shared.world().event(0, 2)).unwrap();
    event["Records"].as_array_mut().unwrap().reverse();
    let processed = deliver(&shared, &event.to_string());
    assert_eq!(processed.ledger, Ledger { records: 2, applied: 1, superseded: 1, ..Ledger::default() });
    assert_eq!(visible(&shared), [("TREE#a#LEAF#1".to_owned(), 12)]);
}

#[test]
fn batch_without_a_known_generation_reports_every_record() {
    let shared = serving();
    put(&shared, "a", Some(leaf("x", 10)));
    let reported = Ledger { records: 1, reported: 1, ..Ledger::default() };
    let written = shared.world().generations.clone().unwrap();
    let mut unknown = written.clone();
    unknown.written[0].mapping = Leaves.mapping().version + 1;
    let empty = Generations { written: Vec::new(), ..written };
    for generations in [None, Some(empty), Some(unknown)] {
        shared.world().generations = generations;
        let processed = deliver_from(&shared, 0);
        assert_eq!((processed.ledger, processed.answer.contains("\"5\"")), (reported, true));
    }
    assert_eq!(visible(&shared), []);
}

#[test]
fn every_generation_is_written() {
    let shared = serving();
    let second = {
        let mut world = shared.world();
        let body = crate::mapping::index_body(Leaves.mapping(), "toy-000002-write").unwrap();
        world.search.create("toy-000002", &body);
        let generations = world.generations.as_mut().unwrap();
        let second = crate::generation::Generation { index: "toy-000002".to_owned(), ..generations.written[0].clone() };
        generations.written.push(second.clone());
        second
    };
    put(&shared, "a", Some(leaf("x", 10)));
    put(&shared, "b", Some(attributes(json!({"name": {"S": "no revision"}}))));
    let processed = deliver_from(&shared, 0);
    assert_eq!(processed.ledger, Ledger { records: 2, applied: 1, stamped: 1, ..Ledger::default() });
    // Both generations have one stamp.
    assert_eq!(shared.world_len(), 3);
    deliver_from(&shared, 2);
    let before = visible(&shared);
    shared.world().search.swap("toy", &second.index);
    assert_eq!((before.len(), visible(&shared)), (2, before));
}

#[test]
fn batch_received_too_long_ago_writes_nothing() {
    let shared = serving();
    put(&shared, "a", Some(leaf("x", 10)));
    let payload = shared.world().event(0, 1);
    let mut batch = Box::pin(process_batch(&shared, &Leaves, &TABLES, &payload));
    // Its first request reads the config; then the process is frozen for a quarter of an hour.
    let mut context = std::task::Context::from_waker(futures::task::noop_waker_ref());
    assert!(batch.as_mut().poll(&mut context).is_pending());
    shared.world().now += 15 * 60 * 1_000_000;
    let processed = drive(&shared, batch).unwrap();
    assert_eq!(processed.ledger, Ledger { records: 1, reported: 1, ..Ledger::default() });
    assert_eq!(visible(&shared), []);
}

#[test]
fn first_index_is_filled_from_the_table_and_items_without_revision_are_stamped() {
    let shared = Shared::default();
    shared.world().now = 1_000_000;
    for tree in ["a", "bb", "ccc", "dddd", "eeeee"] {
        put(&shared, tree, Some(leaf(tree, 10)));
    }
    put(&shared, "f", Some(attributes(json!({"name": {"S": "from before"}}))));
    let mut hidden = leaf("hidden", 10);
    hidden.insert("hidden".to_owned(), json!({"BOOL": true}));
    put(&shared, "g", Some(hidden));
    shared.world().put(&Key::new("COUNTER", "leaves"), Some(attributes(json!({"value": {"N": "1"}}))));

    let steps = std::sync::Mutex::new(Vec::new());
    let tell = |step| steps.lock().unwrap().push(step);
    let made = drive(&shared, create(&shared, &Leaves, "toy", Duration::ZERO, &tell)).unwrap();
    assert_eq!(made.index, "toy-000001");
    assert_eq!(visible(&shared).len(), 6, "{:?}", visible(&shared));
    let steps = steps.into_inner().unwrap();
    assert_eq!((steps.first(), steps.last()), (Some(&Progress::Published), Some(&Progress::Serving)));
    let scanned: usize =
        steps.iter().map(|step| if let Progress::Scanned { items, .. } = step { *items } else { 0 }).sum();
    assert_eq!(scanned, 8);

    // No stream record changes anything, not even that of the stamp.
    let before = shared.world().search.visible("toy");
    assert_eq!(deliver_from(&shared, 0).answer, NOTHING_FAILED);
    assert_eq!(shared.world().search.visible("toy"), before);

    // A second call does nothing.
    let from = shared.world().generations.clone();
    create_first_index(&shared);
    assert_eq!(shared.world().generations, from);
}

#[test]
fn name_of_an_existing_index_is_not_used_again() {
    let shared = Shared::default();
    let body = crate::mapping::index_body(Leaves.mapping(), "toy-000001-write").unwrap();
    shared.world().search.create("toy-000001", &body);
    let made = drive(&shared, create(&shared, &Leaves, "toy", Duration::ZERO, &|_| ())).unwrap();
    assert_eq!(made.index, "toy-000002");
}

impl Shared {
    pub(super) fn world_len(&self) -> usize {
        self.world().stream.len()
    }
}

/// The simulated records have the images that DynamoDB's records have.
#[test]
fn simulated_record_has_the_images_of_its_event() {
    let shared = Shared::default();
    put(&shared, "a", Some(leaf("x", 10)));
    put(&shared, "a", None);
    let world = shared.world();
    let images = |record: &Record| (record.name, record.old.is_some(), record.new.is_some());
    assert_eq!(world.stream.iter().map(images).collect::<Vec<_>>(), [("INSERT", false, true), ("REMOVE", true, false)]);
}
