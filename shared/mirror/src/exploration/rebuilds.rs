//! The publication of another generation without the pause before it: a deleted item may appear in the new index. With
//! the pause, the same worlds are among the scenarios.

use super::breadth_first::explore;
use super::explorer::{Clock, Mutant, Scenario};
use super::state::Budget;
use crate::rules::ProductionRules;

/// Two writes, one invocation that goes on after its timeout, and one rebuild.
fn rebuild(name: &'static str) -> Scenario {
    let left = Budget { writes: 2, zombies: 1, rebuilds: 1, ..Budget::NONE };
    Scenario { clocks: &[Clock::Behind], ..Scenario::new(name, 1, 2, left) }
}

/// Asserts that a deleted item appears in the new generation.
#[track_caller]
fn deleted_item_appears(scenario: Scenario) {
    let explored = explore::<ProductionRules>(Scenario { mutant: Mutant::HastyRebuild, ..scenario });
    let broken = explored.broken.expect("some schedule shows the deleted item");
    assert!(
        broken.invariant.starts_with("I1: k0 is None, search should show None and shows Some"),
        "{}",
        broken.invariant
    );
    assert!(broken.invariant.ends_with("in the generation N+1"), "{}", broken.invariant);
}

#[test]
fn deleted_item_appears_in_a_generation_that_is_published_without_a_pause() {
    deleted_item_appears(rebuild("published without a pause"));
}

/// A wait of the state machine that is too short is what is dangerous.
#[test]
fn deleted_item_appears_in_a_generation_that_functions_publish_without_a_pause() {
    deleted_item_appears(Scenario { by_functions: true, ..rebuild("published by functions without a pause") });
}

#[test]
fn deleted_item_appears_in_a_generation_that_replaces_another_without_a_pause() {
    deleted_item_appears(Scenario { replaces: true, ..rebuild("replaced without a pause") });
}
