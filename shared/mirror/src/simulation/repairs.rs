//! The cases of a repair, on an index that differs from the table.

use std::pin::pin;
use std::task::{Context, Poll};

use futures::task::noop_waker_ref;
use serde_json::{Value, json};
use table::Key;

use super::executor::{TABLES, drive};
use super::scenarios::{attributes, codes, deliver_from, key, leaf, poison, put, serving, visible};
use super::search::Document;
use super::toy::{Leaves, TREES};
use super::world::{Call, Fate, Kind, Shared};
use crate::generation::Generations;
use crate::inspect::inspect_generations;
use crate::quarantine::Code;
use crate::repair::{item_to_repair, repair_documents, repair_generations};
use crate::report::RepairOutcome;
use crate::work::process_batch;

const INDEX: &str = "toy-000001";
const ID: &str = "TREE#a#LEAF#1";

fn repair(shared: &Shared, key: &Key) -> Option<RepairOutcome> {
    let repaired = drive(shared, repair_generations(shared, &Leaves, &TREES, key)).unwrap();
    repaired.map(|generations| {
        assert_eq!(generations.len(), 1);
        generations[0].outcome.clone()
    })
}

/// Returns the visible document of the item.
fn document(shared: &Shared) -> Option<Document> {
    shared.world().search.visible("toy").get(ID).cloned()
}

/// Creates a world whose item is indexed at revision 10.
fn mirrored() -> (Shared, Document) {
    let shared = serving();
    put(&shared, "a", Some(leaf("right", 10)));
    deliver_from(&shared, 0);
    let document = document(&shared).unwrap();
    (shared, document)
}

fn set(shared: &Shared, document: Option<Document>) {
    shared.world().search.set(INDEX, ID, document);
}

#[test]
fn wrong_document_at_the_right_version_is_rewritten() {
    let (shared, right) = mirrored();
    let mut wrong = right.clone();
    wrong.source["name"] = json!("wrong");
    set(&shared, Some(wrong));
    assert_eq!(repair(&shared, &key("a")), Some(RepairOutcome::Written(10)));
    assert_eq!(document(&shared), Some(right));
}

#[test]
fn lost_or_old_document_is_written() {
    let (shared, right) = mirrored();
    for found in [None, Some(Document { version: 8, ..right.clone() })] {
        set(&shared, found);
        assert_eq!(repair(&shared, &key("a")), Some(RepairOutcome::Written(10)));
        assert_eq!(document(&shared), Some(right.clone()));
    }
}

#[test]
fn item_below_its_document_is_stamped_and_indexed_by_its_record() {
    for version in [12, 13] {
        let (shared, right) = mirrored();
        let from = shared.world_len();
        let deleted = json!(version == 13);
        let mut above = Document { version, ..right.clone() };
        above.source["deleted"] = deleted;
        set(&shared, Some(above));
        assert_eq!(repair(&shared, &key("a")), Some(RepairOutcome::Stamped));
        deliver_from(&shared, from);
        let shown = document(&shared).unwrap();
        assert!(shown.version > version && shown.source["name"] == "right", "{shown:?}");
    }
}

#[test]
fn item_without_revision_is_stamped() {
    let shared = serving();
    put(&shared, "a", Some(attributes(json!({ "name": { "S": "bare" } }))));
    assert_eq!(repair(&shared, &key("a")), Some(RepairOutcome::Stamped));
    deliver_from(&shared, 0);
    assert_eq!(document(&shared).unwrap().source["name"], "bare");
}

#[test]
fn live_document_of_deleted_item_is_hidden_at_even_and_odd_versions() {
    for version in [14, 15] {
        let (shared, right) = mirrored();
        put(&shared, "a", None);
        deliver_from(&shared, 1);
        set(&shared, Some(Document { version, ..right }));
        assert_eq!(visible(&shared).len(), 1);
        assert_eq!(repair(&shared, &key("a")), Some(RepairOutcome::Deleted(15)));
        assert_eq!(visible(&shared), []);
        // A tombstone stays at its version.
        assert_eq!(repair(&shared, &key("a")), Some(RepairOutcome::Deleted(15)));
        assert_eq!(repair(&shared, &key("nowhere")), Some(RepairOutcome::Nothing));
    }
}

