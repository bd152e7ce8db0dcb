//! The scenarios. Each is explored exhaustively, and no schedule may break an invariant.

use super::breadth_first::explore;
use super::explorer::{Clock, Publication, Scenario};
use super::state::Budget;
use crate::rules::ProductionRules;

#[track_caller]
fn holds(scenario: Scenario) {
    let explored = explore::<ProductionRules>(scenario);
    assert!(explored.broken.is_none(), "{explored}");
}

/// Asserts that the invariants hold for one key and batches of at most three records.
#[track_caller]
fn one_key(name: &'static str, left: Budget) {
    holds(Scenario::new(name, 1, 3, left));
}

/// Asserts that the invariants hold for one key and batches of at most two records.
#[track_caller]
fn short_batches(name: &'static str, left: Budget) {
    holds(Scenario::new(name, 1, 2, left));
}

/// Returns the first number in the nightly tier, otherwise the second.
const fn nightly(number: u8, ordinary: u8) -> u8 {
    match option_env!("CAIRN_TIER") {
        Some(_) => number,
        None => ordinary,
    }
}

#[test]
fn slow_clocks_break_no_invariant() {
    one_key(
        "clock",
        Budget { writes: nightly(4, 3), slow: 2, zombies: 1, repeats: 1, faults: nightly(1, 0), ..Budget::default() },
    );
}

#[test]
fn right_clocks_of_invocations_break_no_invariant() {
    let left = Budget { writes: nightly(4, 3), slow: 1, same: 1, zombies: 1, ..Budget::default() };
    holds(Scenario { clocks: &[Clock::Behind, Clock::Right], ..Scenario::new("right clock", 1, 3, left) });
}

#[test]
fn writes_in_the_same_microsecond_break_no_invariant() {
    one_key(
        "same microsecond",
        Budget { writes: nightly(4, 3), frozen: 2, zombies: 1, repeats: 1, faults: nightly(1, 0), ..Budget::default() },
    );
}

#[test]
fn writes_that_keep_the_revision_break_no_invariant() {
    one_key(
        "foreign",
        Budget { writes: nightly(4, 3), same: 2, zombies: 1, repeats: 1, faults: nightly(1, 0), ..Budget::default() },
    );
}

#[test]
fn writes_that_lower_the_revision_break_no_invariant() {
    one_key(
        "back",
        Budget { writes: nightly(4, 3), lower: 1, zombies: 1, repeats: 1, faults: nightly(1, 0), ..Budget::default() },
    );
}

#[test]
fn items_without_a_revision_break_no_invariant() {
    one_key(
        "norev",
        Budget { writes: 3, unrevised: 2, slow: 1, zombies: 1, faults: nightly(1, 0), ..Budget::default() },
    );
}

#[test]
fn hidden_items_break_no_invariant() {
    one_key(
        "hidden",
        Budget { writes: nightly(4, 3), hide: 2, zombies: 1, repeats: 1, faults: nightly(1, 0), ..Budget::default() },
    );
}

#[test]
fn hidden_items_with_foreign_writes_break_no_invariant() {
    one_key(
        "hidden, foreign",
        Budget { writes: nightly(4, 3), hide: 2, same: 1, zombies: 1, faults: nightly(1, 0), ..Budget::default() },
    );
}

#[test]
fn lost_requests_and_late_writes_break_no_invariant() {
    one_key("faults", Budget { writes: 3, slow: 1, same: 1, faults: nightly(2, 1), expiries: 1, ..Budget::default() });
}

#[test]
fn rebuild_breaks_no_invariant() {
    short_batches(
        "rebuild",
        Budget { writes: nightly(3, 2), zombies: 1, rebuilds: 1, rollbacks: 1, ..Budget::default() },
    );
}

#[test]
fn rebuild_with_slow_clocks_breaks_no_invariant() {
    short_batches(
        "rebuild, clock",
        Budget { writes: nightly(3, 2), slow: 1, zombies: 1, rebuilds: 1, ..Budget::default() },
    );
}

