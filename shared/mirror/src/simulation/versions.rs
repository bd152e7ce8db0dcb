//! A release that writes the index of the release before and its own.

use super::executor::{TABLES, drive};
use super::scenarios::{key, leaf, put, serving};
use super::toy::{LabelledLeaves, TREES};
use super::world::Shared;
use crate::documents::Documents;
use crate::generation::{Generation, Phase, index_name, write_alias};
use crate::mapping::index_body;
use crate::repair::{item_to_repair, repair_documents, repair_generations};
use crate::sweep::{Swept, sweep_generations};
use crate::work::{ProcessedBatch, process_batch};

/// Deploys the release that raises the version, and publishes its index beside the one that serves.
pub(super) fn raised() -> Shared {
    let shared = serving();
    let mapping = LabelledLeaves.mapping();
    let index = index_name("toy", 2);
    let mut world = shared.world();
    world.search.create(&index, &index_body(mapping, &write_alias(&index)).unwrap());
    let generations = world.generations.as_mut().unwrap();
    generations.epoch += 1;
    generations.written.push(Generation { index, mapping: mapping.version, phase: Phase::Filling });
    drop(world);
    shared
}

fn deliver(shared: &Shared) -> ProcessedBatch {
    let to = shared.world_len();
    let payload = shared.world().event(0, to);
    drive(shared, process_batch(shared, &LabelledLeaves, &TABLES, &payload)).unwrap()
}

/// Returns the field `label` of a document in both indexes, if it has one.
fn labels(shared: &Shared, tree: &str) -> [Option<String>; 2] {
    [1, 2].map(|number| {
        let document = shared.world().search.document(&index_name("toy", number), &key(tree).document_id()).unwrap();
        document.source["label"].as_str().map(str::to_owned)
    })
}

#[test]
fn batch_writes_each_index_with_its_own_version() {
    let shared = raised();
    put(&shared, "a", Some(leaf("oak", 10)));
    deliver(&shared);
    assert_eq!(labels(&shared, "a"), [None, Some("oak".to_owned())]);
    assert!(shared.world().markers.is_empty());
}

#[test]
fn repair_writes_each_index_with_its_own_version() {
    let shared = raised();
    put(&shared, "a", Some(leaf("elm", 10)));
    let key = key("a");
    let repaired = repair_generations(&shared, &LabelledLeaves, &TREES, &key);
    assert_eq!(drive(&shared, repaired).unwrap().unwrap().len(), 2);
    assert_eq!(labels(&shared, "a"), [None, Some("elm".to_owned())]);
}

#[test]
fn repair_of_both_indexes_at_once_reads_the_version_of_each() {
    let shared = raised();
    // Only the second index has a document, and neither has seen the delete.
    let first = shared.world().generations.as_mut().unwrap().written.remove(0);
    put(&shared, "a", Some(leaf("yew", 10)));
    deliver(&shared);
    put(&shared, "a", None);
    shared.world().generations.as_mut().unwrap().written.insert(0, first);

    let generations = shared.world().generations.clone().unwrap().written;
    let groups = item_to_repair(&TREES, &key("a")).into_iter().collect();
    let repaired = drive(&shared, repair_documents(&shared, &LabelledLeaves, &generations, groups));
    assert!(repaired.iter().all(Result::is_ok), "{repaired:?}");
    let document = shared.world().search.document(&index_name("toy", 2), &key("a").document_id()).unwrap();
    assert_eq!((document.version, &document.source["name"]), (11, &serde_json::Value::Null));
}

#[test]
fn sweep_deletes_the_tombstones_of_both_indexes() {
    let shared = raised();
    put(&shared, "a", Some(leaf("ash", 10)));
    put(&shared, "a", None);
    deliver(&shared);
    shared.world().now += 26 * 3_600_000_000;
    let mut swept = Swept::default();
    drive(&shared, sweep_generations(&shared, table::TOMBSTONES, &mut swept)).unwrap();
    assert_eq!(swept, Swept { deleted: 2, skipped: 0 });
}

#[test]
fn index_of_a_version_that_the_release_does_not_write_is_reported() {
    let shared = raised();
    shared.world().generations.as_mut().unwrap().written[0].mapping = 0;
    put(&shared, "a", Some(leaf("fir", 10)));
    let processed = deliver(&shared);
    assert_eq!(processed.ledger.reported, 1);
    let reason = "toy-000001 has version 0 of the mapping and this code has versions 1 and 2: rebuild the index";
    assert_eq!(processed.tally.first_error.unwrap(), reason);
    assert_eq!(shared.world().search.document(&index_name("toy", 2), &key("a").document_id()), None);
}
