//! The scenarios. Each is explored exhaustively, and no schedule may break an invariant.

use super::breadth_first::explore;
use super::explorer::{Clock, Origin, Scenario};
use super::state::Budget;
use crate::simulation::{NIGHTLY, ORDINARY};

/// Returns the second number in the nightly tier, otherwise the first.
const fn sized(smaller: u8, nightly: u8) -> u8 {
    if NIGHTLY { nightly } else { smaller }
}

/// Returns one less in the tier of `cargo test`, where the scenario would take seconds.
const fn fewer(writes: u8) -> u8 {
    if ORDINARY { writes - 1 } else { writes }
}

#[track_caller]
fn holds(scenario: Scenario) {
    let explored = explore(scenario);
    assert!(explored.broken.is_none(), "{explored}");
}

/// Explores one key with batches of at most three records.
#[track_caller]
fn one_key(name: &'static str, left: Budget) {
    holds(Scenario::new(name, 1, 3, left));
}

/// Explores one key with batches of at most two records.
#[track_caller]
fn short_batches(name: &'static str, left: Budget) {
    holds(Scenario::new(name, 1, 2, left));
}

/// Returns the budget of most scenarios: writes, one zombie, a lost response and a fault.
const fn common() -> Budget {
    Budget { writes: sized(3, 4), zombies: 1, repeats: 1, faults: sized(0, 1), ..Budget::NONE }
}

/// Returns the budget of a rebuild.
const fn rebuild() -> Budget {
    Budget { writes: sized(2, 3), zombies: 1, rebuilds: 1, ..Budget::NONE }
}

#[test]
fn slow_clocks_break_no_invariant() {
    one_key("clock", Budget { slow: 2, ..common() });
}

#[test]
fn writes_in_the_same_microsecond_break_no_invariant() {
    one_key("same microsecond", Budget { frozen: 2, ..common() });
}

#[test]
fn writes_that_keep_the_revision_break_no_invariant() {
    one_key("foreign", Budget { same: 2, ..common() });
}

#[test]
fn writes_that_lower_the_revision_break_no_invariant() {
    one_key("back", Budget { lower: 1, ..common() });
}

#[test]
fn items_without_a_revision_break_no_invariant() {
    one_key("norev", Budget { writes: 3, unrevised: 2, slow: 1, ..common() });
}

#[test]
fn hidden_items_break_no_invariant() {
    one_key("hidden", Budget { hide: 2, ..common() });
}

#[test]
fn hidden_items_with_foreign_writes_break_no_invariant() {
    one_key("hidden, foreign", Budget { hide: 2, same: 1, repeats: 0, ..common() });
}

#[test]
fn right_clocks_of_invocations_break_no_invariant() {
    let scenario = Scenario::new("right clocks", 1, 3, Budget { slow: 1, same: 1, ..common() });
    holds(Scenario { clocks: &[Clock::Behind, Clock::Right], ..scenario });
}

#[test]
fn failed_requests_and_late_writes_break_no_invariant() {
    let left = Budget { writes: 3, slow: 1, same: 1, faults: sized(1, 2), expiries: 1, ..Budget::NONE };
    one_key("faults", left);
}

#[test]
fn two_keys_break_no_invariant() {
    holds(Scenario::new("two keys", 2, 3, Budget { slow: 1, repeats: 0, ..common() }));
}

#[test]
fn sweeps_break_no_invariant() {
    short_batches("sweep", Budget { slow: 1, faults: 0, sweeps: sized(1, 2), days: sized(1, 2), ..common() });
}

/// A restored item may be below the tombstone of its delete. Until OpenSearch forgets that the tombstone was swept, it
/// refuses every write of the key, and has no document of it.
#[test]
fn items_below_a_swept_tombstone_break_no_invariant() {
    let left = Budget { writes: 2, zombies: 1, ..Budget::NONE };
    holds(Scenario { origin: Origin::Swept, ..Scenario::new("below a swept tombstone", 1, 2, left) });
}

#[test]
fn redrives_with_sweeps_break_no_invariant() {
    let writes = fewer(common().writes);
    let left = Budget { writes, slow: 1, repeats: 0, faults: 0, give_ups: 1, sweeps: 1, days: 1, ..common() };
    short_batches("redrive, sweep", left);
}

#[test]
fn redrives_that_start_too_early_break_no_invariant() {
    let left = Budget { give_ups: 1, rebuilds: 1, early_redrives: 1, writes: fewer(2), ..Budget::NONE };
    one_key("redrive, early", left);
}

#[test]
fn redrives_that_are_killed_break_no_invariant() {
    let left = Budget { slow: sized(0, 1), repeats: 0, faults: 0, give_ups: 1, kills: sized(1, 2), ..common() };
    short_batches("redrive, killed", left);
}

#[test]
fn redrives_of_two_keys_break_no_invariant() {
    let left = Budget { repeats: 0, faults: 0, give_ups: 1, kills: sized(0, 1), ..common() };
    holds(Scenario::new("redrive, two keys", 2, 2, left));
}

#[test]
fn redrives_with_poison_break_no_invariant() {
    let left = Budget { writes: sized(2, 3), poison: 1, deploys: 1, give_ups: 1, kills: 1, ..Budget::NONE };
    short_batches("redrive, quarantine", left);
}