#[test]
fn rebuild_with_items_without_a_revision_breaks_no_invariant() {
    let left = Budget { writes: nightly(3, 2), unrevised: 1, zombies: 1, rebuilds: 1, ..Budget::default() };
    short_batches("rebuild, norev", left);
}

#[test]
fn rebuild_with_hidden_items_breaks_no_invariant() {
    short_batches(
        "rebuild, hidden",
        Budget { writes: nightly(3, 2), hide: 2, zombies: 1, rebuilds: 1, ..Budget::default() },
    );
}

#[test]
fn rebuild_with_sweeps_breaks_no_invariant() {
    let left =
        Budget { writes: nightly(3, 2), zombies: nightly(1, 0), rebuilds: 1, sweeps: 1, days: 1, ..Budget::default() };
    short_batches("rebuild, sweep", left);
}

#[test]
fn index_filled_anew_breaks_no_invariant() {
    let left = Budget { writes: nightly(3, 2), slow: 1, zombies: 1, rebuilds: 1, ..Budget::default() };
    let scenario = Scenario::new("filled anew", 1, 2, left);
    holds(Scenario { publication: Publication::Anew { pause: true }, ..scenario });
}

#[test]
fn redrives_with_sweeps_break_no_invariant() {
    let left = Budget {
        writes: nightly(4, 3),
        slow: 1,
        zombies: nightly(1, 0),
        give_ups: 1,
        sweeps: 1,
        days: 1,
        ..Budget::default()
    };
    short_batches("redrive, sweep", left);
}

#[test]
fn sweeps_break_no_invariant() {
    let left =
        Budget { writes: nightly(4, 3), slow: 1, zombies: 1, sweeps: nightly(2, 1), days: 1, ..Budget::default() };
    short_batches("sweep", left);
}

#[test]
fn poison_breaks_no_invariant() {
    let left = Budget { writes: nightly(4, 3), poison: 2, zombies: 1, repeats: nightly(1, 0), ..Budget::default() };
    short_batches("quarantine", left);
}

#[test]
fn documents_that_search_refuses_break_no_invariant() {
    short_batches("refused", Budget { writes: nightly(4, 3), refused: 2, zombies: 1, ..Budget::default() });
}

#[test]
fn deployment_that_cures_poison_breaks_no_invariant() {
    let left = Budget { writes: nightly(4, 3), poison: 1, zombies: 1, deploys: 1, ..Budget::default() };
    short_batches("quarantine, fix", left);
}

#[test]
fn rebuild_with_poison_breaks_no_invariant() {
    short_batches(
        "rebuild, quarantine",
        Budget { writes: nightly(3, 2), poison: 1, deploys: 1, rebuilds: 1, ..Budget::default() },
    );
}

#[test]
fn rebuild_with_poison_and_zombies_breaks_no_invariant() {
    let left = Budget { writes: 2, poison: 1, zombies: 1, deploys: nightly(1, 0), rebuilds: 1, ..Budget::default() };
    short_batches("rebuild, quarantine, zombie", left);
}

#[test]
fn repairs_break_no_invariant() {
    short_batches("repair", Budget { writes: nightly(4, 3), damages: 1, repairs: 1, zombies: 1, ..Budget::default() });
}

#[test]
fn repairs_with_foreign_writes_break_no_invariant() {
    let left = Budget { writes: 3, damages: 1, repairs: nightly(2, 1), same: 1, slow: 1, ..Budget::default() };
    short_batches("repair, foreign", left);
}

#[test]
fn two_keys_break_no_invariant() {
    let left = Budget { writes: nightly(4, 3), slow: 1, zombies: 1, faults: nightly(1, 0), ..Budget::default() };
    holds(Scenario::new("two keys", 2, 3, left));
}

#[test]
fn rebuild_with_all_of_it_breaks_no_invariant() {
    let left = Budget {
        writes: nightly(3, 2),
        same: 1,
        slow: 1,
        zombies: 1,
        repeats: nightly(1, 0),
        give_ups: 1,
        rebuilds: 1,
        ..Budget::default()
    };
    short_batches("mixed", left);
}
