//! Orders about a rebuild, in a world without faults in which a release has raised the mapping.

use std::sync::Mutex;
use std::time::Duration;

use serde_json::json;

use super::executor::{TABLES, drive, drive_for};
use super::scenarios::{attributes, key, leaf, put, serving};
use super::search::Document;
use super::toy::{LabelledLeaves, Leaves};
use super::world::Shared;
use crate::first_index::create;
use crate::generation::{Generations, index_name};
use crate::ports::Fault;
use crate::rebuild::{Goal, Progress, Rebuild, pause, rebuild};
use crate::repair_entity::{RepairedEntity, repair_items};
use crate::work::process_batch;

pub(super) fn order(goal: Goal) -> Rebuild {
    let begins = goal == Goal::Serve;
    Rebuild {
        goal,
        begins,
        replaces: false,
        wait: Duration::from_secs(90),
        accepts_quarantine: false,
        audit: None,
        patience: Duration::ZERO,
    }
}

pub(super) fn carry_out(shared: &Shared, order: Rebuild) -> Result<Generations, Fault> {
    drive(shared, rebuild(shared, &LabelledLeaves, "toy", order, &|_| ()))
}

/// Creates a world with items of the release before and an index that serves them.
pub(super) fn raised() -> Shared {
    let shared = serving();
    for (number, tree) in ["a", "bb", "ccc"].into_iter().enumerate() {
        put(&shared, tree, Some(leaf(tree, 10 + 2 * number as u64)));
    }
    put(&shared, "d", Some(leaf("d", 10)));
    put(&shared, "d", None);
    deliver(&shared);
    shared
}

/// Delivers every record of the stream.
pub(super) fn deliver(shared: &Shared) -> usize {
    let to = shared.world_len();
    let payload = shared.world().event(0, to);
    let batch = process_batch(shared, &LabelledLeaves, &TABLES, &payload);
    drive(shared, batch).unwrap().ledger.reported
}

/// Returns the names that readers find, with their labels.
pub(super) fn found(shared: &Shared) -> Vec<(String, bool)> {
    let documents = shared.world().search.visible("toy");
    let named = |source: &serde_json::Value| (source["name"].as_str().unwrap().to_owned(), source["label"].is_string());
    documents.values().map(|document| named(&document.source)).collect()
}

pub(super) fn names(labelled: bool) -> Vec<(String, bool)> {
    ["a", "bb", "ccc"].map(|name| (name.to_owned(), labelled)).to_vec()
}

/// Returns the generations that are written, by number, with their phases.
pub(super) fn phases(shared: &Shared) -> Vec<(u32, &'static str)> {
    let generations = shared.world().generations.clone().unwrap();
    let number = |index: &str| index.rsplit_once('-').unwrap().1.parse().unwrap();
    generations.written.iter().map(|one| (number(&one.index), one.phase.name())).collect()
}

#[test]
fn rebuild_serves_documents_of_the_new_version_and_keeps_the_old_index() {
    let shared = raised();
    let steps = Mutex::new(Vec::new());
    let keep = |step| steps.lock().unwrap().push(step);
    let rebuilt = rebuild(&shared, &LabelledLeaves, "toy", order(Goal::Serve), &keep);
    drive(&shared, rebuilt).unwrap();
    assert_eq!(phases(&shared), [(1, "kept"), (2, "serving")]);
    assert_eq!(found(&shared), names(true));
    let steps = steps.into_inner().unwrap();
    let (first, last) = (&steps[..1], &steps[steps.len() - 2..]);
    assert_eq!((first, last), (&[Progress::Published][..], &[Progress::Audited, Progress::Serving][..]));

    // The old index is still written.
    put(&shared, "a", Some(leaf("oak", 40)));
    deliver(&shared);
    carry_out(&shared, order(Goal::RollBack)).unwrap();
    assert_eq!(phases(&shared), [(1, "serving"), (2, "kept")]);
    assert_eq!(found(&shared)[0], ("oak".to_owned(), false));
    carry_out(&shared, order(Goal::Serve)).unwrap();
    assert_eq!(found(&shared)[0], ("oak".to_owned(), true));
    carry_out(&shared, order(Goal::Finish)).unwrap();
    assert_eq!(phases(&shared), [(2, "serving")]);
    let world = shared.world();
    assert_eq!(world.search.document(&index_name("toy", 1), &key("a").document_id()), None);
    assert!(world.checkpoints.keys().all(|(generation, _)| *generation == index_name("toy", 2)));
}

#[test]
fn new_index_serves_once_searches_find_its_documents() {
    let shared = raised();
    let found = Mutex::new(None);
    let look = |step| {
        if step == Progress::Serving {
            let mut world = shared.world();
            let now = world.now;
            *found.lock().unwrap() = Some(world.search.found("toy", now));
        }
    };
    drive(&shared, rebuild(&shared, &LabelledLeaves, "toy", order(Goal::Serve), &look)).unwrap();
    let ids = ["a", "bb", "ccc"].map(|tree| key(tree).document_id());
    assert_eq!(found.into_inner().unwrap(), Some(ids.to_vec()));
}