#[test]
fn hidden_item_is_hidden_and_poison_stays_in_quarantine() {
    let (shared, right) = mirrored();
    let mut hidden = leaf("hidden", 12);
    hidden.insert("hidden".to_owned(), json!({ "BOOL": true }));
    put(&shared, "a", Some(hidden));
    set(&shared, Some(Document { version: 12, ..right }));
    assert_eq!(repair(&shared, &key("a")), Some(RepairOutcome::Hidden(12)));
    assert_eq!(visible(&shared), []);
    put(&shared, "a", Some(poison(14)));
    assert_eq!(repair(&shared, &key("a")), Some(quarantined()));
    assert_eq!((visible(&shared), codes(&shared)), (vec![], vec![(Code::Unfit, 14)]));
    // The item is fixed by hand at the same revision. The repair also clears the marker.
    put(&shared, "a", Some(leaf("cured", 14)));
    repair(&shared, &key("a"));
    assert_eq!((visible(&shared).len(), codes(&shared)), (1, vec![]));
}

fn quarantined() -> RepairOutcome {
    RepairOutcome::Quarantined { code: Code::Unfit, reason: "attribute `size` is not a number (N)".to_owned() }
}

#[test]
fn repair_of_poison_at_its_documents_revision_stamps_the_item() {
    let (shared, right) = mirrored();
    put(&shared, "a", Some(poison(14)));
    set(&shared, Some(Document { version: 14, ..right }));
    for _ in 0..2 {
        let from = shared.world_len();
        assert_eq!(repair(&shared, &key("a")), Some(quarantined()));
        deliver_from(&shared, from);
        assert_eq!((visible(&shared), codes(&shared)), (vec![], vec![(Code::Unfit, rev(&shared))]));
    }
    // The next valid write indexes it again.
    let from = shared.world_len();
    put(&shared, "a", Some(leaf("cured", rev(&shared) + 2)));
    deliver_from(&shared, from);
    assert_eq!((visible(&shared).len(), codes(&shared)), (1, vec![]));
}

#[test]
fn record_of_poison_at_its_documents_revision_stamps_the_item() {
    let (shared, right) = mirrored();
    put(&shared, "a", Some(poison(14)));
    set(&shared, Some(Document { version: 14, ..right }));
    let from = shared.world_len();
    assert_eq!(deliver_from(&shared, 1).ledger.quarantined, 1);
    assert_eq!(codes(&shared), [(Code::Unfit, 14)]);
    for _ in 0..2 {
        assert_eq!(deliver_from(&shared, from).ledger.quarantined, 1);
        assert_eq!((visible(&shared), codes(&shared)), (vec![], vec![(Code::Unfit, rev(&shared))]));
    }
}

/// Runs a future to its end in a world whose search refuses its first bulk request, that of a document, as too large.
fn drive_too_large<T>(shared: &Shared, future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut is_refused = false;
    loop {
        if let Poll::Ready(done) = future.as_mut().poll(&mut Context::from_waker(noop_waker_ref())) {
            assert!(is_refused);
            return done;
        }
        let mut world = shared.world();
        let place = world.requests.iter().position(|request| request.kind != Kind::Expired).unwrap();
        let refuses = !is_refused && world.requests[place].kind == Kind::Bulk;
        is_refused |= refuses;
        world.carry(place, if refuses { Fate::Refused(413) } else { Fate::Answered });
    }
}

