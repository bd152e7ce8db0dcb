//! Permanent faults of single records, and markers of other records. Neither delays the records of other items.

use std::time::Duration;

use serde_json::{Value, json};
use table::Key;

use super::executor::drive;
use super::scenarios::{attributes, codes, deliver_from, key, leaf, put, serving, visible};
use super::toy::{Leaves, TOY};
use super::world::{Attributes, Shared};
use crate::documents::Documents;
use crate::first_index::create;
use crate::generation::{Generation, Generations, Phase, index_name, write_alias};
use crate::mapping::index_body;
use crate::operate::{Staleness, staleness};
use crate::quarantine::{Code, Marker, Subject};
use crate::report::Ledger;

/// Returns leaves that cannot have a document, or that have no room for a revision.
fn faulty() -> Vec<Attributes> {
    let with = |name: &str, value: Value| {
        let mut leaf = leaf("faulty", 10);
        leaf.insert(name.to_owned(), value);
        leaf
    };
    vec![
        with("panics", json!({ "BOOL": true })),
        with("area", json!({ "S": "panics" })),
        with("area", json!({ "S": "broken" })),
        attributes(json!({ "name": { "S": "full" } })),
    ]
}

/// Puts a faulty leaf between two valid ones.
fn between(shared: &Shared, faulty: Attributes) {
    put(shared, "a", Some(leaf("before", 10)));
    if !faulty.contains_key("rev") {
        shared.world().full.insert(key("b"));
    }
    put(shared, "b", Some(faulty));
    put(shared, "c", Some(leaf("after", 10)));
}

fn neighbours() -> [(String, u64); 2] {
    [("TREE#a#LEAF#1".to_owned(), 10), ("TREE#c#LEAF#1".to_owned(), 10)]
}

/// Returns the code with which such a leaf goes to quarantine.
fn code_of(faulty: &Attributes) -> Code {
    if faulty.contains_key("rev") { Code::Unfit } else { Code::Unstampable }
}

fn only_code(shared: &Shared) -> Code {
    let codes = codes(shared);
    assert_eq!(codes.len(), 1, "{codes:?}");
    codes[0].0
}

#[test]
fn lasting_fault_of_one_record_goes_to_quarantine_and_the_batch_is_acknowledged() {
    for faulty in faulty() {
        let (shared, code) = (serving(), code_of(&faulty));
        between(&shared, faulty);
        let processed = deliver_from(&shared, 0);
        assert_eq!(processed.ledger, Ledger { records: 3, applied: 2, quarantined: 1, ..Ledger::default() });
        assert_eq!((visible(&shared), only_code(&shared)), (neighbours().to_vec(), code));
        assert_eq!(shared.world().kept.len(), 1);

        // A later valid write indexes it again.
        shared.world().full.clear();
        let (from, rev) = (shared.world_len(), 2 * shared.world().now.unsigned_abs() + 100);
        put(&shared, "b", Some(leaf("cured", rev)));
        deliver_from(&shared, from);
        assert_eq!((visible(&shared).len(), codes(&shared)), (3, vec![]));
    }
}

#[test]
fn document_that_is_too_large_delays_none_beside_it() {
    let shared = serving();
    shared.world().largest_bulk = Some(2_000);
    between(&shared, leaf(&"large".repeat(1_000), 10));
    assert_eq!(deliver_from(&shared, 0).ledger.reported, 0);
    assert_eq!((visible(&shared), only_code(&shared)), (neighbours().to_vec(), Code::TooLarge));
}

#[test]
fn first_index_serves_despite_a_lasting_fault_of_one_item() {
    for faulty in faulty() {
        let (shared, code) = (Shared::default(), code_of(&faulty));
        shared.world().now = 1_000_000;
        between(&shared, faulty);
        drive(&shared, create(&shared, &Leaves, "toy", Duration::ZERO, &|_| ())).unwrap();
        assert_eq!((visible(&shared), only_code(&shared)), (neighbours().to_vec(), code));
    }
}

/// Returns a leaf whose shape is refused by S3.
fn refused(rev: u64) -> Attributes {
    let mut leaf = leaf("refused", rev);
    leaf.insert("area".to_owned(), json!({ "S": "refused" }));
    leaf
}

const MINUTE: i64 = 60_000_000;

