//! The breadth-first search over all states: exhaustive, and its first counter-example is a shortest one.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::time::{Duration, Instant};

use super::explorer::{Explorer, Scenario};
use super::invariants::at_rest;
use super::state::State;

/// The result of an exploration.
pub(super) struct Explored {
    name: &'static str,
    states: usize,
    steps: usize,
    depth: usize,
    at_rest: usize,
    histories: usize,
    time: Duration,
    pub(super) broken: Option<Broken>,
}

/// A counter-example.
pub(super) struct Broken {
    pub(super) invariant: String,
    pub(super) trace: Vec<String>,
}

/// The highest number of states that fit into the memory of the machine that tests.
const MAX_STATES: usize = 20_000_000;

/// The number of each state, by its fingerprint.
type Seen = HashMap<u128, u32, BuildHasherDefault<Folded>>;

/// The states that were found, by their numbers.
#[derive(Default)]
struct Found {
    seen: Seen,
    /// The state before each, and the place of the step among those of that state.
    before: Vec<(u32, u32)>,
    steps: Vec<(u32, u32)>,
    at_rest: Vec<bool>,
}

/// Explores every schedule, until one breaks an invariant.
pub(super) fn explore(scenario: Scenario) -> Explored {
    let started = Instant::now();
    let mut explorer = Explorer::new(scenario);
    let mut found = Found::default();
    found.add(&State::first(&scenario), (0, 0));
    let mut depth = 0;
    let broken = search(&mut explorer, &mut found, &mut depth).or_else(|| {
        let lost = found.without_rest()?;
        let invariant = "I7: no schedule leads to the state of rest any more".to_owned();
        Some(Broken { invariant, trace: trace(&mut explorer, &found, lost) })
    });
    let explored = Explored {
        name: scenario.name,
        states: found.before.len(),
        steps: found.steps.len(),
        depth,
        at_rest: found.at_rest.iter().filter(|rests| **rests).count(),
        histories: explorer.histories.count(),
        time: started.elapsed(),
        broken,
    };
    println!("{explored}");
    explored
}

/// Returns the first counter-example of an invariant that one state or one step breaks.
fn search(explorer: &mut Explorer, found: &mut Found, depth: &mut usize) -> Option<Broken> {
    let scenario = explorer.scenario;
    let mut layer = vec![State::first(&scenario)];
    let mut number = 0;
    while !layer.is_empty() {
        let mut next = Vec::new();
        for state in layer {
            if state.at_rest() {
                found.at_rest[number as usize] = true;
                if let Err(invariant) = at_rest(&scenario, &state) {
                    return Some(Broken { invariant, trace: trace(explorer, found, number) });
                }
            }
            for (place, successor) in (0..).zip(explorer.successors(&state)) {
                match successor.state {
                    Ok(state) => {
                        if let Some(state) = found.add_step(state, (number, place)) {
                            next.push(state);
                        }
                    }
                    Err(invariant) => {
                        let mut trace = trace(explorer, found, number);
                        explorer.describes = true;
                        trace.push(explorer.successors(&state).swap_remove(place as usize).step);
                        return Some(Broken { invariant, trace });
                    }
                }
            }
            number += 1;
        }
        assert!(found.before.len() < MAX_STATES, "{} has more states than can be explored", scenario.name);
        *depth += 1;
        layer = next;
    }
    None
}

/// Returns the steps that lead to a state.
fn trace(explorer: &mut Explorer, found: &Found, mut to: u32) -> Vec<String> {
    let mut places = Vec::new();
    while to != 0 {
        let (before, place) = found.before[to as usize];
        places.push(place);
        to = before;
    }
    explorer.describes = true;
    let mut state = State::first(&explorer.scenario);
    let steps = places.into_iter().rev().map(|place| {
        let successor = explorer.successors(&state).swap_remove(place as usize);
        state = successor.state.expect("the step broke no invariant before");
        successor.step
    });
    let steps = steps.collect();
    explorer.describes = false;
    steps
}