/// The ghost, the lost and the changed document come from nowhere, as if the scan had failed to notice something.
#[test]
fn new_index_is_compared_with_the_tables_before_it_serves() {
    let shared = raised();
    let index = index_name("toy", 2);
    let damage = |step| {
        if step == Progress::Filled {
            let mut world = shared.world();
            let ghost = json!({ "pk": "TREE#e", "sk": "LEAF#1", "name": "ghost" });
            world.search.set(&index, &key("e").document_id(), Some(Document { version: 10, source: ghost }));
            world.search.set(&index, &key("a").document_id(), None);
            let mut changed = world.search.document(&index, &key("bb").document_id()).unwrap();
            changed.source["name"] = json!("bbb");
            world.search.set(&index, &key("bb").document_id(), Some(changed));
        }
    };
    let order = Rebuild { audit: Some(Duration::from_secs(1)), ..order(Goal::Serve) };
    drive(&shared, rebuild(&shared, &LabelledLeaves, "toy", order, &damage)).unwrap();
    assert_eq!(phases(&shared), [(1, "kept"), (2, "serving")]);
    assert_eq!(found(&shared), names(true));
}

/// Each run makes one more request than those before it could.
#[test]
fn order_stopped_after_each_request_resumes() {
    for goal in [Goal::Finish, Goal::RollBack, Goal::Cancel] {
        for requests in 1.. {
            let shared = raised();
            let mut orders = vec![order(Goal::Serve), order(goal)];
            if goal == Goal::Cancel {
                orders.insert(1, order(Goal::RollBack));
            }
            let mut stopped = 0;
            for order in orders {
                let mut order = order;
                let mut made = requests;
                // The first run is stopped, and the next one is not.
                loop {
                    let run = rebuild(&shared, &LabelledLeaves, "toy", order, &|_| ());
                    match drive_for(&shared, made, run) {
                        Some(ended) => break drop(ended.unwrap()),
                        None => stopped += 1,
                    }
                    assert_eq!(found(&shared).len(), 3, "{goal:?} stopped after {requests}");
                    (made, order.begins) = (usize::MAX, order.begins && phases(&shared) == [(1, "serving")]);
                }
            }
            let expected = match goal {
                Goal::Finish => vec![(true, "serving")],
                Goal::Cancel => vec![(false, "serving")],
                Goal::RollBack | Goal::Serve => vec![(false, "serving"), (true, "kept")],
            };
            let phases: Vec<_> = phases(&shared).into_iter().map(|(number, phase)| (number > 1, phase)).collect();
            assert_eq!(phases, expected, "{goal:?} stopped after {requests}");
            assert_eq!(found(&shared), names(goal == Goal::Finish));
            assert!(shared.world().generations.as_ref().unwrap().dropping.is_empty());
            if stopped == 0 {
                assert!(requests > 5, "{goal:?}");
                break;
            }
        }
    }
}

/// Creates a world in which an index is published, and the rebuild waits. `e` was created and deleted before, with the
/// records from this position on.
fn waiting() -> (Shared, usize) {
    let shared = raised();
    let from = shared.world_len();
    put(&shared, "e", Some(leaf("e", 20)));
    put(&shared, "e", None);
    assert_eq!(deliver(&shared), 0);
    let run = rebuild(&shared, &LabelledLeaves, "toy", order(Goal::Serve), &|_| ());
    assert!(drive_for(&shared, 3, run).is_none());
    assert_eq!(phases(&shared), [(1, "serving"), (2, "published")]);
    (shared, from)
}

fn deliver_one(shared: &Shared, record: usize) {
    let payload = shared.world().event(record, record + 1);
    drive(shared, process_batch(shared, &LabelledLeaves, &TABLES, &payload)).unwrap();
}

fn resumed() -> Rebuild {
    Rebuild { begins: false, ..order(Goal::Serve) }
}

#[test]
fn new_index_is_written_while_the_rebuild_waits() {
    let (shared, _) = waiting();
    put(&shared, "a", Some(leaf("oak", 40)));
    assert_eq!(deliver(&shared), 0);
    let document = shared.world().search.document(&index_name("toy", 2), &key("a").document_id());
    assert_eq!(document.unwrap().source["name"], "oak");
    assert_eq!(found(&shared)[0], ("oak".to_owned(), false));
}

/// An invocation that was frozen writes what it received before the new index was published.
#[test]
fn image_from_before_the_publication_shows_no_deleted_item() {
    let (shared, created) = waiting();
    deliver_one(&shared, created);
    carry_out(&shared, resumed()).unwrap();
    assert_eq!((phases(&shared), found(&shared)), (vec![(1, "kept"), (2, "serving")], names(true)));
}