#[test]
fn refused_shape_is_retried_and_goes_to_quarantine_after_15_minutes() {
    let shared = serving();
    between(&shared, refused(10));
    // The records were created at 0.
    for minutes in [1, 14] {
        shared.world().now = minutes * MINUTE;
        assert_eq!(deliver_from(&shared, 0).ledger.reported, 2, "after {minutes} minutes");
        assert_eq!((visible(&shared), codes(&shared)), (neighbours().to_vec(), vec![]));
    }
    shared.world().now = 15 * MINUTE;
    assert_eq!(deliver_from(&shared, 0).ledger.reported, 0);
    assert_eq!((visible(&shared), only_code(&shared)), (neighbours().to_vec(), Code::Unfit));
    let kept = shared.world().kept.values().next().cloned().unwrap();
    assert!(kept.contains("access denied"), "{kept}");
}

#[test]
fn refused_shape_that_is_readable_in_time_leaves_no_marker() {
    let shared = serving();
    between(&shared, refused(10));
    shared.world().now = MINUTE;
    deliver_from(&shared, 0);
    put(&shared, "b", Some(leaf("given", 12)));
    assert_eq!(deliver_from(&shared, 0).ledger.reported, 0);
    assert_eq!((visible(&shared).len(), codes(&shared)), (3, vec![]));
}

#[test]
fn item_in_quarantine_does_not_wait_again() {
    let shared = serving();
    between(&shared, refused(10));
    shared.world().now = 20 * MINUTE;
    deliver_from(&shared, 0);
    // Young records of the same item and of another one.
    let from = shared.world_len();
    shared.world().created = 20 * 60;
    put(&shared, "b", Some(refused(12)));
    assert_eq!(deliver_from(&shared, from).ledger.reported, 0);
    assert_eq!(codes(&shared), [(Code::Unfit, 12)]);
    put(&shared, "d", Some(refused(10)));
    assert_eq!(deliver_from(&shared, from).ledger.reported, 1);
    assert_eq!(codes(&shared), [(Code::Unfit, 12)]);
}

#[test]
fn first_index_waits_a_minute_for_refused_shapes_and_serves_without_them() {
    let shared = Shared::default();
    shared.world().now = 20 * MINUTE;
    shared.world().pauses_take_time = true;
    between(&shared, refused(10));
    put(&shared, "d", Some(refused(10)));
    drive(&shared, create(&shared, &Leaves, "toy", Duration::ZERO, &|_| ())).unwrap();
    assert_eq!((visible(&shared), codes(&shared)), (neighbours().to_vec(), vec![(Code::Unfit, 10); 2]));
    let waited = shared.world().now - 20 * MINUTE;
    assert!((MINUTE..MINUTE + 10_000_000).contains(&waited), "{waited}");
}

#[test]
fn slow_shape_store_sends_no_item_to_quarantine() {
    let shared = serving();
    let mut slow = leaf("slow", 10);
    slow.insert("area".to_owned(), json!({ "S": "slow" }));
    between(&shared, slow);
    shared.world().now = 600 * MINUTE;
    assert_eq!(deliver_from(&shared, 0).ledger.reported, 2);
    assert!(codes(&shared).is_empty());
}

#[test]
fn older_document_of_an_item_without_room_for_a_revision_is_hidden() {
    let shared = serving();
    put(&shared, "a", Some(leaf("old", 10)));
    deliver_from(&shared, 0);
    let from = shared.world_len();
    put(&shared, "a", Some(attributes(json!({ "name": { "S": "full" } }))));
    shared.world().full.insert(key("a"));
    deliver_from(&shared, from);
    assert_eq!((visible(&shared), only_code(&shared)), (vec![], Code::Unstampable));
}

#[test]
fn unfinished_index_with_another_mapping_is_not_filled() {
    let shared = Shared::default();
    put(&shared, "a", Some(leaf("x", 10)));
    let index = index_name("toy", 1);
    let mapping = Leaves.mapping().version + 1;
    let generation = Generation { index: index.clone(), mapping, phase: Phase::Filling };
    {
        let mut world = shared.world();
        world.search.create(&index, &index_body(Leaves.mapping(), &write_alias(&index)).unwrap());
        world.generations =
            Some(Generations { epoch: 1, written: vec![generation.clone()], ..Generations::none("toy") });
    }
    let made = drive(&shared, create(&shared, &Leaves, "toy", Duration::ZERO, &|_| ()));
    assert!(made.unwrap_err().reason.contains("use the commit that created it"));
    let older = Generation { mapping: 0, ..generation };
    assert!(older.check_mapping(&Leaves).unwrap_err().contains("rebuild the index"));
    let world = shared.world();
    assert_eq!((world.markers.len(), world.search.visible("toy").len()), (0, 0));
    assert_eq!(world.generations.as_ref().unwrap().written[0].phase, Phase::Filling);
}

