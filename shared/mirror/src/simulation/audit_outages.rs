//! Audits whose repairs fail for some time, since the index does not take writes.

use std::pin::pin;
use std::task::{Context, Poll};

use futures::task::noop_waker_ref;

use super::audits::{INDEX, OPTIONS, audited, counts, id, mirrored_leaf, only_trees, set};
use super::scenarios::visible;
use super::world::{Call, Fate, Kind, Shared};
use crate::audit::{DifferenceKind, TableAudit};

const SECOND: i64 = 1_000_000;

/// Audits an index that lacks the document `a`, and that takes no writes for this number of seconds.
fn audited_during(shared: &Shared, seconds: i64) -> TableAudit {
    set(shared, "a", None);
    let end = shared.world().now + seconds * SECOND;
    let mut audit = pin!(audited(shared, OPTIONS, None));
    loop {
        if let Poll::Ready(audited) = audit.as_mut().poll(&mut Context::from_waker(noop_waker_ref())) {
            return only_trees(audited.unwrap());
        }
        let mut world = shared.world();
        let place = world.requests.iter().position(|request| request.kind != Kind::Expired).unwrap();
        let is_lost = world.requests[place].call == Call::Bulk && world.now < end;
        world.now += SECOND / 10;
        world.carry(place, if is_lost { Fate::Lost } else { Fate::Answered });
    }
}

#[test]
fn repair_is_tried_again_while_the_index_takes_no_writes() {
    let shared = mirrored_leaf();
    let trees = audited_during(&shared, 20);
    assert_eq!(counts(&trees), [(DifferenceKind::Lost, (1, 1, 0))].into());
    assert_eq!(visible(&shared), [(id("a"), 10), (id("b"), 10)]);
}

#[test]
fn repair_that_fails_again_and_again_is_left_with_its_reason() {
    let shared = mirrored_leaf();
    let trees = audited_during(&shared, 3600);
    assert_eq!(counts(&trees), [(DifferenceKind::Lost, (1, 0, 1))].into());
    let reason = trees.findings[&DifferenceKind::Lost].reason.clone().unwrap();
    assert!(reason.contains("the request was lost"), "{reason}");
    assert!(!shared.world().search.documents(INDEX).contains_key(&id("a")));
}