/// The old index alone knows that a host whose clock is behind has created the item again, and it is not written.
#[test]
fn tombstone_from_before_the_publication_hides_no_item_that_was_created_again() {
    for replaces in [false, true] {
        let (shared, created) = waiting();
        if replaces {
            carry_out(&shared, order(Goal::Cancel)).unwrap();
            let order = Rebuild { replaces, ..order(Goal::Serve) };
            assert!(drive_for(&shared, 3, rebuild(&shared, &LabelledLeaves, "toy", order, &|_| ())).is_none());
        }
        put(&shared, "e", Some(leaf("e", 10)));
        let last = shared.world_len() - 1;
        deliver_one(&shared, last);
        deliver_one(&shared, created + 1);
        carry_out(&shared, resumed()).unwrap();
        deliver(&shared);
        assert_eq!(found(&shared).last().map(|(name, _)| &**name), Some("e"), "{replaces}");
    }
}

#[test]
fn poison_keeps_the_new_index_from_serving_unless_the_order_accepts_it() {
    let shared = raised();
    put(&shared, "e", Some(attributes(json!({ "name": { "N": "1" }, "rev": { "N": "10" } }))));
    let refused = carry_out(&shared, order(Goal::Serve)).unwrap_err();
    let expected = "toy-000002 does not serve yet: at least 1 of its items are in quarantine";
    assert!(refused.reason.contains(expected), "{refused}");
    assert_eq!((phases(&shared), found(&shared)), (vec![(1, "serving"), (2, "filling")], names(false)));
    carry_out(&shared, Rebuild { accepts_quarantine: true, ..order(Goal::Serve) }).unwrap();
    assert_eq!((phases(&shared), found(&shared)), (vec![(1, "kept"), (2, "serving")], names(true)));
}

#[test]
fn paused_rebuild_waits_for_its_operator() {
    let shared = raised();
    assert!(drive(&shared, pause(&shared)).unwrap_err().reason.contains("no rebuild is under way"));
    let run = rebuild(&shared, &LabelledLeaves, "toy", order(Goal::Serve), &|_| ());
    assert!(drive_for(&shared, 3, run).is_none());
    let paused = drive(&shared, pause(&shared)).unwrap();
    assert!(paused.rebuild_paused && paused.written.len() == 2);
    // Both indexes are written.
    assert_eq!(deliver(&shared), 0);
    assert!(carry_out(&shared, order(Goal::Serve)).unwrap_err().reason.contains("is paused: resume or cancel it"));
    shared.world().generations.as_mut().unwrap().rebuild_paused = false;
    carry_out(&shared, order(Goal::Serve)).unwrap();
    assert_eq!(phases(&shared), [(1, "kept"), (2, "serving")]);
}

/// A request that moves the alias may arrive after the next one.
#[test]
fn alias_that_a_late_request_has_moved_is_right_at_the_end_of_the_rebuild() {
    for (goals, late, serving) in
        [(&[Goal::RollBack, Goal::Cancel][..], 2, 1), (&[Goal::RollBack, Goal::Serve, Goal::Finish], 1, 2)]
    {
        let shared = raised();
        carry_out(&shared, order(Goal::Serve)).unwrap();
        let (last, before) = goals.split_last().unwrap();
        before.iter().for_each(|goal| drop(carry_out(&shared, order(*goal)).unwrap()));
        shared.world().search.swap("toy", &index_name("toy", late));
        // Both have every document.
        assert_eq!(found(&shared), names(late == 2));
        carry_out(&shared, order(*last)).unwrap();
        assert_eq!((phases(&shared), found(&shared)), (vec![(serving, "serving")], names(serving == 2)));
    }
}

#[test]
fn index_that_was_not_published_is_deleted_by_the_next_rebuild() {
    let shared = raised();
    let run = rebuild(&shared, &LabelledLeaves, "toy", order(Goal::Serve), &|_| ());
    // It has created the index.
    assert!(drive_for(&shared, 2, run).is_none());
    assert!(shared.world().search.exists(&index_name("toy", 2)) && phases(&shared) == [(1, "serving")]);
    carry_out(&shared, order(Goal::Serve)).unwrap();
    assert_eq!((phases(&shared), found(&shared)), (vec![(1, "kept"), (3, "serving")], names(true)));
    assert!(!shared.world().search.exists(&index_name("toy", 2)));
}

