//! Audits of indexes that differ from the table, while writes go on and the mirror handles them. The documents that
//! search must have come from a reference of the tests.

use std::collections::BTreeMap;
use std::pin::pin;
use std::task::{Context, Poll};
use std::time::Duration;

use fastrand::Rng;
use futures::task::noop_waker_ref;
use serde_json::{Value, json};
use table::Key;
use table::schema::Entity;

use super::executor::drive;
use super::invariants::reference;
use super::scenarios::{codes, deliver_from, key, leaf, poison, put, serving, visible};
use super::search::Document;
use super::toy::{Leaves, TOY, TREES};
use super::world::{Attributes, Call, Fate, Kind as Request, Shared};
use super::writers;
use crate::audit::{
    AuditEnd, AuditOptions, AuditPurpose, AuditStep, DifferenceKind, GenerationAudit, Levels, Reference, TableAudit,
    Wanted, audit_generation, audit_one, last_results,
};
use crate::documents::DetailLevel;
use crate::generation::Generation;
use crate::item::Item;
use crate::operate::{Staleness, staleness};
use crate::ports::Fault;
use crate::quarantine::{Code, Marker, Subject};

pub(super) const INDEX: &str = "toy-000001";

pub(super) const OPTIONS: AuditOptions =
    AuditOptions { wait: Duration::from_secs(1), save_interval: Duration::from_hours(1), ..AuditOptions::DAILY };

pub(super) const DRY_RUN: AuditOptions = AuditOptions { purpose: AuditPurpose::DryRun, ..OPTIONS };

pub(super) const TREES_ONLY: AuditOptions =
    AuditOptions { purpose: AuditPurpose::Table { table: &TREES, repairs: true }, ..OPTIONS };

/// The documents of leaves, written out slowly and without the code of the mirror.
#[derive(Debug)]
struct Slow;

impl Reference for Slow {
    async fn wanted(
        &self,
        _: &'static Entity,
        key: &Key,
        rev: u64,
        item: &Item,
        levels: &Levels,
    ) -> Result<Wanted, Fault> {
        let Value::Object(item) = serde_json::from_str(item.as_str()).unwrap() else { panic!("an item is an object") };
        let level = levels.first().map_or(DetailLevel::Full, |(_, level)| *level);
        Ok(reference(key, &item, rev, level))
    }
}

fn generation(shared: &Shared) -> Generation {
    shared.world().generations.clone().unwrap().written[0].clone()
}

pub(super) async fn audited(
    shared: &Shared,
    options: AuditOptions,
    until: Option<i64>,
) -> Result<GenerationAudit, Fault> {
    let generation = generation(shared);
    audit_generation(shared, &Leaves, &Slow, &generation, options, until, &|_: AuditStep| ()).await
}

/// Runs an audit to its end in a world in which nothing else happens.
pub(super) fn audit(shared: &Shared, options: AuditOptions) -> TableAudit {
    let audited = drive(shared, audited(shared, options, None)).unwrap();
    assert_eq!(audited.ended, AuditEnd::Finished);
    only_trees(audited)
}

/// Returns the result of the one table. Documents that fit no table must not differ.
pub(super) fn only_trees(audited: GenerationAudit) -> TableAudit {
    let [others, trees] = <[TableAudit; 2]>::try_from(audited.tables).unwrap();
    assert!(others.findings.is_empty(), "{others:?}");
    trees
}

/// Returns how many differences of each kind were found, repaired and left.
pub(super) fn counts(audited: &TableAudit) -> BTreeMap<DifferenceKind, (u64, u64, u64)> {
    let of_kind = audited.findings.iter();
    of_kind.map(|(kind, finding)| (*kind, (finding.found, finding.repaired, finding.left))).collect()
}

pub(super) fn id(tree: &str) -> String {
    key(tree).document_id()
}

fn document(shared: &Shared, tree: &str) -> Option<Document> {
    shared.world().search.documents(INDEX).get(&id(tree)).cloned()
}

pub(super) fn set(shared: &Shared, tree: &str, document: Option<Document>) {
    shared.world().search.set(INDEX, &id(tree), document);
}

fn change(shared: &Shared, tree: &str, change: impl FnOnce(&mut Document)) {
    let mut document = document(shared, tree).unwrap();
    change(&mut document);
    set(shared, tree, Some(document));
}

