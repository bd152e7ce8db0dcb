//! Sweeps that run concurrently with each other and with writes.

use serde_json::json;

use super::executor::{Ended, Invocation, drive};
use super::scenarios::{deliver_from, leaf, put, serving, visible};
use super::search::Document;
use super::world::{Call, Fate, Kind, Shared};
use crate::generation::index_name;
use crate::sweep::{Swept, sweep_generations};

const SWEEP: usize = 1;

/// Returns a sweep that has found the tombstones and waits for its deletes.
fn about_to_delete(shared: &Shared) -> Invocation {
    let mut sweep = Invocation::sweep(shared);
    while sweep.poll(shared, SWEEP).is_none() {
        let mut world = shared.world();
        match world.requests.iter().position(|request| !matches!(request.kind, Kind::Bulk | Kind::Expired)) {
            Some(other) => world.carry(other, Fate::Answered),
            None => return sweep,
        };
    }
    panic!("there is nothing to sweep");
}

#[test]
fn item_restored_at_a_lower_revision_survives_a_sweep_that_found_its_tombstone() {
    let shared = serving();
    put(&shared, "a", Some(leaf("first", 10)));
    put(&shared, "a", None);
    deliver_from(&shared, 0);
    shared.world().now += 26 * 60 * 60 * 1_000_000;

    let mut late = about_to_delete(&shared);
    let its_deletes = std::mem::take(&mut shared.world().requests);
    let mut swept = Swept::default();
    drive(&shared, sweep_generations(&shared, table::TOMBSTONES, &mut swept)).unwrap();
    assert_eq!(swept, Swept { deleted: 1, skipped: 0 });
    shared.world().search.forget();
    put(&shared, "a", Some(leaf("restored", 4)));
    deliver_from(&shared, 2);
    let restored = [("TREE#a#LEAF#1".to_owned(), 4)];
    assert_eq!(visible(&shared), restored);

    shared.world().requests = its_deletes;
    let bulk = shared.world().requests.iter().position(|request| request.kind == Kind::Bulk).unwrap();
    shared.world().carry(bulk, Fate::Answered);
    assert!(matches!(late.poll(&shared, SWEEP), Some(Ended::Sweep(Ok(Swept { deleted: 0, skipped: 1 })))));
    assert_eq!(visible(&shared), restored);
}

/// Returns the result of a sweep of one old tombstone, of whose requests of this kind the first one has this fate.
fn sweep_with_fault(call: Call, fate: Fate) -> Swept {
    let shared = serving();
    put(&shared, "a", Some(leaf("first", 10)));
    put(&shared, "a", None);
    deliver_from(&shared, 0);
    shared.world().now += 26 * 60 * 60 * 1_000_000;
    let (mut sweep, mut fate) = (Invocation::sweep(&shared), Some(fate));
    loop {
        if let Some(ended) = sweep.poll(&shared, SWEEP) {
            let Ended::Sweep(Ok(swept)) = ended else { panic!("the sweep of {call:?} fails") };
            assert!(fate.is_none() && !shared.world().search.has_tombstones(), "{call:?}");
            return swept;
        }
        let mut world = shared.world();
        let place = world.requests.iter().position(|request| request.kind != Kind::Expired).unwrap();
        let fate = if world.requests[place].call == call { fate.take() } else { None };
        world.carry(place, fate.unwrap_or(Fate::Answered));
    }
}

#[test]
fn sweep_tries_a_request_again_that_was_lost_or_refused_for_now() {
    let whole = Swept { deleted: 1, skipped: 0 };
    for call in [Call::Refresh, Call::Tombstones, Call::DeleteTombstones] {
        assert_eq!(sweep_with_fault(call, Fate::Lost), whole, "{call:?}");
    }
    assert_eq!(sweep_with_fault(Call::DeleteTombstones, Fate::Refused(429)), whole);
    // The tombstone was deleted, and nothing says so.
    assert_eq!(sweep_with_fault(Call::DeleteTombstones, Fate::AnswerLost), Swept::default());
}

/// A search finds a deleted tombstone again until the index is refreshed.
#[test]
fn sweep_of_many_pages_leaves_no_tombstone() {
    let shared = serving();
    let written = shared.world().now / 1000;
    for number in 0..1_100 {
        let source = json!({ "deleted": true, "deletedAt": written });
        let tombstone = Document { version: 11, source };
        shared.world().search.set(&index_name("toy", 1), &format!("TREE#{number}"), Some(tombstone));
    }
    shared.world().now += 26 * 60 * 60 * 1_000_000;
    let mut swept = Swept::default();
    drive(&shared, sweep_generations(&shared, table::TOMBSTONES, &mut swept)).unwrap();
    assert_eq!(swept, Swept { deleted: 1_100, skipped: 0 });
    assert!(!shared.world().search.has_tombstones());
}
