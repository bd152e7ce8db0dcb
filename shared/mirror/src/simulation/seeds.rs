//! Runs of many schedules. Each run draws a fresh base seed. `CAIRN_SEED` repeats one.

use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use super::choices::{Choices, shrink};
use super::reached::Reached;
use super::schedule::{Outcome, Schedule, run};
use crate::rules::{ProductionRules, Rules};

/// The seeds of schedules that ever broke an invariant. Each run begins with them.
pub(super) const FAILED: [u64; 0] = [];

/// The number of schedules that a thread takes at a time.
const CHUNK: u64 = 16;

/// The parts in which a run is carried out.
const PARTS: u64 = 10;

/// A run that has not reached everything goes on for up to so many times its schedules.
const MOST: u64 = 4;

/// Prepares a schedule, perhaps by a mutant.
pub(super) type Prepare<R> = fn(&mut Schedule<R>);

/// A schedule that broke an invariant.
#[derive(Debug)]
pub(super) struct Broken {
    pub(super) seed: u64,
    pub(super) invariant: String,
    drawn: Vec<u32>,
}

/// Returns the number of schedules of a run. `CAIRN_SCHEDULES` sets another one: the nightly tier runs a million.
pub(super) fn schedules() -> u64 {
    let given = std::env::var("CAIRN_SCHEDULES").ok();
    given.map_or(10_000, |text| text.parse().expect("CAIRN_SCHEDULES is a whole number"))
}

/// Returns the first seed of this run.
pub(super) fn base_seed() -> u64 {
    let given = std::env::var("CAIRN_SEED").ok();
    let seed =
        given.map_or_else(|| fastrand::u64(..1 << 48), |seed| seed.parse().expect("CAIRN_SEED is a whole number"));
    println!("the schedules of this run: CAIRN_SEED={seed}");
    seed
}

/// Runs the schedules of these seeds on every core, until one breaks an invariant. Returns what they have reached.
pub(super) fn run_all<R: Rules>(first: u64, count: u64, prepare: Prepare<R>) -> Result<Reached, Broken> {
    let next = AtomicU64::new(0);
    let broken = Mutex::new(None);
    let run_some = || {
        let mut reached = Reached::default();
        while broken.lock().unwrap().is_none() {
            let from = next.fetch_add(CHUNK, Ordering::Relaxed);
            if from >= count {
                break;
            }
            for seed in (from..count.min(from + CHUNK)).map(|number| first.wrapping_add(number)) {
                if let Err(failed) = run_seed(seed, prepare, &mut reached) {
                    *broken.lock().unwrap() = Some(failed);
                    return reached;
                }
            }
        }
        reached
    };
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let mut reached = Reached::default();
    thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(run_some)).collect();
        for thread in running {
            reached.add(&thread.join().unwrap());
        }
    });
    match broken.into_inner().unwrap() {
        Some(broken) => Err(broken),
        None => Ok(reached),
    }
}

/// Runs the schedule of a seed.
pub(super) fn run_seed<R: Rules>(seed: u64, prepare: Prepare<R>, reached: &mut Reached) -> Result<(), Broken> {
    let Outcome { broken, drawn, shared, .. } = run(Choices::of_seed(seed), prepare, false);
    reached.add(&shared.world().reached);
    broken.map_or(Ok(()), |invariant| Err(Broken { seed, invariant, drawn }))
}

impl Broken {
    /// Returns the shortest story that breaks the same invariant.
    pub(super) fn story<R: Rules>(&self, prepare: Prepare<R>) -> String {
        let kind = |invariant: &str| invariant.split(':').next().map(str::to_owned);
        let fails = |list: Vec<u32>| {
            let Outcome { broken, drawn, .. } = run(Choices::of_list(list), prepare, false);
            broken.filter(|broken| kind(broken) == kind(&self.invariant)).map(|_| drawn)
        };
        let shrunk = shrink(self.drawn.clone(), fails);
        let Outcome { broken, story, .. } = run(Choices::of_list(shrunk), prepare, true);
        format!("{story}{}", broken.unwrap_or_default())
    }
}

/// Returns the story of a seed, with its end.
fn story_of(seed: u64) -> String {
    let Outcome { broken, story, .. } = run::<ProductionRules>(Choices::of_seed(seed), |_| (), true);
    format!("{story}{broken:?}")
}

#[track_caller]
fn fail(broken: &Broken) -> ! {
    let Broken { seed, invariant, .. } = broken;
    println!("CAIRN_SEED={seed}: {invariant}");
    panic!("CAIRN_SEED={seed}: {invariant}\nthe shortest story:\n{}", broken.story::<ProductionRules>(|_| ()));
}

#[test]
fn schedules_keep_the_invariants_and_reach_everything() {
    for seed in FAILED {
        if let Err(broken) = run_seed::<ProductionRules>(seed, |_| (), &mut Reached::default()) {
            fail(&broken);
        }
    }
    let started = std::time::Instant::now();
    let (first, mut run, mut reached) = (base_seed(), 0, Reached::default());
    while run < schedules() || (run < MOST * schedules() && !reached.missing().is_empty()) {
        let count = (schedules() / PARTS).max(1);
        let more = run_all::<ProductionRules>(first.wrapping_add(run), count, |_| ());
        reached.add(&more.unwrap_or_else(|broken| fail(&broken)));
        run += count;
    }
    let took = started.elapsed();
    let a_second = run as f64 / took.as_secs_f64();
    println!("{run} schedules in {took:.1?}, {a_second:.0} a second{reached}");
    let missing = reached.missing();
    assert!(missing.is_empty(), "too rarely reached:\n{}", missing.join("\n"));
}

#[test]
fn same_seed_has_the_same_story() {
    let first = base_seed();
    for seed in (0..100).map(|number| first.wrapping_add(number)) {
        assert_eq!(story_of(seed), story_of(seed), "CAIRN_SEED={seed}");
    }
}
