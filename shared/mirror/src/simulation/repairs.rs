//! Each case of a repair, on an index that is not what the table says.

use serde_json::json;
use table::Key;

use super::executor::drive;
use super::scenarios::{attributes, codes, deliver_from, key, leaf, put, serving, visible};
use super::search::Document;
use super::toy::{Leaves, TREES};
use super::world::Shared;
use crate::quarantine::Code;
use crate::repair::in_every_generation;
use crate::rules::AsWritten;
use crate::settle::Settlement;

const INDEX: &str = "toy-000001";
const ID: &str = "TREE#a#LEAF#1";

fn repair(shared: &Shared, key: &Key) -> Option<Settlement> {
    let repaired = drive(shared, in_every_generation::<AsWritten, _, _>(shared, &Leaves, &TREES, key)).unwrap();
    repaired.map(|generations| {
        assert_eq!(generations.len(), 1);
        generations[0].done
    })
}

/// The document as it is made of an item at this revision.
fn document(shared: &Shared) -> Option<Document> {
    shared.world().search.visible("toy").get(ID).cloned()
}

/// A world with the item at 10, in search.
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
fn a_document_that_is_wrong_at_the_right_version_is_written_anew() {
    let (shared, right) = mirrored();
    let mut wrong = right.clone();
    wrong.source["name"] = json!("wrong");
    set(&shared, Some(wrong));
    assert_eq!(repair(&shared, &key("a")), Some(Settlement::Index(10)));
    assert_eq!(document(&shared), Some(right));
}

#[test]
fn a_document_that_is_lost_or_old_is_written() {
    let (shared, right) = mirrored();
    for found in [None, Some(Document { version: 8, ..right.clone() })] {
        set(&shared, found);
        assert_eq!(repair(&shared, &key("a")), Some(Settlement::Index(10)));
        assert_eq!(document(&shared), Some(right.clone()));
    }
}

#[test]
fn an_item_below_its_document_is_stamped_and_its_record_brings_it() {
    for version in [12, 13] {
        let (shared, right) = mirrored();
        let from = shared.world_len();
        let deleted = json!(version == 13);
        let mut above = Document { version, ..right.clone() };
        above.source["deleted"] = deleted;
        set(&shared, Some(above));
        assert_eq!(repair(&shared, &key("a")), Some(Settlement::Stamp { above: Some(version) }));
        deliver_from(&shared, from);
        let shown = document(&shared).unwrap();
        assert!(shown.version > version && shown.source["name"] == "right", "{shown:?}");
    }
}

#[test]
fn an_item_without_revision_is_stamped() {
    let shared = serving();
    put(&shared, "a", Some(attributes(json!({ "name": { "S": "bare" } }))));
    assert_eq!(repair(&shared, &key("a")), Some(Settlement::Stamp { above: None }));
    deliver_from(&shared, 0);
    assert_eq!(document(&shared).unwrap().source["name"], "bare");
}

#[test]
fn a_ghost_becomes_a_tombstone_at_the_next_odd_version() {
    let (shared, right) = mirrored();
    put(&shared, "a", None);
    deliver_from(&shared, 1);
    set(&shared, Some(Document { version: 14, ..right }));
    assert_eq!(repair(&shared, &key("a")), Some(Settlement::Tombstone(15)));
    assert_eq!(visible(&shared), []);
    assert_eq!(repair(&shared, &key("a")), Some(Settlement::Done));
    assert_eq!(repair(&shared, &key("nowhere")), Some(Settlement::Done));
}

#[test]
fn what_is_not_to_be_found_is_hidden_and_poison_stays_in_quarantine() {
    let (shared, right) = mirrored();
    let mut hidden = leaf("hidden", 12);
    hidden.insert("hidden".to_owned(), json!({ "BOOL": true }));
    put(&shared, "a", Some(hidden));
    set(&shared, Some(Document { version: 12, ..right }));
    assert_eq!(repair(&shared, &key("a")), Some(Settlement::Index(12)));
    assert_eq!(visible(&shared), []);
    let mut poison = leaf("poison", 14);
    poison.insert("size".to_owned(), json!({ "S": "large" }));
    put(&shared, "a", Some(poison));
    assert_eq!(repair(&shared, &key("a")), Some(Settlement::Index(14)));
    assert_eq!((visible(&shared), codes(&shared)), (vec![], vec![(Code::Unfit, 14)]));
    // Cured by hand, at the same revision: the repair clears the marker, too.
    put(&shared, "a", Some(leaf("cured", 14)));
    repair(&shared, &key("a"));
    assert_eq!((visible(&shared).len(), codes(&shared)), (1, vec![]));
}

#[test]
fn what_is_never_searchable_has_nothing_to_repair() {
    let shared = serving();
    assert_eq!(repair(&shared, &Key::new("COUNTER", "leaves")), None);
    assert_eq!(repair(&shared, &Key::new("BUSH#a", "LEAF#1")), None);
}
