//! Runs of many schedules. A run whose number of schedules is chosen, as in the nightly tier, draws a fresh first seed.
//! The ordinary one has a fixed one, so that no change fails for a fault that was there before. `CAIRN_SEED` sets it.

use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use super::ORDINARY;
use super::choices::{Choices, shrink};
use super::reached::Reached;
use super::schedule::{Outcome, run};

/// The seeds of schedules that ever broke an invariant. Each run begins with them.
pub(super) const FAILED: [u64; 7] = [
    47_925_228_244_348,
    49_589_596_152_955,
    83_452_111_614_758,
    86_381_375_803_318,
    116_481_900_847_754,
    202_697_228_982_045,
    221_312_390_927_696,
];

/// The first seed of an ordinary run.
const ORDINARY_SEED: u64 = 1;

/// The number of schedules that a thread takes at a time.
const CHUNK: u64 = 16;

/// The parts in which a run is carried out.
const PARTS: u64 = 10;

/// A run that has not reached everything goes on for up to so many times its schedules.
const MOST: u64 = 4;

/// A schedule that broke an invariant.
#[derive(Debug)]
pub(super) struct Broken {
    pub(super) seed: u64,
    pub(super) invariant: String,
    drawn: Vec<u32>,
}

/// Returns the number of schedules of a run. `CAIRN_SCHEDULES` sets another one: the nightly tier runs a million.
pub(super) fn schedules() -> u64 {
    match std::env::var("CAIRN_SCHEDULES") {
        Ok(given) => given.parse().expect("CAIRN_SCHEDULES is a whole number"),
        Err(_) if ORDINARY => 5_000,
        Err(_) => 10_000,
    }
}

/// Returns the first seed of this run.
pub(super) fn base_seed() -> u64 {
    let seed = match std::env::var("CAIRN_SEED") {
        Ok(seed) => seed.parse().expect("CAIRN_SEED is a whole number"),
        Err(_) if std::env::var_os("CAIRN_SCHEDULES").is_some() => fastrand::u64(..1 << 48),
        Err(_) => ORDINARY_SEED,
    };
    println!("the schedules of this run: CAIRN_SEED={seed}");
    seed
}

/// Runs the schedules of these seeds on every core, until one breaks an invariant. Returns what they have reached.
pub(super) fn run_all(first: u64, count: u64) -> Result<Reached, Broken> {
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
                if let Err(failed) = run_seed(seed, &mut reached) {
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
pub(super) fn run_seed(seed: u64, reached: &mut Reached) -> Result<(), Broken> {
    let Outcome { broken, drawn, shared, .. } = run(Choices::of_seed(seed), false);
    reached.add(&shared.world().reached);
    broken.map_or(Ok(()), |invariant| Err(Broken { seed, invariant, drawn }))
}

impl Broken {
    /// Returns the shortest story that breaks the same invariant.
    fn story(&self) -> String {
        let kind = |invariant: &str| invariant.split(':').next().map(str::to_owned);
        let is_same = |outcome: &Outcome| outcome.broken.as_deref().is_some_and(|it| kind(it) == kind(&self.invariant));
        shortest(self.drawn.clone(), is_same)
    }
}

/// Returns the shortest story of a schedule that has this end.
fn shortest(drawn: Vec<u32>, has_end: impl Fn(&Outcome) -> bool) -> String {
    let fails = |list| Some(run(Choices::of_list(list), false)).filter(&has_end).map(|outcome| outcome.drawn);
    let Outcome { broken, story, .. } = run(Choices::of_list(shrink(drawn, fails)), true);
    format!("{story}{}", broken.unwrap_or_default())
}

/// Returns the story of a seed, with its end.
fn story_of(seed: u64) -> String {
    let Outcome { broken, story, .. } = run(Choices::of_seed(seed), true);
    format!("{story}{broken:?}")
}

/// Fails with the story of a broken invariant. `number` is the number of the schedule in its run.
#[track_caller]
fn fail(broken: &Broken, number: u64) -> ! {
    let Broken { seed, invariant, .. } = broken;
    println!("CAIRN_SEED={seed}: {invariant}");
    panic!("schedule {number}, CAIRN_SEED={seed}: {invariant}\nthe shortest story:\n{}", broken.story());
}

#[test]
fn schedules_keep_the_invariants_and_reach_everything() {
    for seed in FAILED {
        if let Err(broken) = run_seed(seed, &mut Reached::default()) {
            fail(&broken, 0);
        }
    }
    let started = std::time::Instant::now();
    let (first, mut run, mut reached) = (base_seed(), 0, Reached::default());
    while run < schedules() || (run < MOST * schedules() && !reached.missing().is_empty()) {
        let count = (schedules() / PARTS).max(1);
        let more = run_all(first.wrapping_add(run), count);
        reached.add(&more.unwrap_or_else(|broken| fail(&broken, broken.seed.wrapping_sub(first) + 1)));
        run += count;
    }
    let took = started.elapsed();
    let a_second = u128::from(run) * 1000 / took.as_millis().max(1);
    println!("{run} schedules in {took:.1?}, {a_second} a second{reached}");
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

/// The highest number of lines of the shortest story in which there is a zombie and a key is settled.
const SHORT_STORY: usize = 60;

#[test]
fn schedule_shrinks_to_a_short_story_with_the_same_end() {
    let settles_late = |outcome: &Outcome| {
        let count = |of| outcome.shared.world().reached.of(of);
        count(("event", "zombie")) > 0 && count(("settle", "above the document")) > 0
    };
    let long = (0..).map(|seed| run(Choices::of_seed(seed), true)).find(settles_late).expect("a zombie settles a key");
    let story = shortest(long.drawn, settles_late);
    println!("{story}");
    let (before, after) = (long.story.lines().count(), story.lines().count());
    assert!(after <= SHORT_STORY && after < before, "{after} lines of {before}");
}