#[test]
fn poison_breaks_no_invariant() {
    short_batches("quarantine", Budget { poison: 2, repeats: 0, ..common() });
}

#[test]
fn documents_that_search_refuses_break_no_invariant() {
    short_batches("quarantine, refused", Budget { refused: 2, repeats: 0, ..common() });
}

#[test]
fn deployment_that_cures_poison_breaks_no_invariant() {
    let left = Budget { writes: sized(2, 3), poison: 1, deploys: 1, repeats: sized(0, 1), faults: 0, ..common() };
    short_batches("quarantine, fix", left);
}

#[test]
fn repairs_break_no_invariant() {
    let left = Budget { writes: sized(2, 4), damages: 1, repairs: 1, repeats: 0, faults: 0, ..common() };
    short_batches("repair", left);
}

#[test]
fn repairs_with_foreign_writes_break_no_invariant() {
    let left = Budget { writes: 3, damages: 1, repairs: sized(1, 2), same: 1, slow: 1, ..Budget::NONE };
    short_batches("repair, foreign", left);
}

#[test]
fn rebuild_breaks_no_invariant() {
    short_batches("rebuild", rebuild());
}

#[test]
fn rebuild_with_slow_clocks_breaks_no_invariant() {
    short_batches("rebuild, clock", Budget { slow: 1, zombies: sized(0, 1), ..rebuild() });
}

#[test]
fn rebuild_with_items_without_a_revision_breaks_no_invariant() {
    short_batches("rebuild, norev", Budget { writes: 2, unrevised: 1, zombies: sized(0, 1), ..rebuild() });
}

#[test]
fn rebuild_with_hidden_items_breaks_no_invariant() {
    short_batches("rebuild, hidden", Budget { writes: 2, hide: 2, zombies: sized(0, 1), ..rebuild() });
}

#[test]
fn rebuild_with_sweeps_breaks_no_invariant() {
    short_batches("rebuild, sweep", Budget { writes: 2, zombies: sized(0, 1), sweeps: 1, days: 1, ..rebuild() });
}

#[test]
fn rebuild_with_poison_breaks_no_invariant() {
    let left = Budget { writes: 1, zombies: 0, poison: 1, deploys: sized(0, 1), ..rebuild() };
    short_batches("rebuild, quarantine", left);
}

#[test]
fn rebuild_with_poison_and_zombies_breaks_no_invariant() {
    let left = Budget { writes: sized(1, 2), poison: 1, ..rebuild() };
    short_batches("rebuild, quarantine, zombie", left);
}

#[test]
fn rebuild_that_replaces_the_older_index_breaks_no_invariant() {
    let scenario = Scenario::new("rebuild, replaces", 1, 2, Budget { slow: 1, ..rebuild() });
    holds(Scenario { replaces: true, ..scenario });
}

/// Nothing is written after the cancel, until another index is filled. A rebuild is cancelled once it was stopped, which
/// is too much for the ordinary tier: its random schedules cancel rebuilds.
#[test]
fn cancelled_rebuild_that_replaces_the_older_index_breaks_no_invariant() {
    let left = Budget { writes: 1, zombies: 0, stops: sized(0, 1), cancels: 1, ..rebuild() };
    holds(Scenario { replaces: true, ..Scenario::new("rebuild, replaces, cancelled", 1, 1, left) });
}

/// After the cancel no index is written, but batches from before it may still run.
#[test]
fn rebuild_after_a_cancelled_one_breaks_no_invariant() {
    let left = Budget { rebuilds: 0, cancels: 1, ..rebuild() };
    let scenario = Scenario::new("rebuild after a cancelled one", 1, 2, left);
    holds(Scenario { replaces: true, origin: Origin::Replacing, ..scenario });
}

#[test]
fn rebuild_that_is_stopped_breaks_no_invariant() {
    short_batches("rebuild, stopped", Budget { writes: sized(1, 2), zombies: 0, stops: 1, ..rebuild() });
}

#[test]
fn rebuild_by_functions_breaks_no_invariant() {
    let left = Budget { writes: sized(1, 3), ..rebuild() };
    let scenario = Scenario::new("rebuild, functions", 1, 2, left);
    holds(Scenario { by_functions: true, ..scenario });
}

/// After a stop another execution of the state machine begins, which has waited for no epoch.
#[test]
fn rebuild_by_functions_that_is_stopped_breaks_no_invariant() {
    let left = Budget { writes: sized(1, 2), zombies: 0, stops: 1, ..rebuild() };
    let scenario = Scenario::new("rebuild, functions, stopped", 1, 2, left);
    holds(Scenario { by_functions: true, ..scenario });
}

#[test]
fn rebuild_that_is_rolled_back_breaks_no_invariant() {
    let left = Budget { writes: sized(1, 2), zombies: sized(0, 1), rollbacks: 1, cancels: 1, ..rebuild() };
    short_batches("rebuild, rolled back", left);
}

#[test]
fn second_rebuild_breaks_no_invariant() {
    let left = Budget { writes: sized(1, 2), zombies: sized(0, 1), cancels: 1, rebuilds: 2, ..rebuild() };
    short_batches("rebuild, twice", left);
}

#[test]
fn rebuild_with_redrives_and_foreign_writes_breaks_no_invariant() {
    let left = Budget { writes: fewer(2), same: 1, zombies: 0, give_ups: 1, ..rebuild() };
    short_batches("mixed", left);
}