fn mark(shared: &Shared, tree: &str, rev: u64) {
    let subject = Subject::Item { table: TREES.name.to_owned(), key: key(tree) };
    let name = (INDEX.to_owned(), subject.name());
    let marker = Marker { subject, rev, code: Code::Unfit, reason: String::new(), object: String::new(), since: 0 };
    shared.world().markers.insert(name, marker);
}

fn with(mut leaf: Attributes, name: &str, value: Value) -> Attributes {
    leaf.insert(name.to_owned(), value);
    leaf
}

/// Creates a world with these leaves, all of them mirrored.
fn mirrored(leaves: impl IntoIterator<Item = (&'static str, Attributes)>) -> Shared {
    let shared = serving();
    for (tree, leaf) in leaves {
        put(&shared, tree, Some(leaf));
    }
    deliver_from(&shared, 0);
    shared
}

pub(super) fn mirrored_leaf() -> Shared {
    mirrored([("a", leaf("right", 10)), ("b", leaf("other", 10))])
}

/// A difference between the table and the index: its name, the kind that an audit finds, and the damage to the leaf `a`
/// of a world with that leaf.
type Damage = (&'static str, DifferenceKind, fn(&Shared));

const DAMAGES: &[Damage] = &[
    ("lost document", DifferenceKind::Lost, |shared| set(shared, "a", None)),
    ("tombstone of an item", DifferenceKind::Lost, |shared| {
        change(shared, "a", |document| {
            document.version = 11;
            document.source = json!({"pk": "TREE#a", "sk": "LEAF#1", "rev": 11, "deleted": true, "deletedAt": 0});
        });
    }),
    ("ghost at an even version", DifferenceKind::Ghost, |shared| {
        shared.world().put_silently(&key("a"), None);
    }),
    ("ghost at an odd version", DifferenceKind::Ghost, |shared| {
        shared.world().put_silently(&key("a"), None);
        change(shared, "a", |document| document.version = 11);
    }),
    ("ghost without its fields", DifferenceKind::Ghost, |shared| {
        shared.world().put_silently(&key("a"), None);
        change(shared, "a", |document| document.source = json!({"name": "ghost"}));
    }),
    ("older document", DifferenceKind::Stale, |shared| change(shared, "a", |document| document.version = 8)),
    ("live document at an odd version", DifferenceKind::Stale, |shared| {
        change(shared, "a", |document| document.version = 11)
    }),
    ("document of a later revision", DifferenceKind::Stale, |shared| {
        change(shared, "a", |document| document.version = 12)
    }),
    ("item without a revision", DifferenceKind::Stale, |shared| {
        shared.world().put_silently(&key("a"), Some(super::scenarios::attributes(json!({"name": {"S": "right"}}))));
    }),
    ("visible document of a hidden item", DifferenceKind::Stale, |shared| {
        let hidden = with(leaf("right", 10), "hidden", json!({ "BOOL": true }));
        shared.world().put_silently(&key("a"), Some(hidden));
    }),
    ("tombstone of a hidden item at another revision", DifferenceKind::Stale, |shared| {
        let hidden = with(leaf("right", 12), "hidden", json!({ "BOOL": true }));
        shared.world().put_silently(&key("a"), Some(hidden));
        change(shared, "a", |document| document.source = json!({"rev": 10, "deleted": true, "deletedAt": 0}));
    }),
    ("marker and older tombstone of an item that a new release hides", DifferenceKind::Stale, |shared| {
        let hidden = with(leaf("right", 10), "hidden", json!({ "BOOL": true }));
        shared.world().put_silently(&key("a"), Some(hidden));
        set(shared, "a", Some(Document { version: 8, source: json!({"rev": 8, "deleted": true, "deletedAt": 0}) }));
        mark(shared, "a", 10);
    }),
    ("other content", DifferenceKind::Corrupt, |shared| {
        change(shared, "a", |document| document.source["name"] = json!("wrong"));
    }),
    ("wrong revision in the document", DifferenceKind::Corrupt, |shared| {
        change(shared, "a", |document| document.source["rev"] = json!(8));
    }),
    ("wrong keys in the document", DifferenceKind::Corrupt, |shared| {
        change(shared, "a", |document| document.source["pk"] = json!("TREE#b"));
    }),
    ("missing keys in the document", DifferenceKind::Corrupt, |shared| {
        change(shared, "a", |document| drop(document.source.as_object_mut().unwrap().remove("pk")));
    }),
    ("additional field", DifferenceKind::Corrupt, |shared| {
        change(shared, "a", |document| document.source["size"] = json!(1));
    }),
    ("poison without a marker", DifferenceKind::Unmarked, |shared| {
        shared.world().put_silently(&key("a"), Some(poison(10)));
        set(shared, "a", None);
    }),
    ("poison with an older marker", DifferenceKind::Unmarked, |shared| {
        shared.world().put_silently(&key("a"), Some(poison(12)));
        set(shared, "a", None);
        mark(shared, "a", 10);
    }),
    ("visible document of poison", DifferenceKind::Stale, |shared| {
        shared.world().put_silently(&key("a"), Some(poison(12)));
        mark(shared, "a", 12);
    }),
    ("marker of an item that is gone", DifferenceKind::StaleMarker, |shared| {
        shared.world().put_silently(&key("a"), None);
        set(shared, "a", None);
        mark(shared, "a", 10);
    }),
    ("marker below its item", DifferenceKind::StaleMarker, |shared| mark(shared, "a", 8)),
    ("marker of a valid document", DifferenceKind::StaleMarker, |shared| mark(shared, "a", 10)),
    ("marker above a valid document", DifferenceKind::StaleMarker, |shared| mark(shared, "a", 12)),
    ("shape at a coarser level", DifferenceKind::Degraded, |shared| {
        let leaf = with(leaf("right", 10), "area", json!({ "S": "aaaa" }));
        shared.world().put_silently(&key("a"), Some(leaf));
        change(shared, "a", |document| {
            document.source["area"] = json!({"type": "aa"});
            document.source["areaStatus"] = json!("coarse");
            document.source["areaTolerance"] = json!(1);
        });
    }),
    ("shape whose object did not exist", DifferenceKind::MissingShape, |shared| {
        let leaf = with(leaf("right", 10), "area", json!({ "S": "aaaa" }));
        shared.world().put_silently(&key("a"), Some(leaf));
        change(shared, "a", |document| {
            document.source["area"] = json!({"type": "a"});
            document.source["areaStatus"] = json!("missing");
        });
    }),
];

/// Asserts that the index equals the table.
pub(super) fn assert_equal(shared: &Shared, what: &str) {
    let again = audit(shared, DRY_RUN);
    assert_eq!(counts(&again), BTreeMap::new(), "{what}");
    let world = shared.world();
    for (key, item) in &world.table {
        let rev = item["rev"]["N"].as_str().unwrap().parse().unwrap();
        let wanted = match reference(key, item, rev, DetailLevel::Full) {
            Wanted::Document(document) => Some(serde_json::from_str::<Value>(&document.source).unwrap()),
            Wanted::Hidden | Wanted::Unfit | Wanted::Unknown => None,
        };
        let found = world.search.visible("toy").get(&key.document_id()).map(|document| document.source.clone());
        assert_eq!(found, wanted, "{what}");
    }
    let ids: Vec<_> = world.table.keys().map(Key::document_id).collect();
    assert!(world.search.visible("toy").keys().all(|id| ids.contains(id)), "{what}");
}

#[test]
fn each_kind_of_difference_is_found_and_repaired() {
    for (what, kind, damage) in DAMAGES {
        let shared = mirrored_leaf();
        damage(&shared);
        let from = shared.world_len();
        let dry = audit(&shared, DRY_RUN);
        assert_eq!(counts(&dry), [(*kind, (1, 0, 1))].into(), "{what}");
        assert_eq!(dry.findings[kind].examples, [id("a")], "{what}");
        assert_eq!(shared.world_len(), from, "a dry run writes nothing: {what}");
        let repaired = audit(&shared, OPTIONS);
        assert_eq!(counts(&repaired), [(*kind, (1, 1, 0))].into(), "{what}");
        // The record of a stamp.
        deliver_from(&shared, from);
        assert_equal(&shared, what);
    }
}

/// Its marker is above it.
#[test]
fn item_that_cannot_be_stamped_is_in_quarantine() {
    let shared = mirrored_leaf();
    shared.world().full.insert(key("a"));
    change(&shared, "a", |document| document.version = 13);
    let repaired = audit(&shared, OPTIONS);
    assert_eq!(counts(&repaired), [(DifferenceKind::Stale, (1, 1, 0))].into());
    let [(Code::Unstampable, marked)] = codes(&shared)[..] else { panic!("the item is in quarantine") };
    let tombstone = document(&shared, "a");
    assert!(marked > 14 && tombstone.as_ref().is_some_and(|tombstone| tombstone.version == marked - 1));
    let marker = shared.world().markers.values().next().cloned().unwrap();
    assert_eq!(drive(&shared, staleness(&shared, &TOY, &marker)).unwrap(), None);
    // Also after the tombstone was swept, and while the item is hidden from search.
    let hidden = with(leaf("hidden", 10), "hidden", json!({ "BOOL": true }));
    for (item, found) in [(leaf("right", 10), tombstone.clone()), (leaf("right", 10), None), (hidden, tombstone)] {
        shared.world().put_silently(&key("a"), Some(item));
        set(&shared, "a", found);
        assert_eq!(counts(&audit(&shared, OPTIONS)), BTreeMap::new());
        assert_eq!(codes(&shared), [(Code::Unstampable, marked)]);
    }
}

/// The tombstone of its delete is below the marker, and does not clear it.
#[test]
fn marker_of_a_deleted_item_that_could_not_be_stamped_is_cleared() {
    for is_swept in [false, true] {
        let shared = mirrored_leaf();
        shared.world().full.insert(key("a"));
        for item in [Some(super::scenarios::attributes(json!({"name": {"S": "full"}}))), None] {
            let from = shared.world_len();
            put(&shared, "a", item);
            assert_eq!(deliver_from(&shared, from).ledger.reported, 0);
            assert!(matches!(codes(&shared)[..], [(Code::Unstampable, _)]), "{:?}", codes(&shared));
        }
        if is_swept {
            set(&shared, "a", None);
        }
        let marker = shared.world().markers.values().next().cloned().unwrap();
        assert_eq!(drive(&shared, staleness(&shared, &TOY, &marker)).unwrap(), Some(Staleness::Gone));
        assert_eq!(counts(&audit(&shared, OPTIONS)), [(DifferenceKind::StaleMarker, (1, 1, 0))].into());
        assert_eq!(codes(&shared), []);
        assert_equal(&shared, "a deleted item that could not be stamped");
    }
}

/// A host whose clock is behind has created the item again.
#[test]
fn lost_document_below_the_marker_of_a_later_state_is_repaired() {
    let tombstone = Document { version: 11, source: json!({"rev": 11, "deleted": true, "deletedAt": 0}) };
    for found in [None, Some(tombstone)] {
        let shared = mirrored_leaf();
        mark(&shared, "a", 12);
        set(&shared, "a", found.clone());
        let from = shared.world_len();
        assert_eq!(counts(&audit(&shared, DRY_RUN)), [(DifferenceKind::Lost, (1, 0, 1))].into(), "{found:?}");
        let repaired = counts(&audit(&shared, OPTIONS));
        assert_eq!(repaired[&DifferenceKind::Lost], (1, 1, 0), "{found:?}");
        // The record of a stamp.
        deliver_from(&shared, from);
        assert_equal(&shared, "a lost document below a marker");
        assert_eq!(codes(&shared), []);
    }
}

#[test]
fn item_without_a_revision_below_the_marker_of_a_later_state_is_stamped() {
    let shared = mirrored_leaf();
    let unrevised = super::scenarios::attributes(json!({"name": {"S": "right"}}));
    shared.world().put_silently(&key("a"), Some(unrevised));
    mark(&shared, "a", 12);
    set(&shared, "a", None);
    let from = shared.world_len();
    assert_eq!(counts(&audit(&shared, OPTIONS)), [(DifferenceKind::Stale, (1, 1, 0))].into());
    deliver_from(&shared, from);
    assert_equal(&shared, "an item without a revision below a marker");
    assert_eq!(codes(&shared), []);
}

/// The index lists a document only after a refresh.
#[test]
fn difference_of_a_moment_ago_is_found() {
    let shared = mirrored_leaf();
    let from = shared.world_len();
    put(&shared, "b", Some(leaf("just written", 10)));
    deliver_from(&shared, from);
    shared.world().put_silently(&key("b"), None);
    let repaired = audit(&shared, OPTIONS);
    assert_eq!(counts(&repaired), [(DifferenceKind::Ghost, (1, 1, 0))].into());
    assert_equal(&shared, "just written");
}

#[test]
fn equal_index_has_no_difference() {
    let hidden = with(leaf("hidden", 10), "hidden", json!({ "BOOL": true }));
    let shared = mirrored([
        ("a", leaf("right", 10)),
        ("b", with(leaf("shape", 10), "area", json!({ "S": "aaaa" }))),
        ("c", hidden),
        ("d", poison(10)),
        ("e", leaf("deleted", 10)),
    ]);
    let from = shared.world_len();
    put(&shared, "e", None);
    deliver_from(&shared, from);
    shared.world().put(&Key::new("COUNTER", "leaves"), Some(leaf("counter", 10)));
    shared.world().put(&Key::new("BUSH#a", "LEAF#1"), Some(leaf("no such template", 10)));
    let audited = audit(&shared, OPTIONS);
    assert_eq!((counts(&audited), audited.items, audited.documents), (BTreeMap::new(), 4, 2));
    assert!(audited.full && audited.ended.is_some());
    // The tombstones of hidden items are swept, too.
    set(&shared, "c", None);
    assert_eq!(counts(&audit(&shared, OPTIONS)), BTreeMap::new());
    assert_eq!(codes(&shared), [(Code::Unfit, 10)]);
}

#[test]
fn shape_that_search_refuses_stays_degraded() {
    let shared = mirrored([("a", with(leaf("refused", 10), "area", json!({ "S": "aaxa" })))]);
    for _ in 0..2 {
        let audited = audit(&shared, OPTIONS);
        assert_eq!(counts(&audited), [(DifferenceKind::Degraded, (1, 0, 1))].into());
        assert_eq!((audited.differences(), audited.left(), audited.missing_shapes()), (0, 0, 0));
    }
    assert_eq!(visible(&shared), [(id("a"), 10)]);
}

#[test]
fn document_that_fits_no_table_is_left() {
    let shared = mirrored_leaf();
    let ghost = Document { version: 10, source: json!({"pk": "BUSH#a", "sk": "LEAF#1", "name": "ghost"}) };
    shared.world().search.set(INDEX, "BUSH#a#LEAF#1", Some(ghost));
    let audited = drive(&shared, audited(&shared, OPTIONS, None)).unwrap();
    let [others, trees] = audited.tables.as_slice() else { panic!() };
    assert_eq!((others.table.as_str(), counts(others)), ("?", [(DifferenceKind::Ghost, (1, 0, 1))].into()));
    assert_eq!((others.left(), trees.left()), (1, 0));
}

#[test]
fn item_with_a_too_long_key_is_a_difference_only_without_its_marker() {
    let shared = mirrored_leaf();
    let long = Key::new(format!("TREE#{}", "a".repeat(600)), "LEAF#1");
    shared.world().put_silently(&long, Some(leaf("long", 10)));
    for expected in [BTreeMap::from([(DifferenceKind::Unmarked, (1, 1, 0))]), BTreeMap::new()] {
        assert_eq!(counts(&audit(&shared, OPTIONS)), expected);
        assert_eq!(codes(&shared), [(Code::KeyTooLong, 10)]);
    }
}

#[test]
fn audit_of_one_table_is_not_full() {
    let shared = mirrored_leaf();
    set(&shared, "a", None);
    let audited = drive(&shared, audited(&shared, TREES_ONLY, None)).unwrap();
    let [trees] = audited.tables.as_slice() else { panic!() };
    assert!(!trees.full && trees.left() == 0 && trees.differences() == 1);
}

#[test]
fn write_whose_record_was_not_handled_yet_is_no_difference() {
    let shared = mirrored_leaf();
    let from = shared.world_len();
    put(&shared, "a", Some(leaf("later", 12)));
    put(&shared, "b", None);
    put(&shared, "c", Some(leaf("new", 10)));
    put(&shared, "d", Some(poison(10)));
    let mut run = pin!(audited(&shared, OPTIONS, None));
    let mut delivered = false;
    let audited = loop {
        if let Poll::Ready(done) = run.as_mut().poll(&mut Context::from_waker(noop_waker_ref())) {
            break done.unwrap();
        }
        // The mirror handles the records while the audit waits for a second look.
        let waits = shared.world().requests.iter().any(|request| request.kind == Request::Pause);
        if waits && !delivered {
            delivered = true;
            let requests = std::mem::take(&mut shared.world().requests);
            deliver_from(&shared, from);
            shared.world().requests = requests;
        }
        carry_next(&shared);
    };
    assert!(delivered);
    assert_eq!(counts(&only_trees(audited)), BTreeMap::new());
}

#[test]
fn marker_that_is_opened_again_before_the_audit_clears_it_is_kept() {
    let shared = mirrored_leaf();
    mark(&shared, "a", 12);
    let name = (INDEX.to_owned(), Subject::item(&TREES, &key("a")).name());
    let mut run = pin!(audited(&shared, OPTIONS, None));
    let mut opened = false;
    let audited = loop {
        if let Poll::Ready(done) = run.as_mut().poll(&mut Context::from_waker(noop_waker_ref())) {
            break done.unwrap();
        }
        // Before the marker is cleared, the item is poisoned at its very revision.
        if shared.world().requests.iter().any(|request| request.call == Call::ClearMarker) {
            opened = true;
            shared.world().put_silently(&key("a"), Some(poison(12)));
            set(&shared, "a", None);
            shared.world().markers.get_mut(&name).unwrap().since = 1;
        }
        carry_next(&shared);
    };
    assert!(opened);
    assert_eq!(counts(&only_trees(audited)), [(DifferenceKind::StaleMarker, (1, 1, 0))].into());
    assert_eq!(codes(&shared), [(Code::Unfit, 12)]);
    assert_equal(&shared, "an item that is poisoned while its stale marker is cleared");
}

pub(super) fn carry_next(shared: &Shared) {
    let mut world = shared.world();
    let place = world.requests.iter().position(|request| request.kind != Request::Expired);
    world.carry(place.expect("something to wait for"), Fate::Answered);
}

#[test]
fn item_that_changes_all_the_time_is_skipped() {
    let shared = mirrored_leaf();
    let mut run = pin!(audited(&shared, OPTIONS, None));
    let mut rev = 10;
    let audited = loop {
        if let Poll::Ready(done) = run.as_mut().poll(&mut Context::from_waker(noop_waker_ref())) {
            break done.unwrap();
        }
        rev += 2;
        put(&shared, "a", Some(leaf("busy", rev)));
        carry_next(&shared);
    };
    let trees = only_trees(audited);
    assert_eq!((counts(&trees), trees.busy), (BTreeMap::new(), 1));
}

/// Puts many leaves and damages some of them.
pub(super) fn damaged_orchard(damaged: usize) -> (Shared, BTreeMap<DifferenceKind, u64>) {
    let shared = serving();
    let trees: Vec<String> = (0..damaged + 10).map(|number| format!("{}{number}", "t".repeat(number % 4))).collect();
    for tree in &trees {
        put(&shared, tree, Some(leaf(tree, 10)));
    }
    deliver_from(&shared, 0);
    let mut expected = BTreeMap::new();
    for (number, tree) in trees.iter().take(damaged).enumerate() {
        let kind = match number % 4 {
            0 => {
                set(&shared, tree, None);
                DifferenceKind::Lost
            }
            1 => {
                change(&shared, tree, |document| document.source["name"] = json!("wrong"));
                DifferenceKind::Corrupt
            }
            2 => {
                shared.world().put_silently(&key(tree), None);
                DifferenceKind::Ghost
            }
            _ => {
                mark(&shared, tree, 8);
                DifferenceKind::StaleMarker
            }
        };
        *expected.entry(kind).or_default() += 1;
    }
    (shared, expected)
}

#[test]
fn more_differences_than_fit_the_memory_are_all_repaired() {
    let (shared, expected) = damaged_orchard(400);
    shared.world().requests.clear();
    let audited = audit(&shared, AuditOptions { max_suspects: 7, ..OPTIONS });
    let found = counts(&audited);
    let wanted = expected.iter().map(|(kind, number)| (*kind, (*number, *number, 0))).collect();
    assert_eq!(found, wanted);
    assert!(audited.findings.values().all(|finding| finding.examples.len() == 5));
    assert_equal(&shared, "an orchard");
}

#[test]
fn item_whose_shape_is_refused_is_not_compared() {
    let shared = mirrored_leaf();
    shared.world().put_silently(&key("a"), Some(with(leaf("right", 10), "area", json!({ "S": "refused" }))));
    change(&shared, "a", |document| document.source["area"] = json!({ "type": "refused" }));
    let before = document(&shared, "a");
    let generation = generation(&shared);
    let run = audit_one(&shared, &Leaves, &generation, OPTIONS, None, &|_| ());
    let trees = only_trees(drive(&shared, run).unwrap());
    assert_eq!((counts(&trees), trees.busy, document(&shared, "a")), (BTreeMap::new(), 1, before));
    assert_eq!(codes(&shared), []);
}

#[test]
fn repairs_of_many_keys_share_their_requests() {
    let shared = serving();
    let trees: Vec<String> = (0..250).map(|number| number.to_string()).collect();
    trees.iter().for_each(|tree| put(&shared, tree, Some(leaf(tree, 10))));
    let mut run = pin!(audited(&shared, OPTIONS, None));
    let mut bulks = 0;
    let audited = loop {
        if let Poll::Ready(done) = run.as_mut().poll(&mut Context::from_waker(noop_waker_ref())) {
            break done.unwrap();
        }
        bulks += usize::from(shared.world().requests.iter().any(|request| request.kind == Request::Bulk));
        carry_next(&shared);
    };
    assert_eq!(counts(&only_trees(audited)), [(DifferenceKind::Lost, (250, 250, 0))].into());
    assert!(bulks < 30, "{bulks}");
}

/// Random writes with wrong clocks, damages, faults and the mirror, all while an audit runs.
#[test]
fn audit_among_writes_and_faults_repairs_every_damage_and_raises_no_false_alarm() {
    for seed in 0..schedules() {
        let told = |what: &str| format!("seed {seed}: {what}");
        let mut rng = Rng::with_seed(seed);
        let shared = mirrored([("a", leaf("right", 10)), ("m", leaf("damaged", 10)), ("n", leaf("kept", 10))]);
        let (what, kind, damage) = DAMAGES[rng.usize(0..DAMAGES.len())];
        let is_damaged = rng.bool();
        // Nobody writes the damaged leaf.
        if is_damaged {
            damage(&shared);
        }
        let options = writers::WriterOptions {
            keys: 1,
            slow_clocks: rng.bool(),
            foreign: rng.bool(),
            poison: rng.bool(),
            unknown_events: false,
            short_lived: rng.bool(),
        };
        let mut delivered = shared.world_len();
        let mut writes = rng.usize(0..8);
        let mut run = pin!(audited(&shared, OPTIONS, None));
        let audited = loop {
            if let Poll::Ready(done) = run.as_mut().poll(&mut Context::from_waker(noop_waker_ref())) {
                break done.unwrap_or_else(|fault| panic!("{}", told(&fault.to_string())));
            }
            if writes > 0 && rng.u8(0..8) == 0 {
                writes -= 1;
                writers::write_key(&mut shared.world(), &mut rng, options, &key("w"));
            }
            // The mirror is less than a second behind.
            let waits = shared.world().requests.iter().any(|request| request.kind == Request::Pause);
            if waits || rng.u8(0..6) == 0 {
                let requests = std::mem::take(&mut shared.world().requests);
                while delivered < shared.world_len() {
                    let from = std::mem::replace(&mut delivered, shared.world_len());
                    deliver_from(&shared, from);
                }
                shared.world().requests = requests;
            }
            let mut world = shared.world();
            let place = rng.usize(0..world.requests.len());
            let fate = match (world.requests[place].kind, rng.u8(0..40)) {
                (Request::Read | Request::Write, 0) => Fate::Lost,
                (Request::Read | Request::Write, 1) => Fate::AnswerLost,
                _ => Fate::Answered,
            };
            world.carry(place, fate);
        };
        while delivered < shared.world_len() {
            let from = std::mem::replace(&mut delivered, shared.world_len());
            deliver_from(&shared, from);
        }
        let trees = only_trees(audited);
        // A shape that search refuses is no false alarm.
        for (found, finding) in trees.findings.iter().filter(|(found, _)| **found != DifferenceKind::Degraded) {
            assert_eq!((is_damaged, *found, &*finding.examples), (true, kind, &[id("a")][..]), "{}", told(what));
        }
        if is_damaged {
            assert!(trees.findings[&kind].examples.contains(&id("a")), "{}", told(what));
        }
        assert_eq!(trees.left(), 0, "{}", told(what));
    }
}

fn schedules() -> u64 {
    super::schedules() / 5
}

#[test]
fn results_are_saved_and_read_again() {
    let shared = mirrored_leaf();
    set(&shared, "a", None);
    let audited = audit(&shared, OPTIONS);
    let saved = drive(&shared, last_results(&shared, &TOY, &generation(&shared))).unwrap();
    assert_eq!(saved.len(), 2);
    assert_eq!(saved[0].findings, audited.findings);
    assert!(saved[0].ended.is_some());
}