#[test]
fn rebuild_begins_after_a_dropped_index_was_deleted() {
    let shared = raised();
    carry_out(&shared, order(Goal::Serve)).unwrap();
    let finish = rebuild(&shared, &LabelledLeaves, "toy", order(Goal::Finish), &|_| ());
    assert!(drive_for(&shared, 2, finish).is_none());
    assert_eq!(shared.world().generations.as_ref().unwrap().dropping, [index_name("toy", 1)]);
    carry_out(&shared, order(Goal::Serve)).unwrap();
    assert_eq!(phases(&shared), [(2, "kept"), (3, "serving")]);
    assert!(!shared.world().search.exists(&index_name("toy", 1)));
}

#[test]
fn goals_that_cannot_be_reached_say_why() {
    let refused = |shared: &Shared, goal| carry_out(shared, order(goal)).unwrap_err().reason;
    let shared = raised();
    assert!(refused(&shared, Goal::RollBack).contains("no old index is written any more"));
    carry_out(&shared, order(Goal::Finish)).unwrap();
    carry_out(&shared, order(Goal::Cancel)).unwrap();
    let run = rebuild(&shared, &LabelledLeaves, "toy", order(Goal::Serve), &|_| ());
    assert!(drive_for(&shared, 3, run).is_none());
    assert!(refused(&shared, Goal::RollBack).contains("cancel the rebuild"));
    assert!(refused(&shared, Goal::Finish).contains("does not serve"));
    carry_out(&shared, order(Goal::Serve)).unwrap();
    assert!(refused(&shared, Goal::Cancel).contains("roll back first"));
    // Another rebuild waits for the end of the last.
    assert!(refused(&shared, Goal::Serve).contains("toy-000001 is still kept: finish or roll back first"));
    assert_eq!(phases(&shared), [(1, "kept"), (2, "serving")]);
    // Half-way back, and back.
    let run = rebuild(&shared, &LabelledLeaves, "toy", order(Goal::RollBack), &|_| ());
    assert!(drive_for(&shared, 2, run).is_none());
    assert_eq!(phases(&shared), [(1, "audited"), (2, "serving")]);
    assert!(refused(&shared, Goal::Finish).contains("does not serve"));
    carry_out(&shared, order(Goal::RollBack)).unwrap();
    assert_eq!(phases(&shared), [(1, "serving"), (2, "kept")]);
    assert!(refused(&shared, Goal::Finish).contains("does not serve"));
}

#[test]
fn entity_is_repaired_in_place_in_every_generation() {
    let shared = raised();
    carry_out(&shared, order(Goal::Serve)).unwrap();
    let id = |tree| key(tree).document_id();
    {
        let mut world = shared.world();
        let mut corrupt = world.search.document(&index_name("toy", 1), &id("bb")).unwrap();
        corrupt.source["name"] = json!("other");
        world.search.set(&index_name("toy", 1), &id("bb"), Some(corrupt));
        world.search.set(&index_name("toy", 2), &id("a"), None);
    }
    let repair = |entity| drive(&shared, repair_items(&shared, &LabelledLeaves, entity, &|_| ()));
    assert_eq!(repair("leaf").unwrap(), Some(RepairedEntity { items: 3, ..RepairedEntity::default() }));
    assert_eq!(found(&shared), names(true));
    carry_out(&shared, order(Goal::RollBack)).unwrap();
    assert_eq!(found(&shared), names(false));
    assert_eq!((repair("counter").unwrap(), repair("tree").unwrap()), (None, None));
    put(&shared, "e", Some(attributes(json!({ "name": { "N": "1" }, "rev": { "N": "10" } }))));
    let expected = RepairedEntity { items: 4, quarantined: 1, ..RepairedEntity::default() };
    assert_eq!(repair("leaf").unwrap(), Some(expected));
}

#[test]
fn item_that_cannot_be_repaired_now_delays_no_other_of_its_entity() {
    let shared = raised();
    for tree in ["a", "bb"] {
        let mut slow = leaf(tree, 20);
        slow.insert("area".to_owned(), json!({ "S": "slow" }));
        put(&shared, tree, Some(slow));
    }
    put(&shared, "e", Some(leaf("e", 10)));
    let repaired = drive(&shared, repair_items(&shared, &LabelledLeaves, "leaf", &|_| ()));
    let repaired = repaired.unwrap().unwrap();
    assert_eq!((repaired.items, repaired.failed, repaired.reasons.len()), (4, 2, 1));
    assert!(repaired.reasons[0].contains("timeout"), "{:?}", repaired.reasons);
    assert!(found(&shared).contains(&("e".to_owned(), false)));
}

#[test]
fn first_index_is_left_alone_while_another_is_filled() {
    let shared = raised();
    let run = rebuild(&shared, &LabelledLeaves, "toy", order(Goal::Serve), &|_| ());
    assert!(drive_for(&shared, 3, run).is_none());
    let before = shared.world().generations.clone();
    let made = drive(&shared, create(&shared, &Leaves, "toy", Duration::ZERO, &|_| ())).unwrap();
    assert_eq!((made.index, &shared.world().generations), (index_name("toy", 1), &before));
}
