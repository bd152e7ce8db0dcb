//! The daily audit of systems with two generations, as its handler calls it once an hour.

use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use futures::task::noop_waker_ref;
use web::Audit;

use super::audits::{DRY_RUN, INDEX, OPTIONS, TREES_ONLY, carry_next, id, mirrored_leaf, set};
use super::executor::drive;
use super::scenarios::{deliver_from, leaf, put, serving};
use super::toy::{Leaves, TOY};
use super::world::Shared;
use crate::audit::{
    AuditEnd, AuditOptions, Audited, DAY, GenerationAudit, audit_generations, last_results, report_audits,
};
use crate::documents::Documents;
use crate::generation::{Generation, Phase, index_name, write_alias};
use crate::group::after;
use crate::mapping::index_body;
use crate::ports::Fault;

const SECOND: i64 = 1_000_000;
const HOUR: i64 = 3600 * SECOND;

/// Creates a world with a kept index, one that serves, and two leaves in both.
fn rebuilt() -> Shared {
    let shared = serving();
    {
        let mut world = shared.world();
        let index = index_name("toy", 2);
        world.search.create(&index, &index_body(Leaves.mapping(), &write_alias(&index)).unwrap());
        world.search.swap("toy", &index);
        let written = &mut world.generations.as_mut().unwrap().written;
        written[0].phase = Phase::Kept;
        written.push(Generation { index, phase: Phase::Serving, ..written[0].clone() });
    }
    ["a", "b"].into_iter().for_each(|tree| put(&shared, tree, Some(leaf(tree, 10))));
    deliver_from(&shared, 0);
    shared
}

/// Carries out a call of the handler whose requests take a second each and which ends after this time. Returns what it
/// reports.
fn call(shared: &Shared, time: i64) -> (Result<Vec<GenerationAudit>, Fault>, Option<Audit>) {
    let now = shared.world().now;
    let (since, until) = (Some(now - after(0, DAY)), Some(now + time));
    let audits = audit_generations(shared, &Leaves, OPTIONS, since, until, &|_| ());
    let mut audits = pin!(audits);
    let audited = loop {
        if let Poll::Ready(done) = audits.as_mut().poll(&mut Context::from_waker(noop_waker_ref())) {
            break done;
        }
        shared.world().now += SECOND;
        carry_next(shared);
    };
    let mut reported = None;
    drive(shared, report_audits(shared, &TOY, |audit| reported = Some(audit))).unwrap();
    (audited.and_then(Audited::complete), reported)
}

fn all(shared: &Shared, options: AuditOptions) -> Result<Vec<GenerationAudit>, Fault> {
    drive(shared, audit_generations(shared, &Leaves, options, None, None, &|_| ())).and_then(Audited::complete)
}

fn generations(audited: &[GenerationAudit]) -> Vec<&str> {
    audited.iter().map(|audit| audit.generation.as_str()).collect()
}

#[test]
fn kept_and_serving_index_are_audited_and_reported_each_day() {
    let shared = rebuilt();
    for number in 1..=2 {
        shared.world().search.set(&index_name("toy", number), &id("a"), None);
    }
    let (start, mut reports, mut calls) = (shared.world().now, Vec::new(), 0);
    for hour in 0..72 {
        shared.world().now = start + hour * HOUR;
        // An audit takes several calls.
        let (audited, reported) = call(&shared, 20 * SECOND);
        calls += usize::from(!audited.unwrap().is_empty());
        reports.extend(reported.map(|audit| (hour, audit)));
    }
    assert!(calls > 8, "{calls}");
    let hours: Vec<i64> = reports.iter().map(|(hour, _)| *hour).collect();
    assert!(hours[0] < 12 && hours.windows(2).all(|pair| pair[1] - pair[0] < 26), "{hours:?}");
    assert!(hours.last() > Some(&46), "{hours:?}");
    // Each result is reported once.
    assert_eq!(reports.iter().map(|(_, audit)| audit.differences).sum::<u64>(), 2);
    let documents: u64 = reports.iter().map(|(_, audit)| audit.documents).sum();
    assert_eq!(documents, 2 * (2 * 3) - 2, "the lost document is in no index at first");
}

#[test]
fn generation_is_due_a_day_after_the_start_of_its_last_full_audit() {
    let shared = rebuilt();
    let start = shared.world().now;
    let due = |since: i64| {
        shared.world().now = start + since;
        let (audited, reported) = call(&shared, HOUR);
        (generations(&audited.unwrap()).len(), reported.is_some())
    };
    assert_eq!(due(0), (2, true));
    assert_eq!(due(HOUR), (0, false));
    assert_eq!(due(22 * HOUR), (0, false));
    assert_eq!(due(24 * HOUR), (2, true));
    // A result of one table is missing.
    shared.world().notes.retain(|(index, name), _| index == INDEX || name != "result#trees");
    assert_eq!(due(25 * HOUR), (1, true));
}

#[test]
fn audit_of_an_operator_counts_and_is_reported_once() {
    let shared = rebuilt();
    shared.world().search.set(INDEX, &id("a"), None);
    assert_eq!(generations(&all(&shared, OPTIONS).unwrap()), ["toy-000002", INDEX]);
    let reported = Audit { documents: 3, differences: 1, missing_shapes: 0 };
    for reported in [Some(reported), None] {
        shared.world().now += HOUR;
        let (audited, report) = call(&shared, HOUR);
        assert_eq!((audited.unwrap(), report), (Vec::new(), reported));
    }
}

