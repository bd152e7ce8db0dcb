//! Mutants. Each breaks one rule, and the explorer must find a schedule that breaks an invariant.

use super::breadth_first::explore;
use super::explorer::{Mutant, Scenario};
use super::state::Budget;
use crate::rules::{ProductionRules, Rules};
use crate::simulation::mutants::{
    EveryConflictDone, FoldForgetsTheHighestRev, IfSeqNo, LastRecordReported, NoSettle, NoStamp, RealDeletes,
    SwallowedError, SweepsYoungTombstones, TombstoneAtTheOldRev, UnguardedSweep,
};

/// Asserts that some schedule breaks this invariant. The trace is printed.
#[track_caller]
fn found<R: Rules>(invariant: &str, scenario: Scenario) {
    let explored = explore::<R>(scenario);
    let broken = explored.broken.expect("some schedule finds the mutant");
    assert!(broken.invariant.starts_with(invariant), "{}", broken.invariant);
}

fn scenario(name: &'static str, left: Budget) -> Scenario {
    Scenario::new(name, 1, 3, left)
}

#[test]
fn item_read_before_the_version_is_found() {
    let left = Budget { writes: 4, slow: 1, same: 1, zombies: 1, ..Budget::NONE };
    let scenario = scenario("mutant: item read before the version", left);
    found::<ProductionRules>("I1", Scenario { mutant: Mutant::ItemBeforeVersion, ..scenario });
}

#[test]
fn unconditional_stamp_is_found() {
    let left = Budget { writes: 3, unrevised: 1, ..Budget::NONE };
    let scenario = scenario("mutant: unconditional stamp", left);
    found::<ProductionRules>("I3", Scenario { mutant: Mutant::UnconditionalStamp, ..scenario });
}

#[test]
fn redrive_without_waiting_is_found() {
    let left = Budget { writes: 2, give_ups: 1, rebuilds: 1, ..Budget::NONE };
    let scenario = scenario("mutant: redrive without waiting", left);
    found::<HastyRedrive>("I1", Scenario { mutant: Mutant::HastyRedrive, ..scenario });
}

#[test]
fn redrive_that_applies_the_records_again_is_found() {
    let left = Budget { writes: 2, give_ups: 1, sweeps: 1, days: 1, ..Budget::NONE };
    let scenario = scenario("mutant: redrive replays images", left);
    found::<ProductionRules>("I1", Scenario { mutant: Mutant::ReplayingRedrive, ..scenario });
}

/// A redrive does not wait until what was read before is too old.
struct HastyRedrive;

impl Rules for HastyRedrive {
    fn may_redrive(_: i64, _: i64) -> bool {
        true
    }
}

#[test]
fn real_deletes_are_found() {
    let left = Budget { writes: 2, zombies: 1, ..Budget::NONE };
    found::<RealDeletes>("I", scenario("mutant: real deletes", left));
}

#[test]
fn tombstone_at_the_old_rev_is_found() {
    let left = Budget { writes: 2, zombies: 1, ..Budget::NONE };
    found::<TombstoneAtTheOldRev>("I1", scenario("mutant: tombstone at the old rev", left));
}

#[test]
fn missing_settle_is_found() {
    let left = Budget { writes: 3, slow: 1, zombies: 1, ..Budget::NONE };
    found::<NoSettle>("I1", scenario("mutant: no settle", left));
}

#[test]
fn every_conflict_classified_as_done_is_found() {
    let left = Budget { writes: 3, slow: 1, zombies: 1, ..Budget::NONE };
    found::<EveryConflictDone>("I1", scenario("mutant: every conflict is done", left));
}

#[test]
fn if_seq_no_is_found() {
    let left = Budget { writes: 4, slow: 1, zombies: 1, ..Budget::NONE };
    found::<IfSeqNo>("I", scenario("mutant: if_seq_no", left));
}

#[test]
fn missing_stamp_is_found() {
    let left = Budget { writes: 3, same: 1, lower: 1, ..Budget::NONE };
    found::<NoStamp>("I1", scenario("mutant: no stamp", left));
}

#[test]
fn fold_without_the_highest_rev_is_found() {
    let left = Budget { writes: 4, slow: 1, zombies: 1, ..Budget::NONE };
    found::<FoldForgetsTheHighestRev>("I1", scenario("mutant: fold forgets the highest rev", left));
}

#[test]
fn reporting_the_last_record_is_found() {
    let left = Budget { writes: 2, faults: 1, ..Budget::NONE };
    found::<LastRecordReported>("I", scenario("mutant: the last record is reported", left));
}

#[test]
fn swallowed_error_is_found() {
    let left = Budget { writes: 1, faults: 1, ..Budget::NONE };
    found::<SwallowedError>("I1", scenario("mutant: swallowed error", left));
}

#[test]
fn sweep_of_young_tombstones_is_found() {
    let left = Budget { writes: 2, zombies: 1, sweeps: 1, ..Budget::NONE };
    found::<SweepsYoungTombstones>("I", scenario("mutant: young tombstones are swept", left));
}

#[test]
fn unconditional_sweep_is_found() {
    let left = Budget { writes: 3, sweeps: 1, days: 1, ..Budget::NONE };
    found::<UnguardedSweep>("I", scenario("mutant: unconditional sweep", left));
}

#[test]
fn use_of_data_of_any_age_is_found() {
    let left = Budget { writes: 2, zombies: 1, sweeps: 1, days: 1, ..Budget::NONE };
    let scenario = scenario("mutant: data of any age is used", left);
    found::<ProductionRules>("I1", Scenario { mutant: Mutant::NeverAges, ..scenario });
}
