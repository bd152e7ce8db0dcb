//! Steps of a rebuild that are tried again while an engine does not respond.

use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::Mutex;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::task::noop_waker_ref;

use super::rebuilds::{found, names, order, phases, raised};
use super::scenarios::key;
use super::toy::LabelledLeaves;
use super::world::{Call, Fate, Kind, Shared};
use crate::generation::{Generation, Generations, Phase, index_name};
use crate::ports::Fault;
use crate::rebuild::{Goal, PATIENCE, Progress, Rebuild, rebuild};

/// Carries out an order in a world that loses these requests, by their times. `on_retry` is called with the number of
/// retries.
fn carry_out_during(
    shared: &Shared,
    order: Rebuild,
    is_lost: impl Fn(i64, Call) -> bool,
    on_retry: impl Fn(usize) + Sync,
) -> (Result<Generations, Fault>, Vec<(String, Duration)>) {
    carry_out_with(shared, order, is_lost, |_| (), on_retry)
}

/// As above. `on_step` is called after each step.
fn carry_out_with(
    shared: &Shared,
    order: Rebuild,
    is_lost: impl Fn(i64, Call) -> bool,
    on_step: impl Fn(&Progress) + Sync,
    on_retry: impl Fn(usize) + Sync,
) -> (Result<Generations, Fault>, Vec<(String, Duration)>) {
    let retries = Mutex::new(Vec::new());
    let note = |step| {
        on_step(&step);
        if let Progress::Retrying { reason, left } = step {
            let mut retries = retries.lock().unwrap();
            retries.push((reason, left));
            on_retry(retries.len());
        }
    };
    let mut run = pin!(rebuild(shared, &LabelledLeaves, "toy", order, &note));
    let ended = loop {
        if let Poll::Ready(ended) = run.as_mut().poll(&mut Context::from_waker(noop_waker_ref())) {
            break ended;
        }
        let mut world = shared.world();
        let place = world.requests.iter().position(|request| request.kind != Kind::Expired).unwrap();
        let call = world.requests[place].call;
        let is_lost = is_lost(world.now, call) && !matches!(call, Call::Pause | Call::Wait);
        world.now += 100_000;
        world.carry(place, if is_lost { Fate::Lost } else { Fate::Answered });
    };
    let retries = std::mem::take(&mut *retries.lock().unwrap());
    (ended, retries)
}

#[test]
fn each_step_is_tried_again_while_an_engine_does_not_respond() {
    const MINUTE: i64 = 60_000_000;
    let order = Rebuild { patience: PATIENCE, ..order(Goal::Serve) };
    // Each outage begins a second later than the one before, so that every step meets one.
    let mut late = 0;
    for second in 0.. {
        let shared = raised();
        let start = shared.world().now + second * 1_000_000;
        let (ended, retries) =
            carry_out_during(&shared, order, |now, _| (start..start + 60 * MINUTE).contains(&now), |_| ());
        ended.unwrap();
        assert_eq!((phases(&shared), found(&shared)), (vec![(1, "kept"), (2, "serving")], names(true)), "{second}");
        if retries.is_empty() {
            break;
        }
        late = second;
        let (reason, left) = &retries[0];
        assert!(reason.contains("the request was lost") && *left == PATIENCE, "{reason} {left:?}");
        let last = retries.last().unwrap().1;
        assert!((Duration::from_mins(29)..Duration::from_mins(33)).contains(&last), "{second}: {last:?}");
    }
    // The wait takes 90 s.
    assert!(late > 90, "{late}");
}

/// It is cancelled while its command tries a step again.
#[test]
fn command_begins_no_other_rebuild_when_its_own_is_cancelled() {
    for replaces in [false, true] {
        let shared = raised();
        let cancel = || {
            let mut world = shared.world();
            let config = world.generations.as_mut().unwrap();
            let is_serving = |one: &Generation| one.phase == Phase::Serving;
            let (serving, others): (Vec<_>, Vec<_>) = config.written.drain(..).partition(is_serving);
            config.dropping.extend(others.into_iter().map(|one| one.index));
            (config.written, config.epoch) = (serving, config.epoch + 1);
        };
        let order = Rebuild { patience: PATIENCE, replaces, ..order(Goal::Serve) };
        // The wait takes 90 s, so that the index is being filled.
        let start = shared.world().now + 92_000_000;
        let is_lost = |now, _| (start..start + 10_000_000).contains(&now);
        let (ended, retries) = carry_out_during(&shared, order, is_lost, |retry| {
            if retry == 1 {
                cancel()
            }
        });
        assert_eq!((ended.unwrap_err().reason.as_str(), retries.is_empty()), ("the rebuild was cancelled", false));
        let expected = if replaces { vec![] } else { vec![(1, "serving")] };
        assert_eq!((phases(&shared), shared.world().generations.as_ref().unwrap().last), (expected, 2));
    }
}

#[test]
fn step_fails_when_the_patience_is_exhausted() {
    const HOUR: i64 = 3_600_000_000;
    let shared = raised();
    let order = Rebuild { patience: PATIENCE, ..order(Goal::Serve) };
    let start = shared.world().now;
    let (ended, retries) = carry_out_during(&shared, order, |_, _| true, |_| ());
    assert!(ended.unwrap_err().reason.contains("the request was lost") && retries.len() > 100);
    let took = shared.world().now - start;
    assert!((3 * HOUR / 2..2 * HOUR).contains(&took), "{took}");
    // The next command is patient again.
    let start = shared.world().now;
    carry_out_during(&shared, order, |now, _| now < start + HOUR, |_| ()).0.unwrap();
}

#[test]
fn index_that_takes_no_writes_during_the_repairs_of_an_audit_serves_after_the_outage() {
    const MINUTE: i64 = 60_000_000;
    let shared = raised();
    let order = Rebuild { patience: PATIENCE, audit: Some(Duration::from_secs(1)), ..order(Goal::Serve) };
    let outage = Mutex::new(None);
    let on_step = |step: &Progress| {
        let mut outage = outage.lock().unwrap();
        if *step == Progress::Filled && outage.is_none() {
            let now = shared.world().now;
            *outage = Some(now..now + 30 * MINUTE);
            shared.world().search.set(&index_name("toy", 2), &key("a").document_id(), None);
        }
    };
    let is_lost = |now, call| call == Call::Bulk && outage.lock().unwrap().as_ref().is_some_and(|it| it.contains(&now));
    let (ended, retries) = carry_out_with(&shared, order, is_lost, on_step, |_| ());
    ended.unwrap();
    assert_eq!((phases(&shared), found(&shared)), (vec![(1, "kept"), (2, "serving")], names(true)));
    let (reason, _) = &retries[0];
    assert!(reason.contains("toy-000002 could not be repaired") && reason.contains("the request was lost"), "{reason}");
}

/// The tables respond, and only writes to the index do not.
#[test]
fn step_that_cannot_write_says_why() {
    let shared = raised();
    let order = Rebuild { patience: PATIENCE, ..order(Goal::Serve) };
    let (ended, retries) = carry_out_during(&shared, order, |_, call| call == Call::Bulk, |_| ());
    let reasons = retries.into_iter().map(|(reason, _)| reason).chain([ended.unwrap_err().reason]);
    let others: BTreeSet<_> = reasons.filter(|reason| !reason.contains("the request was lost")).collect();
    assert_eq!(others, BTreeSet::new());
}
