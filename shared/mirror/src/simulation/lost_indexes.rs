//! Indexes that are lost or deleted by hand: a rebuild replaces them, or is cancelled and begins again.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use futures::task::noop_waker_ref;

use super::executor::{drive, drive_for};
use super::rebuilds::{carry_out, deliver, found, names, order, phases, raised};
use super::scenarios::{leaf, put};
use super::toy::LabelledLeaves;
use super::world::{Call, Fate, Kind, Shared};
use crate::context::AWAIT_BATCHES;
use crate::first_index::create;
use crate::generation::{Phase, index_name};
use crate::rebuild::{Goal, Progress, Rebuild, abandon, rebuild};

#[test]
fn index_of_an_unknown_version_can_only_be_replaced() {
    let shared = raised();
    shared.world().generations.as_mut().unwrap().written[0].mapping = 0;
    let before = shared.world().generations.clone();
    let refused = carry_out(&shared, order(Goal::Serve)).unwrap_err();
    assert!(refused.reason.contains("toy-000001 has version 0 of the mapping"), "{refused}");
    assert!(refused.reason.contains("add `--replace`"), "{refused}");
    assert_eq!(shared.world().generations, before);
    assert!(!shared.world().search.exists(&index_name("toy", 2)));
    carry_out(&shared, replacing()).unwrap();
    assert_eq!((phases(&shared), found(&shared)), (vec![(2, "serving")], names(true)));
}

fn replacing() -> Rebuild {
    Rebuild { replaces: true, ..order(Goal::Serve) }
}

/// Loses every index.
fn lose_all(shared: &Shared) {
    (1..=9).for_each(|number| shared.world().search.remove(&index_name("toy", number)));
}

#[track_caller]
fn is_replaced(shared: &Shared, number: u32) {
    carry_out(shared, replacing()).unwrap();
    assert_eq!((phases(shared), found(shared)), (vec![(number, "serving")], names(true)));
    assert!(shared.world().generations.as_ref().unwrap().dropping.is_empty());
    deliver(shared);
    assert_eq!(found(shared), names(true));
}

#[test]
fn lost_domain_is_replaced_whatever_orders_came_before() {
    let rolled_back = &[Goal::RollBack][..];
    for goals in [&[][..], &[Goal::Finish], rolled_back, &[Goal::RollBack, Goal::Cancel]] {
        let shared = raised();
        carry_out(&shared, order(Goal::Serve)).unwrap();
        if goals == rolled_back {
            carry_out(&shared, order(Goal::RollBack)).unwrap();
        }
        lose_all(&shared);
        for goal in goals {
            // What needs an index fails, and must not be in the way.
            let _ = carry_out(&shared, order(*goal));
        }
        is_replaced(&shared, 3);
    }
}

#[test]
fn rebuild_of_a_lost_domain_is_cancelled_and_replaced() {
    for requests in [3, 8, 12] {
        let shared = raised();
        let run = rebuild(&shared, &LabelledLeaves, "toy", order(Goal::Serve), &|_| ());
        assert!(drive_for(&shared, requests, run).is_none());
        lose_all(&shared);
        carry_out(&shared, order(Goal::Cancel)).unwrap();
        assert_eq!(phases(&shared), [(1, "serving")], "{requests}");
        is_replaced(&shared, 3);
    }
}

/// Returns the worlds in which a rebuild that replaces the index was stopped, with the number of requests before.
fn stopped_replacements() -> impl Iterator<Item = (usize, Shared)> {
    (1..).map(|requests| (requests, raised())).take_while(|(requests, shared)| {
        let run = rebuild(shared, &LabelledLeaves, "toy", replacing(), &|_| ());
        drive_for(shared, *requests, run).is_none()
    })
}

/// Returns the worlds in which the creation of the first index was stopped, with the number of requests before.
fn stopped_creations() -> impl Iterator<Item = (usize, Shared)> {
    (1..).map(|requests| (requests, Shared::default())).take_while(|(requests, shared)| {
        shared.world().now = 1_000_000;
        for tree in ["a", "bb", "ccc"] {
            put(shared, tree, Some(leaf(tree, 10)));
        }
        let create = create(shared, &LabelledLeaves, "toy", Duration::ZERO, &|_| ());
        drive_for(shared, *requests, create).is_none()
    })
}

/// Returns the index that is filled or audited and does not serve.
fn unfinished(shared: &Shared) -> Option<String> {
    let written = shared.world().generations.clone()?.written;
    let unfinished = |phase| written.iter().find(|one| one.phase == phase).map(|one| one.index.clone());
    unfinished(Phase::Filling).or(unfinished(Phase::Audited))
}

