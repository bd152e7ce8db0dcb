//! The simulator. It runs the functions that Lambda calls in a world whose faults are drawn from a seed. The world has
//! its own table, stream and index, and uses the real fold, settle and classify.

mod audits;
mod contract;
mod daily_audits;
pub(crate) mod executor;
mod faults;
mod invariants;
mod lasting;
pub(crate) mod mutants;
pub(crate) mod ports;
mod rebuild_audits;
mod rebuild_functions;
mod rebuilds;
mod redrives;
mod repairs;
mod scenarios;
mod schedule;
mod search;
mod stopped_audits;
mod sweeps;
pub(crate) mod toy;
mod versions;
pub(crate) mod world;
mod writers;

use schedule::Schedule;

use crate::rules::{ProductionRules, Rules};

/// Whether the tests have their full size. `CAIRN_TIER=nightly` sets it at compile time.
pub(crate) const NIGHTLY: bool =
    matches!(option_env!("CAIRN_TIER"), Some(tier) if matches!(tier.as_bytes(), b"nightly"));

/// Runs the schedules of these seeds until one breaks an invariant.
fn first_broken<R: Rules>(seeds: impl IntoIterator<Item = u64>, prepare: fn(&Schedule<R>)) -> Option<(u64, String)> {
    seeds.into_iter().find_map(|seed| {
        let mut schedule = Schedule::<R>::new(seed);
        prepare(&schedule);
        schedule.run().err().map(|broken| (seed, broken))
    })
}

/// Replays the schedule of a seed. Returns its log.
fn replay<R: Rules>(seed: u64, prepare: fn(&Schedule<R>)) -> String {
    let mut schedule = Schedule::<R>::new(seed);
    schedule.record_log();
    prepare(&schedule);
    let ended = schedule.run();
    format!("{}\n{ended:?}", schedule.log())
}

fn assert_invariants_hold(seeds: std::ops::Range<u64>) {
    if let Some((seed, broken)) = first_broken::<ProductionRules>(seeds, |_| ()) {
        panic!("seed {seed}: {broken}\n{}", replay::<ProductionRules>(seed, |_| ()));
    }
}

/// Returns the number of schedules of a run. `CAIRN_SCHEDULES` sets another number at compile time: the nightly tier
/// runs a million.
fn schedules() -> u64 {
    option_env!("CAIRN_SCHEDULES").map_or(5_000, |text| text.parse().expect("CAIRN_SCHEDULES is a whole number"))
}

/// The schedules are two tests, so that they run on two cores.
#[test]
fn first_half_of_the_schedules_keeps_the_invariants() {
    assert_invariants_hold(0..schedules() / 2);
}

#[test]
fn second_half_of_the_schedules_keeps_the_invariants() {
    assert_invariants_hold(schedules() / 2..schedules());
}

#[test]
fn same_seed_has_the_same_log() {
    assert_eq!(replay::<ProductionRules>(7, |_| ()), replay::<ProductionRules>(7, |_| ()));
}