impl Found {
    fn add(&mut self, state: &State, before: (u32, u32)) -> (u32, bool) {
        let number = u32::try_from(self.before.len()).unwrap();
        match self.seen.entry(fingerprint(state)) {
            Entry::Occupied(occupied) => (*occupied.get(), false),
            Entry::Vacant(vacant) => {
                vacant.insert(number);
                self.before.push(before);
                self.at_rest.push(false);
                (number, true)
            }
        }
    }

    /// Adds a step. Returns the state after it if that is new.
    fn add_step(&mut self, state: State, before: (u32, u32)) -> Option<State> {
        let (number, is_new) = self.add(&state, before);
        self.steps.push((before.0, number));
        is_new.then_some(state)
    }

    /// Returns the first state from which no schedule leads to the state of rest.
    fn without_rest(&self) -> Option<u32> {
        // The steps to each state, sorted by that state.
        let mut starts = vec![0_u32; self.before.len() + 1];
        self.steps.iter().for_each(|(_, to)| starts[*to as usize + 1] += 1);
        (1..starts.len()).for_each(|place| starts[place] += starts[place - 1]);
        let mut ends = starts.clone();
        let mut sources = vec![0_u32; self.steps.len()];
        for (from, to) in &self.steps {
            let end = &mut ends[*to as usize];
            sources[*end as usize] = *from;
            *end += 1;
        }
        let mut rests = self.at_rest.clone();
        let mut open: Vec<usize> = (0..rests.len()).filter(|number| rests[*number]).collect();
        while let Some(number) = open.pop() {
            for from in &sources[starts[number] as usize..starts[number + 1] as usize] {
                if !std::mem::replace(&mut rests[*from as usize], true) {
                    open.push(*from as usize);
                }
            }
        }
        rests.iter().position(|rests| !rests).map(|number| u32::try_from(number).unwrap())
    }
}

fn fingerprint(state: &State) -> u128 {
    let mut hasher = Fingerprint::default();
    state.hash(&mut hasher);
    (u128::from(hasher.one) << 64) | u128::from(hasher.other)
}

/// Hashes with 128 bits: two lanes of multiplications.
struct Fingerprint {
    one: u64,
    other: u64,
}

impl Default for Fingerprint {
    fn default() -> Self {
        Self { one: 0x9e37_79b9_7f4a_7c15, other: 0xd1b5_4a32_d192_ed03 }
    }
}

fn mixed(one: u64, other: u64) -> u64 {
    let product = u128::from(one) * u128::from(other);
    (product >> 64) as u64 ^ product as u64
}

impl Hasher for Fingerprint {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, number: u8) {
        self.write_u64(number.into());
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        self.one = mixed(self.one ^ number, 0xa24b_aed4_963e_e407).wrapping_add(0x9fb2_1c65_1e98_df25);
        self.other = mixed(self.other.rotate_left(29) ^ number, 0x8cb9_2ba7_2f3d_8dd7).wrapping_add(self.one);
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    fn write_isize(&mut self, number: isize) {
        self.write_u64(number.cast_unsigned() as u64);
    }

    fn finish(&self) -> u64 {
        self.one
    }
}

/// Hashes a fingerprint, which is a hash already.
#[derive(Default)]
struct Folded(u64);

impl Hasher for Folded {
    fn write(&mut self, _: &[u8]) {}

    fn write_u128(&mut self, number: u128) {
        self.0 = number as u64;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl fmt::Display for Explored {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, states, steps, depth, at_rest, histories, time, broken } = self;
        let tenths = time.as_millis() / 100;
        let (seconds, tenth) = (tenths / 10, tenths % 10);
        write!(
            formatter,
            "{name}: {states} states, {steps} steps, depth {depth}, {at_rest} at rest, {histories} histories, {seconds}.{tenth} s: "
        )?;
        match broken {
            None => write!(formatter, "holds"),
            Some(Broken { invariant, trace }) => {
                write!(formatter, "broken after {} steps: {invariant}", trace.len())?;
                (1..).zip(trace).try_for_each(|(number, step)| write!(formatter, "\n  {number:2}. {step}"))
            }
        }
    }
}