/// Deletes the unfinished index, cancels the rebuild and starts it again.
#[track_caller]
fn recover_from_deletion(shared: &Shared, case: &str) {
    let index = unfinished(shared).unwrap();
    shared.world().search.remove(&index);
    put(shared, "a", None);
    put(shared, "e", Some(leaf("e", 50)));
    let refused = carry_out(shared, order(Goal::Serve)).unwrap_err();
    assert_eq!(refused.reason, format!("{index} was deleted: cancel the rebuild and start it again"), "{case}");
    let cancelled = carry_out(shared, order(Goal::Cancel)).unwrap();
    assert!(cancelled.written.is_empty() && cancelled.dropping.contains(&index), "{case}: {cancelled:?}");
    // No batch is handled until another index is filled.
    assert_eq!(deliver(shared), shared.world_len(), "{case}");
    // A deployment waits for an operator.
    let create = create(shared, &LabelledLeaves, "toy", Duration::ZERO, &|_| ());
    let fault = drive(shared, create).unwrap_err();
    let expected = "no index is written any more: create another one with `cairn rebuild start toy`";
    assert_eq!((fault.reason.as_str(), fault.refused), (expected, true), "{case}");
    let before = shared.world().now;
    let served = carry_out(shared, order(Goal::Serve)).unwrap();
    assert!(served.written.len() == 1 && served.dropping.is_empty() && !served.replaces, "{case}: {served:?}");
    // An invocation may have received what an index that is dropped has handled.
    assert!(shared.world().now >= before + 90_000_000, "{case}: no wait");
    deliver(shared);
    assert_eq!(found(shared), ["bb", "ccc", "e"].map(|name| (name.to_owned(), true)), "{case}");
}

#[test]
fn deleted_index_that_replaces_another_is_cancelled_and_filled_again() {
    let unfinished = stopped_replacements().filter(|(_, shared)| unfinished(shared).is_some());
    let recovered = unfinished.map(|(requests, shared)| {
        recover_from_deletion(&shared, &format!("stopped after {requests} requests"));
        assert!(!shared.world().search.exists(&index_name("toy", 1)));
    });
    assert!(recovered.count() > 10);
}

#[test]
fn deleted_first_index_is_cancelled_and_filled_again() {
    let unfinished = stopped_creations().filter(|(_, shared)| unfinished(shared).is_some());
    let recovered = unfinished.map(|(requests, shared)| {
        recover_from_deletion(&shared, &format!("stopped after {requests} requests"));
    });
    assert!(recovered.count() > 10);
}

/// Each attempt would create another index, which no config item lists.
#[test]
fn first_index_is_not_created_before_the_config_item_can_be_written() {
    let shared = Shared::default();
    shared.world().now = 1_000_000;
    put(&shared, "a", Some(leaf("a", 10)));
    for _ in 0..3 {
        let mut create = pin!(create(&shared, &LabelledLeaves, "toy", Duration::ZERO, &|_| ()));
        let created = loop {
            if let Poll::Ready(created) = create.as_mut().poll(&mut Context::from_waker(noop_waker_ref())) {
                break created;
            }
            let mut world = shared.world();
            let place = world.requests.iter().position(|request| request.kind != Kind::Expired).unwrap();
            let is_publication = world.requests[place].call == Call::Publish;
            world.carry(place, if is_publication { Fate::Denied } else { Fate::Answered });
        };
        assert_eq!(created.unwrap_err().reason, "the request was denied");
        assert!(!shared.world().search.exists(&index_name("toy", 1)));
    }
    let created = drive(&shared, create(&shared, &LabelledLeaves, "toy", Duration::ZERO, &|_| ())).unwrap();
    assert_eq!(created.index, index_name("toy", 1));
    assert_eq!(found(&shared), [("a".to_owned(), true)]);
}

/// An operator cancels the first index before its command reads the config item again.
#[test]
fn index_that_follows_a_cancelled_first_index_waits_for_batches() {
    let shared = Shared::default();
    shared.world().now = 1_000_000;
    put(&shared, "a", Some(leaf("a", 10)));
    let is_cancelled = AtomicBool::new(false);
    let cancel = |step| {
        if step == Progress::Published && !is_cancelled.swap(true, Ordering::SeqCst) {
            carry_out(&shared, order(Goal::Cancel)).unwrap();
        }
    };
    let made = drive(&shared, create(&shared, &LabelledLeaves, "toy", Duration::ZERO, &cancel)).unwrap();
    assert_eq!((made.index, phases(&shared)), (index_name("toy", 2), vec![(2, "serving")]));
    assert_eq!(found(&shared), [("a".to_owned(), true)]);
    let waited = Duration::from_micros((shared.world().now - 1_000_000).unsigned_abs());
    assert!(waited >= AWAIT_BATCHES, "{waited:?}");
}

