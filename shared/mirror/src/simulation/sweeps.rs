//! Sweeps that run concurrently with each other and with writes.

use super::executor::{Ended, Invocation, drive};
use super::scenarios::{deliver_from, leaf, put, serving, visible};
use super::world::{Fate, Kind, Shared};
use crate::sweep::{Swept, sweep_generations};

const SWEEP: usize = 1;

/// Returns a sweep that has found the tombstones and waits for its deletes.
fn about_to_delete(shared: &Shared) -> Invocation {
    let mut sweep = Invocation::sweep(shared);
    while sweep.poll(shared, SWEEP).is_none() {
        let mut world = shared.world();
        let kinds = |kind| world.requests.iter().position(|request| request.kind == kind);
        match (kinds(Kind::Bulk), kinds(Kind::Read)) {
            (Some(_), _) => return sweep,
            (None, read) => world.carry(read.unwrap(), Fate::Answered),
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