#[test]
fn wrong_document_of_an_item_that_alone_is_too_large_is_hidden() {
    let (shared, right) = mirrored();
    let mut wrong = right;
    wrong.source["name"] = json!("wrong");
    set(&shared, Some(wrong));
    let from = shared.world_len();
    let repaired = drive_too_large(&shared, repair_generations(&shared, &Leaves, &TREES, &key("a"))).unwrap().unwrap();
    assert!(matches!(repaired[0].outcome, RepairOutcome::Quarantined { code: Code::TooLarge, .. }), "{repaired:?}");
    assert_eq!(codes(&shared), [(Code::TooLarge, 10)]);

    // The record of the stamp hides the document.
    let payload = shared.world().event(from, from + 1);
    let processed = drive_too_large(&shared, process_batch(&shared, &Leaves, &TABLES, &payload)).unwrap();
    assert_eq!(processed.ledger.quarantined, 1);
    assert_eq!((visible(&shared), codes(&shared)), (vec![], vec![(Code::TooLarge, rev(&shared))]));

    deliver_from(&shared, from);
    assert_eq!((document(&shared).unwrap().source["name"].clone(), codes(&shared)), (json!("right"), vec![]));
}

/// Returns the revision of the item `a`.
fn rev(shared: &Shared) -> u64 {
    shared.world().table[&key("a")]["rev"]["N"].as_str().unwrap().parse().unwrap()
}

#[test]
fn repair_without_a_published_index_is_an_error() {
    let (shared, _) = mirrored();
    let published = shared.world().generations.clone().unwrap();
    for generations in [None, Some(Generations { written: Vec::new(), ..published })] {
        shared.world().generations = generations;
        let repaired = drive(&shared, repair_generations(&shared, &Leaves, &TREES, &key("a")));
        assert!(repaired.unwrap_err().reason.contains("no index is published"));
    }
}

#[test]
fn repair_of_an_item_without_room_for_a_revision_reports_quarantine() {
    let shared = serving();
    put(&shared, "a", Some(attributes(json!({ "name": { "S": "full" } }))));
    shared.world().full.insert(key("a"));
    let Some(RepairOutcome::Quarantined { code, reason }) = repair(&shared, &key("a")) else { panic!() };
    assert_eq!(code, Code::Unstampable);
    assert!(reason.contains("Item size"), "{reason}");
}

#[test]
fn item_with_a_too_long_key_is_in_quarantine_at_its_revision_while_it_exists() {
    let shared = serving();
    let keys = ["a", "b"].map(|letter| Key::new(format!("TREE#{}", letter.repeat(600)), "LEAF#1"));
    for key in &keys {
        assert_eq!(repair(&shared, key), Some(RepairOutcome::Nothing));
    }
    assert_eq!((codes(&shared), shared.world().kept.len()), (vec![], 0));
    for key in &keys {
        shared.world().put(key, Some(leaf("long", 10)));
        let Some(RepairOutcome::Quarantined { code, .. }) = repair(&shared, key) else { panic!() };
        assert_eq!(code, Code::KeyTooLong);
    }
    assert_eq!(codes(&shared), [(Code::KeyTooLong, 10); 2]);
    let kept = shared.world().kept.clone();
    let kept: Vec<Value> = kept.values().map(|kept| serde_json::from_str(kept).unwrap()).collect();
    assert_eq!(kept.len(), 2);
    let is_whole = |kept: &Value| kept["record"]["PK"]["S"] == kept["pk"] && kept["record"]["name"]["S"] == "long";
    assert!(kept.iter().all(is_whole), "{kept:?}");
    // The record of the delete was lost.
    for key in &keys {
        shared.world().put_silently(key, None);
        assert_eq!(repair(&shared, key), Some(RepairOutcome::Nothing));
    }
    assert_eq!(codes(&shared), []);
}

#[test]
fn repair_of_a_key_that_is_never_searchable_does_nothing() {
    let shared = serving();
    assert_eq!(repair(&shared, &Key::new("COUNTER", "leaves")), None);
    assert_eq!(repair(&shared, &Key::new("BUSH#a", "LEAF#1")), None);
}