#[test]
fn kept_index_that_cannot_be_audited_does_not_stop_the_serving_one_and_is_overdue() {
    let shared = rebuilt();
    shared.world().search.set(&index_name("toy", 2), &id("a"), None);
    shared.world().generations.as_mut().unwrap().written[0].mapping = 0;
    let (audited, reported) = call(&shared, HOUR);
    assert!(audited.unwrap_err().reason.contains("toy-000001 has version 0 of the mapping"));
    assert_eq!(reported, None);
    assert!(shared.world().search.document(&index_name("toy", 2), &id("a")).is_some());
    // The operator deletes it.
    shared.world().generations.as_mut().unwrap().written.remove(0);
    let (audited, reported) = call(&shared, HOUR);
    assert_eq!((audited.unwrap(), reported.map(|audit| audit.differences)), (Vec::new(), Some(1)));
}

/// Polls an operator's audit for some requests, which take a second each. Returns its result if it has ended.
fn advance<T>(shared: &Shared, audit: Pin<&mut impl Future<Output = T>>, requests: usize) -> Option<T> {
    let mut audit = audit;
    for _ in 0..requests {
        if let Poll::Ready(done) = audit.as_mut().poll(&mut Context::from_waker(noop_waker_ref())) {
            return Some(done);
        }
        shared.world().now += SECOND;
        carry_next(shared);
    }
    None
}

#[test]
fn audit_of_an_operator_that_is_under_way_is_left_alone_and_counts_as_the_daily_one() {
    let shared = mirrored_leaf();
    set(&shared, "a", None);
    let audits = audit_generations(&shared, &Leaves, OPTIONS, None, None, &|_| ());
    let mut audits = pin!(audits);
    assert!(advance(&shared, audits.as_mut(), 10).is_none());
    let requests = std::mem::take(&mut shared.world().requests);
    let (audited, reported) = call(&shared, HOUR);
    assert_eq!((audited.unwrap(), reported), (Vec::new(), None));
    shared.world().requests = requests;
    let audited = advance(&shared, audits, usize::MAX).unwrap().unwrap();
    assert_eq!(audited.generations[0].ended, AuditEnd::Finished);
    shared.world().now += HOUR;
    let (audited, reported) = call(&shared, HOUR);
    assert_eq!((audited.unwrap(), reported.map(|audit| audit.differences)), (Vec::new(), Some(1)));
}

#[test]
fn audit_of_an_operator_that_was_killed_is_resumed_by_the_schedule() {
    let shared = mirrored_leaf();
    let start = shared.world().now;
    {
        let audits = audit_generations(&shared, &Leaves, OPTIONS, None, None, &|_| ());
        assert!(advance(&shared, pin!(audits), 10).is_none());
    }
    shared.world().requests.clear();
    shared.world().now = start + HOUR / 2;
    let (audited, reported) = call(&shared, HOUR);
    let audited = audited.unwrap();
    assert_eq!(audited[0].ended, AuditEnd::Finished);
    assert!(audited[0].tables.iter().all(|table| table.started < start + HOUR / 2) && reported.is_some());
}

#[test]
fn index_that_is_being_filled_is_left_alone() {
    let shared = rebuilt();
    // It is filled again as soon as the first audit has begun.
    let refill = |_| shared.world().generations.as_mut().unwrap().written[0].phase = Phase::Filling;
    let audits = audit_generations(&shared, &Leaves, OPTIONS, None, None, &refill);
    assert_eq!(generations(&drive(&shared, audits).unwrap().generations), ["toy-000002"]);
}

#[test]
fn audit_of_an_index_that_is_dropped_meanwhile_ends_and_leaves_no_note() {
    let shared = rebuilt();
    let dropped = index_name("toy", 2);
    let drop_index = |_| {
        let mut world = shared.world();
        world.generations.as_mut().unwrap().written.retain(|generation| generation.index != dropped);
        world.notes.retain(|(index, _), _| *index != dropped);
    };
    let audits = audit_generations(&shared, &Leaves, OPTIONS, None, None, &drop_index);
    assert_eq!(generations(&drive(&shared, audits).unwrap().generations), [INDEX]);
    assert!(shared.world().notes.keys().all(|(index, _)| *index == INDEX));
}

#[test]
fn dry_run_and_audit_of_one_table_leave_the_daily_audit_and_its_results() {
    let shared = mirrored_leaf();
    set(&shared, "a", None);
    let generation = shared.world().generations.clone().unwrap().written[0].clone();
    let results = || drive(&shared, last_results(&shared, &TOY, &generation)).unwrap();
    let start = shared.world().now;
    let (stopped, _) = call(&shared, 12 * SECOND);
    assert_eq!(stopped.unwrap()[0].ended, AuditEnd::Stopped);
    shared.world().now += HOUR;
    for options in [DRY_RUN, TREES_ONLY] {
        let audited = all(&shared, options).unwrap();
        assert_eq!(audited[0].tables.iter().map(|table| table.differences()).sum::<u64>(), 1);
        assert!(results().is_empty());
    }
    let (audited, reported) = call(&shared, HOUR);
    let audited = audited.unwrap();
    assert_eq!(audited[0].ended, AuditEnd::Finished);
    assert!(audited[0].tables.iter().all(|table| table.started < start + HOUR), "it was resumed");
    assert!(results().len() == 2 && reported.is_some());
}
