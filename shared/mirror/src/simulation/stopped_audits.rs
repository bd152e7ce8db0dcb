//! Audits that are killed, run out of time, or are taken over by another run.

use std::collections::BTreeMap;
use std::pin::pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::task::noop_waker_ref;
use serde_json::Value;

use super::ORDINARY;
use super::audits::{
    INDEX, OPTIONS, assert_equal, audit, audited, carry_next, counts, damaged_orchard, mirrored_leaf, only_trees,
};
use super::executor::drive;
use super::scenarios::{deliver_from, leaf, put};
use super::world::{Fate, Shared};
use crate::audit::{AuditEnd, AuditOptions, GenerationAudit, TableAudit};

/// Stops an audit after each number of requests, or each third in `cargo test`, and lets the next run resume it.
#[test]
fn audit_that_is_killed_at_any_step_is_resumed_and_repairs_everything() {
    let options = AuditOptions { save_interval: Duration::ZERO, ..OPTIONS };
    let mut steps = 1;
    loop {
        let (shared, expected) = damaged_orchard(4);
        let mut kills = 0;
        let trees = loop {
            let mut run = pin!(audited(&shared, options, None));
            let mut left = if kills == 0 { steps } else { usize::MAX };
            let ended = loop {
                if let Poll::Ready(done) = run.as_mut().poll(&mut Context::from_waker(noop_waker_ref())) {
                    break Some(done.unwrap());
                }
                if left == 0 {
                    break None;
                }
                left -= 1;
                carry_next(&shared);
            };
            // Requests that were sent may still be carried out.
            let mut world = shared.world();
            while steps % 2 == 0 && !world.requests.is_empty() {
                world.carry(0, Fate::Answered);
            }
            world.requests.clear();
            drop(world);
            kills += usize::from(ended.is_none());
            // It may have been killed after its end.
            if let Some(trees) = ended.map(only_trees).or_else(|| finished(&shared)) {
                break trees;
            }
        };
        // A run that was killed after a repair has saved what it found.
        for (kind, number) in &expected {
            let finding = &trees.findings[kind];
            assert!(finding.found >= *number && finding.left == 0, "killed after {steps} requests: {trees:?}");
        }
        assert_equal(&shared, &format!("killed after {steps} requests"));
        if kills == 0 {
            break;
        }
        // Any odd number of steps lets both cases of open requests take turns.
        steps += if ORDINARY { 3 } else { 1 };
    }
    assert!(steps > 50, "{steps}");
}

/// Returns the result of the audit that the state table says is finished.
fn finished(shared: &Shared) -> Option<TableAudit> {
    let note = |name: &str| shared.world().notes.get(&(INDEX.to_owned(), name.to_owned())).cloned();
    let progress: Value = serde_json::from_str(&note("progress#daily")?.text).unwrap();
    (progress["phase"] == "finished").then(|| serde_json::from_str(&note("result#trees").unwrap().text).unwrap())
}

#[test]
fn audit_whose_time_is_up_is_resumed_where_it_stopped() {
    let (shared, expected) = damaged_orchard(20);
    let mut runs = 0;
    let audited = loop {
        runs += 1;
        let until = shared.world().now + 1;
        let audited = audited_in_turns(&shared, until);
        match audited.ended {
            AuditEnd::Finished => break only_trees(audited),
            AuditEnd::Stopped => assert!(runs < 100),
        }
    };
    assert!(runs > 3, "{runs}");
    let found: BTreeMap<_, _> = counts(&audited);
    assert_eq!(found, expected.iter().map(|(kind, number)| (*kind, (*number, *number, 0))).collect());
    assert_equal(&shared, "in turns");
}

/// Runs an audit whose every request takes time.
fn audited_in_turns(shared: &Shared, until: i64) -> GenerationAudit {
    let mut run = pin!(audited(shared, OPTIONS, Some(until + 20)));
    loop {
        if let Poll::Ready(done) = run.as_mut().poll(&mut Context::from_waker(noop_waker_ref())) {
            return done.unwrap();
        }
        shared.world().now += 1;
        carry_next(shared);
    }
}

/// The time of a request, in microseconds.
const REQUEST: i64 = 10_000;

#[test]
fn run_that_is_late_looks_once_more_and_counts_what_changes_as_busy() {
    let shared = mirrored_leaf();
    let options = AuditOptions { wait: Duration::from_secs(60), ..OPTIONS };
    let start = shared.world().now;
    // The audit has just looked at the leaf for the first time.
    let until = start + 3_000_000;
    let mut run = pin!(audited(&shared, options, Some(until)));
    let mut rev = 10;
    let late = loop {
        if let Poll::Ready(done) = run.as_mut().poll(&mut Context::from_waker(noop_waker_ref())) {
            break done.unwrap();
        }
        rev += 2;
        put(&shared, "a", Some(leaf("busy", rev)));
        shared.world().now += REQUEST;
        carry_next(&shared);
    };
    let ended = shared.world().now;
    assert!(ended < until + 70_000_000, "it ended {} s after its time", (ended - until) / 1_000_000);
    assert_eq!(late.ended, AuditEnd::Stopped);
    assert_eq!(late.tables.iter().map(|table| table.busy).sum::<u64>(), 1);
    // The last state is mirrored.
    deliver_from(&shared, shared.world_len() - 1);
    let rest = audit(&shared, options);
    assert_eq!((counts(&rest), rest.busy), (BTreeMap::new(), 1));
}

#[test]
fn earlier_run_stops_when_another_one_has_taken_over() {
    let shared = mirrored_leaf();
    let mut earlier = pin!(audited(&shared, OPTIONS, None));
    for _ in 0..10 {
        assert!(earlier.as_mut().poll(&mut Context::from_waker(noop_waker_ref())).is_pending());
        carry_next(&shared);
    }
    let requests = std::mem::take(&mut shared.world().requests);
    assert_eq!(counts(&audit(&shared, OPTIONS)), BTreeMap::new());
    shared.world().requests = requests;
    let ended = drive(&shared, earlier);
    assert!(ended.unwrap_err().reason.contains("taken over"));
}