#[test]
fn rebuild_goes_on_as_it_was_begun() {
    let replaces = |shared: &Shared| shared.world().generations.as_ref().unwrap().replaces;
    let resumed = stopped_replacements().filter(|(_, shared)| replaces(shared)).map(|(requests, shared)| {
        // The same command, or `resume` without the option.
        let again = if requests % 2 == 0 { replacing() } else { Rebuild { begins: false, ..order(Goal::Serve) } };
        carry_out(&shared, again).unwrap();
        assert_eq!((phases(&shared), found(&shared)), (vec![(2, "serving")], names(true)), "{requests}");
        let ended = shared.world().generations.clone().unwrap();
        assert!(ended.dropping.is_empty() && !ended.replaces && ended.last == 2, "{requests}: {ended:?}");
    });
    assert!(resumed.count() > 20);

    let shared = raised();
    let run = rebuild(&shared, &LabelledLeaves, "toy", order(Goal::Serve), &|_| ());
    assert!(drive_for(&shared, 4, run).is_none());
    let refused = carry_out(&shared, replacing()).unwrap_err();
    assert!(refused.reason.contains("begun without `--replace`: go on without it, or cancel"), "{refused}");
    carry_out(&shared, order(Goal::Serve)).unwrap();
    assert_eq!(phases(&shared), [(1, "kept"), (2, "serving")]);
}

#[test]
fn new_index_that_is_lost_before_the_old_one_is_deleted_is_replaced() {
    let is_dropping = |(_, shared): &(usize, Shared)| phases(shared) == [(2, "serving")];
    let (_, shared) = stopped_replacements().find(is_dropping).unwrap();
    shared.world().search.remove(&index_name("toy", 2));
    is_replaced(&shared, 3);
}

#[test]
fn kept_index_is_replaced_together_with_the_serving_one() {
    let shared = raised();
    carry_out(&shared, order(Goal::Serve)).unwrap();
    is_replaced(&shared, 3);
    assert!((1..=2).all(|number| !shared.world().search.exists(&index_name("toy", number))));
}

#[test]
fn kept_index_that_was_deleted_cannot_serve_again() {
    let shared = raised();
    carry_out(&shared, order(Goal::Serve)).unwrap();
    shared.world().search.remove(&index_name("toy", 1));
    let refused = carry_out(&shared, order(Goal::RollBack)).unwrap_err();
    assert_eq!(refused.reason, "toy-000001 was deleted: start a rebuild with `--replace`");
    is_replaced(&shared, 3);
}

#[test]
fn first_index_is_refused_while_a_rebuild_replaces_the_index() {
    let shared = raised();
    let run = rebuild(&shared, &LabelledLeaves, "toy", replacing(), &|_| ());
    assert!(drive_for(&shared, 6, run).is_none());
    assert_eq!(phases(&shared), [(2, "filling")]);
    let create_index = || drive(&shared, create(&shared, &LabelledLeaves, "toy", Duration::ZERO, &|_| ()));
    assert!(create_index().unwrap_err().reason.contains("resume it with `cairn rebuild start toy`"));
    assert_eq!(phases(&shared), [(2, "filling")]);
    carry_out(&shared, Rebuild { begins: false, ..replacing() }).unwrap();
    assert_eq!(create_index().unwrap().index, index_name("toy", 2));
}

#[test]
fn abandoned_indexes_are_replaced_even_if_they_are_lost() {
    for lost in [false, true] {
        let shared = raised();
        let run = rebuild(&shared, &LabelledLeaves, "toy", order(Goal::Serve), &|_| ());
        assert!(drive_for(&shared, 3, run).is_none());
        if lost {
            (1..=2).for_each(|number| shared.world().search.remove(&index_name("toy", number)));
        }
        drive(&shared, abandon(&shared)).unwrap();
        assert_eq!(deliver(&shared), shared.world_len());
        carry_out(&shared, Rebuild { begins: false, ..order(Goal::Serve) }).unwrap();
        assert_eq!((phases(&shared), found(&shared)), (vec![(3, "serving")], names(true)));
        assert!(shared.world().generations.as_ref().unwrap().dropping.is_empty());
    }
}