/// Opens this many markers of other items.
fn open_markers(shared: &Shared, number: usize) {
    for number in 0..number {
        let subject = Subject::Item { table: "trees".to_owned(), key: key(&format!("other{number}")) };
        let marker =
            Marker { subject, rev: 10, code: Code::Unfit, reason: String::new(), object: String::new(), since: 0 };
        let name = ("toy-000001".to_owned(), marker.subject.name());
        shared.world().markers.insert(name, marker);
    }
}

#[test]
fn batch_reads_only_the_markers_of_its_own_keys() {
    let mut read = Vec::new();
    for open in [0, 1, 100_000] {
        let shared = serving();
        open_markers(&shared, open);
        for tree in ["a", "b", "c"] {
            put(&shared, tree, Some(leaf(tree, 10)));
        }
        put(&shared, "c", Some(leaf("later", 12)));
        assert_eq!(deliver_from(&shared, 0).ledger.applied, 3);
        assert_eq!(shared.world().markers.len(), open);
        read.push(shared.world().markers_read);
    }
    assert_eq!(read, [3, 3, 3]);
}

#[test]
fn many_records_go_to_quarantine_concurrently() {
    let shared = serving();
    for number in 0..20 {
        put(&shared, &format!("tree{number}"), Some(attributes(json!({ "rev": { "N": "10" } }))));
    }
    assert_eq!(deliver_from(&shared, 0).ledger.quarantined, 20);
    assert_eq!((codes(&shared).len(), shared.world().kept.len()), (20, 20));
    assert!(shared.world().writes_at_once >= 8, "{}", shared.world().writes_at_once);
}

#[test]
fn conflict_with_the_own_version_reads_no_item() {
    let shared = serving();
    for number in 0..20 {
        put(&shared, &format!("tree{number}"), Some(leaf("x", 10)));
    }
    for _ in 0..2 {
        deliver_from(&shared, 0);
        assert_eq!(shared.world().items_read, 0);
    }
    // A conflict with a higher version reads the item.
    let from = shared.world_len();
    put(&shared, "tree0", Some(leaf("newer", 12)));
    deliver_from(&shared, from);
    deliver_from(&shared, 0);
    assert_eq!(shared.world().items_read, 0, "the fold of all its records has our own version");
    let payload = shared.world().event(0, 1);
    super::scenarios::deliver(&shared, &payload);
    assert_eq!(shared.world().items_read, 1);
}

#[test]
fn marker_is_stale_when_its_item_is_gone_or_has_another_revision() {
    let shared = serving();
    let mut poison = leaf("poison", 10);
    poison.insert("size".to_owned(), json!({ "S": "large" }));
    put(&shared, "a", Some(poison));
    shared.world().put(&Key::new("BUSH#a", "LEAF#1"), Some(leaf("no such template", 10)));
    deliver_from(&shared, 0);
    let marker = |shared: &Shared, code| shared.world().markers.values().find(|one| one.code == code).cloned().unwrap();
    let (unfit, unknown) = (marker(&shared, Code::Unfit), marker(&shared, Code::UnknownKey));
    assert!(unfit.is_cleared_by_writes() && !unknown.is_cleared_by_writes());
    let stale = |marker| drive(&shared, staleness(&shared, &TOY, marker)).unwrap();
    assert_eq!((stale(&unfit), stale(&unknown)), (None, None));
    put(&shared, "a", Some(leaf("cured", 12)));
    assert_eq!(stale(&unfit), Some(Staleness::Changed));
    // A writer whose clock is behind has created it again.
    put(&shared, "a", Some(leaf("cured", 8)));
    assert_eq!(stale(&unfit), Some(Staleness::Changed));
    put(&shared, "a", None);
    shared.world().put(&Key::new("BUSH#a", "LEAF#1"), None);
    assert_eq!((stale(&unfit), stale(&unknown)), (Some(Staleness::Gone), Some(Staleness::Gone)));
}
