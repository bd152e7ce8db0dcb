//! The breadth-first search over all states: exhaustive, and its first counter-example is a shortest one.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::time::{Duration, Instant};

use super::explorer::{Explorer, Scenario};
use super::invariants::at_rest;
use super::state::State;
use crate::rules::Rules;

/// The result of an exploration.
pub(super) struct Explored {
    name: &'static str,
    pub(super) states: usize,
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

/// A state by its fingerprint, and the step that led to it first: the state before, and the place of the step.
type Seen = HashMap<u128, (u128, u32), BuildHasherDefault<Folded>>;

/// Explores every schedule, until one breaks an invariant.
pub(super) fn explore<R: Rules>(scenario: Scenario) -> Explored {
    let started = Instant::now();
    let mut explorer = Explorer::<R>::new(scenario);
    let first = State::new(scenario.left);
    let mut seen = Seen::default();
    seen.insert(fingerprint(&first), (0, 0));
    let mut layer = vec![first.clone()];
    let mut explored = Explored {
        name: scenario.name,
        states: 1,
        steps: 0,
        depth: 0,
        at_rest: 0,
        histories: 0,
        time: Duration::ZERO,
        broken: None,
    };
    'search: while !layer.is_empty() {
        let mut next = Vec::new();
        for state in layer {
            let of_state = fingerprint(&state);
            let successors = explorer.successors(&state);
            explored.steps += successors.len();
            let rests = state.at_rest();
            explored.at_rest += usize::from(rests);
            let broken = match (rests, successors.is_empty()) {
                (true, _) => at_rest(&scenario, &state).err(),
                (false, true) => Some("I7: nothing happens any more before the state of rest".to_owned()),
                (false, false) => None,
            };
            if let Some(invariant) = broken {
                explored.broken = Some(Broken { invariant, trace: trace(&mut explorer, &first, &seen, of_state) });
                break 'search;
            }
            for (place, successor) in (0..).zip(successors) {
                match successor.state {
                    Ok(state) => {
                        if let Entry::Vacant(vacant) = seen.entry(fingerprint(&state)) {
                            vacant.insert((of_state, place));
                            next.push(state);
                        }
                    }
                    Err(invariant) => {
                        let mut trace = trace(&mut explorer, &first, &seen, of_state);
                        explorer.describes = true;
                        trace.push(explorer.successors(&state).swap_remove(place as usize).step);
                        explored.broken = Some(Broken { invariant, trace });
                        break 'search;
                    }
                }
            }
        }
        explored.states = seen.len();
        explored.depth += 1;
        eprintln!(
            "{} depth {} states {} layer {} histories {} {:?}",
            scenario.name,
            explored.depth,
            explored.states,
            next.len(),
            explorer.histories.count(),
            started.elapsed()
        );
        if explored.states > 2_000_000 {
            break;
        }
        layer = next;
    }
    explored.histories = explorer.histories.count();
    explored.time = started.elapsed();
    println!("{explored}");
    explored
}

/// Returns the steps that lead to a state.
fn trace<R: Rules>(explorer: &mut Explorer<R>, first: &State, seen: &Seen, mut to: u128) -> Vec<String> {
    let mut places = Vec::new();
    let start = fingerprint(first);
    while to != start {
        let (before, place) = seen[&to];
        places.push(place);
        to = before;
    }
    explorer.describes = true;
    let mut state = first.clone();
    let steps = places.into_iter().rev().map(|place| {
        let successor = explorer.successors(&state).swap_remove(place as usize);
        state = successor.state.expect("the step broke no invariant before");
        successor.step
    });
    let steps = steps.collect();
    explorer.describes = false;
    steps
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
        let time = time.as_secs_f64();
        write!(
            formatter,
            "{name}: {states} states, {steps} steps, depth {depth}, {at_rest} at rest, {histories} histories, {time:.1} s: "
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