#[test]
fn repair_whose_markers_can_never_be_read_ends() {
    let (shared, _) = mirrored();
    set(&shared, None);
    shared.world().pauses_take_time = true;
    let key = key("a");
    let mut repair = pin!(repair_generations(&shared, &Leaves, &TREES, &key));
    let (mut is_written, began) = (false, shared.world().now);
    for _ in 0..5_000 {
        if let Poll::Ready(repaired) = repair.as_mut().poll(&mut Context::from_waker(noop_waker_ref())) {
            assert_eq!(repaired.unwrap_err().reason, "simulated: the request was lost");
            let seconds = (shared.world().now - began) / 1_000_000;
            assert!(is_written && seconds < 30, "{seconds}");
            return;
        }
        let mut world = shared.world();
        let place = world.requests.iter().position(|request| request.kind != Kind::Expired).unwrap();
        let kind = world.requests[place].kind;
        is_written |= kind == Kind::Bulk;
        world.carry(place, if is_written && kind == Kind::Read { Fate::Lost } else { Fate::Answered });
    }
    panic!("the repair goes on");
}

/// Search accepts no writes for now, or S3 no records of items that cannot be indexed.
#[test]
fn repair_of_many_keys_reads_no_more_items_than_fit_a_page_before_it_has_written_them() {
    let cases = [(leaf("leaf", 10), Call::Bulk, Fate::Refused(429)), (poison(10), Call::Keep, Fate::Lost)];
    for (item, failing, failure) in cases {
        let shared = serving();
        let keys: Vec<Key> = (0..1_200).map(|number| key(&number.to_string())).collect();
        keys.iter().for_each(|key| shared.world().put(key, Some(item.clone())));
        let written = shared.world().generations.clone().unwrap().written;
        let groups = keys.iter().filter_map(|key| item_to_repair(&TREES, key)).collect();
        let mut repair = pin!(repair_documents(&shared, &Leaves, &written, groups));
        let outcomes = loop {
            if let Poll::Ready(outcomes) = repair.as_mut().poll(&mut Context::from_waker(noop_waker_ref())) {
                break outcomes;
            }
            let mut world = shared.world();
            let place = world.requests.iter().position(|request| request.kind != Kind::Expired).unwrap();
            let fails = world.requests[place].call == failing;
            world.carry(place, if fails { failure } else { Fate::Answered });
        };
        assert!(outcomes.len() == 1_200 && outcomes.iter().all(Result::is_err), "{failing:?}");
        assert_eq!(shared.world().items_read, 500, "{failing:?}");
    }
}

/// Whether the key `a` is as it should be, in the eyes of an operator.
fn agrees(shared: &Shared) -> bool {
    drive(shared, inspect_generations(shared, &Leaves, &TREES, &key("a"))).unwrap().agrees()
}

#[test]
fn inspected_key_agrees_if_search_shows_its_item_and_nothing_of_a_hidden_one() {
    let (shared, right) = mirrored();
    assert!(agrees(&shared));
    let tombstone = Document { version: 10, source: json!({ "deleted": true }) };
    for wrong in [None, Some(Document { version: 8, ..right.clone() }), Some(tombstone.clone())] {
        set(&shared, wrong);
        assert!(!agrees(&shared));
    }
    let mut hidden = leaf("hidden", 10);
    hidden.insert("hidden".to_owned(), json!({ "BOOL": true }));
    put(&shared, "a", Some(hidden));
    // Its tombstone may have been swept.
    for (found, expected) in [(Some(tombstone.clone()), true), (None, true), (Some(right), false)] {
        set(&shared, found);
        assert_eq!(agrees(&shared), expected);
    }
    put(&shared, "a", None);
    assert!(!agrees(&shared));
    for found in [None, Some(tombstone)] {
        set(&shared, found);
        assert!(agrees(&shared));
    }
}
