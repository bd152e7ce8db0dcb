//! Audits of new indexes before they serve.

use std::time::Duration;

use serde_json::{Value, json};

use super::audits::OPTIONS;
use super::executor::{drive, drive_for};
use super::scenarios::{deliver_from, key, leaf, poison, put, serving};
use super::toy::Leaves;
use super::world::Shared;
use crate::audit::{AuditOptions, AuditStep, audit_one};
use crate::generation::{Generations, Phase, index_name};
use crate::ports::Fault;
use crate::rebuild::{Goal, Progress, Rebuild, rebuild};

const START: Rebuild = Rebuild {
    goal: Goal::Serve,
    begins: true,
    replaces: false,
    wait: Duration::from_secs(90),
    accepts_quarantine: false,
    audit: Some(Duration::from_secs(1)),
    patience: Duration::ZERO,
};

const WITHOUT_AUDIT: Rebuild = Rebuild { audit: None, ..START };

const ROLL_BACK: Rebuild = Rebuild { goal: Goal::RollBack, begins: false, ..START };

fn carry_out(shared: &Shared, order: Rebuild, progress: impl Fn(Progress) + Sync) -> Result<Generations, Fault> {
    drive(shared, rebuild(shared, &Leaves, "toy", order, &progress))
}

/// Creates a world with an index that serves two leaves.
fn served() -> Shared {
    let shared = serving();
    ["a", "b"].into_iter().for_each(|tree| put(&shared, tree, Some(leaf(tree, 10))));
    deliver_from(&shared, 0);
    shared
}

fn new_index() -> String {
    index_name("toy", 2)
}

/// Returns the progress of an audit of the new index.
fn progress_of(shared: &Shared, purpose: &str) -> Option<Value> {
    let note = shared.world().notes.get(&(new_index(), format!("progress#{purpose}"))).cloned();
    note.map(|note| serde_json::from_str(&note.text).unwrap())
}

/// Whether the tables were added up.
fn is_in_the_middle(shared: &Shared, purpose: &str) -> bool {
    let Some(progress) = progress_of(shared, purpose) else { return false };
    let phase = &progress["phase"];
    phase["digestItems"]["table"] == 1 || phase["digestDocuments"].is_object()
}

/// Creates a world in which a rebuild was killed while it audited the new index.
fn killed_in_the_audit() -> Shared {
    let killed = |requests| {
        let shared = served();
        // The progress is saved after every step.
        let slow = |step| {
            if let Progress::Auditing(_) = step {
                shared.world().now += 300_000_000;
            }
        };
        let run = rebuild(&shared, &Leaves, "toy", START, &slow);
        assert!(drive_for(&shared, requests, run).is_none());
        is_in_the_middle(&shared, "rebuild").then_some(shared)
    };
    (1..).find_map(killed).unwrap()
}

/// Lets a daily audit of the new index run until it was killed in the middle.
fn kill_daily_audit(shared: &Shared) {
    let options = AuditOptions { save_interval: Duration::ZERO, ..OPTIONS };
    let generation = shared.world().generations.as_ref().unwrap().of(Phase::Kept).unwrap().clone();
    for requests in 1.. {
        let run = audit_one(shared, &Leaves, &generation, options, None, &|_| ());
        assert!(drive_for(shared, requests, run).is_none());
        if is_in_the_middle(shared, "daily") {
            return;
        }
    }
}

#[test]
fn index_that_was_rolled_back_is_compared_from_the_start() {
    let audited = served();
    carry_out(&audited, START, |_| ()).unwrap();
    // The next order does without the audit that was killed.
    let unaudited = killed_in_the_audit();
    carry_out(&unaudited, WITHOUT_AUDIT, |_| ()).unwrap();
    for shared in [audited, unaudited] {
        carry_out(&shared, ROLL_BACK, |_| ()).unwrap();
        kill_daily_audit(&shared);
        shared.world().put_silently(&key("a"), Some(leaf("changed", 10)));
        carry_out(&shared, START, |_| ()).unwrap();
        let document = shared.world().search.document(&new_index(), &key("a").document_id()).unwrap();
        assert_eq!(document.source["name"], "changed");
        assert_eq!(shared.world().generations.as_ref().unwrap().of(Phase::Serving).unwrap().index, new_index());
    }
}

#[test]
fn audit_that_was_killed_is_resumed_by_the_same_rebuild() {
    let shared = killed_in_the_audit();
    let started = progress_of(&shared, "rebuild").unwrap()["started"].clone();
    // However long ago that was.
    shared.world().now += 100 * 3_600_000_000;
    carry_out(&shared, START, |_| ()).unwrap();
    let finished = progress_of(&shared, "rebuild").unwrap();
    assert_eq!((&finished["started"], &finished["phase"]), (&started, &json!("finished")));
}

/// A comparison takes long.
#[test]
fn index_with_an_item_in_quarantine_is_refused_before_it_is_compared() {
    let shared = served();
    put(&shared, "c", Some(poison(10)));
    let refused = carry_out(&shared, START, |_| ()).unwrap_err();
    assert!(refused.reason.contains("at least 1 of its items are in quarantine"), "{refused}");
    assert_eq!(progress_of(&shared, "rebuild"), None);
    let from = shared.world_len();
    put(&shared, "c", None);
    deliver_from(&shared, from);
    carry_out(&shared, START, |_| ()).unwrap();
    assert_eq!(progress_of(&shared, "rebuild").unwrap()["phase"], "finished");
}

/// An item that goes to quarantine while the index is compared.
#[test]
fn index_with_an_item_in_quarantine_is_refused_after_it_was_compared() {
    let shared = served();
    let poisoned = |step| {
        if let Progress::Auditing(AuditStep::Items { .. }) = step {
            shared.world().put_silently(&key("b"), Some(poison(12)));
        }
    };
    let refused = carry_out(&shared, START, poisoned).unwrap_err();
    assert!(refused.reason.contains("at least 1 of its items are in quarantine"), "{refused}");
    assert_eq!(progress_of(&shared, "rebuild").unwrap()["phase"], "finished");
}

#[test]
fn audit_of_a_paused_rebuild_stops_at_its_next_step() {
    let shared = served();
    let steps = std::sync::Mutex::new(0);
    let pause = |step| {
        if let Progress::Auditing(AuditStep::Items { .. }) = step {
            *steps.lock().unwrap() += 1;
            shared.world().generations.as_mut().unwrap().rebuild_paused = true;
        }
    };
    let paused = carry_out(&shared, START, pause).unwrap_err();
    assert!(paused.reason.starts_with("the rebuild is "), "{paused}");
    assert_eq!(*steps.lock().unwrap(), 1);
    shared.world().generations.as_mut().unwrap().rebuild_paused = false;
    carry_out(&shared, START, |_| ()).unwrap();
}

#[test]
fn audit_of_a_cancelled_rebuild_stops_and_leaves_no_note() {
    let shared = served();
    let cancel = |step| {
        if let Progress::Auditing(AuditStep::Items { .. }) = step {
            let mut world = shared.world();
            world.generations.as_mut().unwrap().written.truncate(1);
            world.notes.clear();
        }
    };
    let cancelled = carry_out(&shared, START, cancel).unwrap_err();
    assert!(cancelled.reason.contains("the rebuild was cancelled"), "{cancelled}");
    assert!(shared.world().notes.is_empty());
}
