//! The invariants that the explorer checks. The world checks those of a single write: I2, that a version never falls
//! except by a sweep, and I3, that the mirror writes nothing but `rev`.

use super::calls::{Body, generation_name};
use super::explorer::Scenario;
use super::leaf::{Kind, Leaf};
use super::state::State;
use crate::generation::Phase;

/// Checks the state of rest: I1, the visible documents are those of the items; I4, every item has a valid revision; I6,
/// an item in quarantine has a marker with its revision and no visible document.
pub(super) fn at_rest(scenario: &Scenario, state: &State) -> Result<(), String> {
    for key in 0..scenario.keys {
        let item = state.world.table[key];
        if item.is_some_and(|leaf| leaf.valid_rev().is_none()) {
            return Err(format!("I4: k{key} has no valid revision: {item:?}"));
        }
        for generation in checked(state) {
            document(scenario, state, generation, key, item)
                .map_err(|broken| format!("{broken}, in the generation {}", generation_name(generation)))?;
        }
    }
    Ok(())
}

fn document(
    scenario: &Scenario,
    state: &State,
    generation: usize,
    key: usize,
    item: Option<Leaf>,
) -> Result<(), String> {
    let poison = item.filter(|leaf| match leaf.kind {
        Kind::Poison => !state.world.cured,
        Kind::Refused => true,
        Kind::Shown | Kind::Hidden => false,
    });
    let wanted = item.filter(|leaf| poison.is_none() && leaf.kind != Kind::Hidden);
    let wanted = wanted.map(|leaf| (leaf.rev, Body::Live { content: leaf.content, rev: leaf.rev }));
    let document = state.world.indexes[generation].as_ref().and_then(|index| index.registers[key].document);
    let visible = document.filter(|document| matches!(document.body, Body::Live { .. }));
    let visible = visible.map(|document| (document.version, document.body));
    if visible != wanted {
        return Err(format!("I1: k{key} is {item:?}, search should show {wanted:?} and shows {visible:?}"));
    }
    let marker = state.world.markers[generation][key];
    match (poison, marker) {
        (Some(leaf), marker) if marker != Some(leaf.rev) => {
            Err(format!("I6: k{key} is quarantined as {leaf:?}, and its marker is at {marker:?}"))
        }
        (None, Some(marker)) if !may_be_stale(scenario, state, item, marker) => {
            Err(format!("I6: k{key} is {item:?} and has a marker at {marker}"))
        }
        _ => Ok(()),
    }
}

/// Whether a marker below the item's revision, or of an item that does not exist, is accepted: the invocation that set
/// it was stopped before it could clear it. The key's next write or repair clears it.
fn may_be_stale(scenario: &Scenario, state: &State, item: Option<Leaf>, marker: u64) -> bool {
    let (left, all) = (state.left, scenario.left);
    let cut_short = left.zombies < all.zombies || left.expiries < all.expiries || left.kills < all.kills;
    cut_short && item.is_none_or(|leaf| marker < leaf.rev)
}

/// Returns the generations whose documents must be those of the items.
fn checked(state: &State) -> impl Iterator<Item = usize> {
    let is_whole = |(number, phase): &(usize, Phase)| match phase {
        Phase::Published | Phase::Filling => state.world.is_scanned(*number),
        Phase::Audited | Phase::Serving | Phase::Kept => true,
    };
    state.world.phases().filter(is_whole).map(|(number, _)| number)
}
