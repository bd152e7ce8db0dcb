//! The simulator: the same functions that Lambda calls, in a world where everything that may go wrong does, drawn from
//! a seed. The world has a table, a stream and an index of its own; of fold, settle and classify it has none.

mod contract;
mod executor;
mod faults;
mod invariants;
mod lasting;
mod mutants;
mod ports;
mod repairs;
mod scenarios;
mod schedule;
mod search;
mod sweeps;
pub(crate) mod toy;
mod world;
mod writers;

use schedule::Schedule;

use crate::rules::{AsWritten, Rules};

/// Runs this many schedules, each from its own seed, until one breaks the promise.
fn first_broken<R: Rules>(seeds: impl IntoIterator<Item = u64>, prepare: fn(&Schedule<R>)) -> Option<(u64, String)> {
    seeds.into_iter().find_map(|seed| {
        let mut schedule = Schedule::<R>::new(seed);
        prepare(&schedule);
        schedule.run().err().map(|broken| (seed, broken))
    })
}

/// What happened under a seed, step by step.
fn story<R: Rules>(seed: u64, prepare: fn(&Schedule<R>)) -> String {
    let mut schedule = Schedule::<R>::new(seed);
    schedule.tell();
    prepare(&schedule);
    let ended = schedule.run();
    format!("{}\n{ended:?}", schedule.told())
}

fn holds(seeds: std::ops::Range<u64>) {
    if let Some((seed, broken)) = first_broken::<AsWritten>(seeds, |_| ()) {
        panic!("seed {seed}: {broken}\n{}", story::<AsWritten>(seed, |_| ()));
    }
}

/// How many schedules a run has. `CAIRN_SCHEDULES`, when this is compiled, sets another number: the nightly tier runs a
/// million.
fn schedules() -> u64 {
    option_env!("CAIRN_SCHEDULES").map_or(5_000, |text| text.parse().expect("CAIRN_SCHEDULES is a whole number"))
}

/// In two halves, for two cores.
#[test]
fn the_first_half_of_the_schedules_keeps_the_promise() {
    holds(0..schedules() / 2);
}

#[test]
fn the_second_half_of_the_schedules_keeps_the_promise() {
    holds(schedules() / 2..schedules());
}

#[test]
fn a_seed_tells_the_same_story_twice() {
    assert_eq!(story::<AsWritten>(7, |_| ()), story::<AsWritten>(7, |_| ()));
}
