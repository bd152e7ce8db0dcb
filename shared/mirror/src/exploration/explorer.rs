//! The steps from one state to the next.

use super::calls::{Answer, Call};
use super::histories::{End, Histories, Start, Task};
use super::leaf::{KEYS, segment_of};
use super::state::{Budget, Invocation, Role, State};

/// The age in microseconds at which a record that was given up is redriven. Data of this age is not used any more.
const REDRIVE_AGE: i64 = crate::given_up::REDRIVE_AGE.as_micros() as i64;

/// A bounded world, whose every schedule is explored.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scenario {
    pub(super) name: &'static str,
    pub(super) keys: usize,
    /// The highest number of records of a batch.
    pub(super) batch: usize,
    /// The clocks that an invocation may have.
    pub(super) clocks: &'static [Clock],
    /// Whether the older generation is not written any more while the new one is filled.
    pub(super) replaces: bool,
    pub(super) origin: Origin,
    /// Whether functions carry out a rebuild, which an operator completes.
    pub(super) by_functions: bool,
    pub(super) left: Budget,
}

/// The world in which a scenario begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// Nothing was ever written.
    Empty,
    /// An order to replace the older generation was stopped.
    Replacing,
    /// A tombstone was swept whose version is above the clocks of all writers. OpenSearch remembers its delete.
    Swept,
}

/// The clock of an invocation. It stands still during a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Clock {
    /// It is behind every writer.
    Behind,
    /// It shows the writers' time at the start of the invocation.
    Right,
}

impl Scenario {
    pub(super) fn new(name: &'static str, keys: usize, batch: usize, left: Budget) -> Self {
        let clocks = &[Clock::Behind];
        Self { name, keys, batch, clocks, replaces: false, origin: Origin::Empty, by_functions: false, left }
    }

    /// Whether some item may go to quarantine.
    const fn has_quarantine(&self) -> bool {
        self.left.poison > 0 || self.left.refused > 0
    }

    const fn has_rebuild(&self) -> bool {
        matches!(self.origin, Origin::Replacing) || self.left.rebuilds > 0
    }
}

/// A step, and the state after it, or the invariant that it broke.
pub(super) struct Successor {
    pub(super) step: String,
    pub(super) state: Result<State, String>,
}

pub(super) struct Explorer {
    pub(super) scenario: Scenario,
    pub(super) histories: Histories,
    /// Whether the steps get a description.
    pub(super) describes: bool,
    pub(super) found: Vec<Successor>,
}

impl Explorer {
    pub(super) fn new(scenario: Scenario) -> Self {
        Self { scenario, histories: Histories::new(), describes: false, found: Vec::new() }
    }

    /// Returns the steps from this state, except those of writers that may be postponed.
    pub(super) fn successors(&mut self, state: &State) -> Vec<Successor> {
        if !self.may_postpone_writers(state) {
            self.write(state);
        }
        self.deliver(state);
        self.operate(state);
        self.rebuild(state);
        for place in 0..state.running.len() {
            self.continue_invocation(state, place);
        }
        self.carry_out_late(state);
        std::mem::take(&mut self.found)
    }

    /// Whether writers need not write now, since the order of their writes and of every other step makes no difference.
    /// While the event source waits for a batch, other steps depend on writers only by calls that read or write the
    /// table, and by the start of an invocation that shows the writers' time. The writes follow when the batch has
    /// ended.
    fn may_postpone_writers(&self, state: &State) -> bool {
        let Budget { repairs, damages, give_ups, deploys, .. } = self.scenario.left;
        let starts_at_any_time = [repairs, damages, give_ups, deploys].iter().any(|left| *left > 0);
        let shows_the_time = starts_at_any_time && self.scenario.clocks.contains(&Clock::Right);
        // A document may appear where there is no item.
        if state.current().is_none() || shows_the_time || state.left.damages > 0 {
            return false;
        }
        let on_table = |call: &Call| matches!(call, Call::Read { .. } | Call::Stamp { .. } | Call::Scan { .. });
        let waiting = state.running.iter().flat_map(|one| &self.histories.get(one.history).waiting);
        !waiting.map(|(_, call)| call).chain(&state.late).any(on_table)
    }

    pub(super) fn text(&self, describe: impl FnOnce() -> String) -> String {
        if self.describes { describe() } else { String::new() }
    }

    pub(super) fn emit(&mut self, step: String, mut state: State) {
        state.normalize();
        self.found.push(Successor { step, state: Ok(state) });
    }

    /// Adds a step that breaks an invariant.
    pub(super) fn emit_broken(&mut self, step: String, invariant: String) {
        self.found.push(Successor { step, state: Err(invariant) });
    }

    /// Starts an invocation.
    pub(super) fn start(&mut self, step: String, state: State, role: Role, task: Task, clock: Clock) {
        self.start_aged(step, state, role, task, (clock, false));
    }

    /// Starts an invocation, perhaps 20 minutes later.
    pub(super) fn start_aged(
        &mut self,
        step: String,
        mut state: State,
        role: Role,
        task: Task,
        (clock, aged): (Clock, bool),
    ) {
        let tick = match clock {
            Clock::Behind => 0,
            Clock::Right => state.world.tick,
        };
        let now = state.world.time(tick) + if aged { REDRIVE_AGE } else { 0 };
        let history = self.histories.start(Start { task, cured: state.world.cured, now });
        let invocation = Invocation { role, history, tick, before_wait: false, before_give_up: false, aged };
        state.running.push(invocation);
        let place = state.running.len() - 1;
        self.settle(step, state, place);
    }

    /// Gives an invocation the answer to a call.
    pub(super) fn answer(&mut self, step: String, mut state: State, place: usize, call: usize, answer: Answer) {
        self.give(&mut state, place, call, answer);
        self.settle(step, state, place);
    }

    pub(super) fn give(&mut self, state: &mut State, place: usize, call: usize, answer: Answer) {
        let Invocation { history, tick, aged, .. } = state.running[place];
        let now = state.world.time(tick) + if aged { REDRIVE_AGE } else { 0 };
        state.running[place].history = self.histories.answer(history, call, answer, now);
    }

    /// Answers the calls whose order makes no difference, and ends the invocation if it has ended.
    fn settle(&mut self, step: String, mut state: State, place: usize) {
        loop {
            let waiting = &self.histories.get(state.running[place].history).waiting;
            let role = state.running[place].role;
            let prompt = waiting.iter().find(|(_, call)| self.commutes(role, call)).cloned();
            let Some((number, call)) = prompt else { break };
            match state.world.apply(&call) {
                Ok(answer) => self.give(&mut state, place, number, answer),
                Err(broken) => return self.emit_broken(step, broken),
            }
        }
        if state.running[place].role == Role::Operator && self.waits_for_batches(&state, place) {
            let batches = |role| matches!(role, Role::Current | Role::Zombie);
            let before = state.running.iter_mut().filter(|invocation| batches(invocation.role));
            before.for_each(|invocation| invocation.before_wait = true);
        }
        match self.histories.get(state.running[place].history).end.clone() {
            None => self.emit(step, state),
            Some(End::Broken(broken)) => self.emit_broken(step, broken),
            Some(end) => self.end(&step, state, place, &end),
        }
    }

    /// Whether an invocation waits for the end of all batches.
    pub(super) fn waits_for_batches(&self, state: &State, place: usize) -> bool {
        self.histories.get(state.running[place].history).waiting.iter().any(|(_, call)| *call == Call::Wait)
    }

    /// Whether a call has the same effect and the same answer at any later time, so that it may be answered at once.
    fn commutes(&self, role: Role, call: &Call) -> bool {
        match call {
            // Time passes by other steps, nothing reads what is kept, and every document is searchable at once.
            Call::Pause | Call::Keep | Call::Refresh => true,
            // Only an operator changes the config item, and one order at a time is carried out.
            Call::ReadConfig => role == Role::Operator || !self.scenario.has_rebuild(),
            // The objects that a redrive finds are those from before its start, and only a redrive deletes one.
            Call::Failures { .. } | Call::ReadFailure { .. } | Call::DeleteFailure { .. } => {
                self.scenario.left.kills == 0
            }
            // Without poison there is no marker.
            Call::Open { .. } | Call::MarkersAfter { .. } => !self.scenario.has_quarantine(),
            // One order at a time reads and writes checkpoints.
            Call::Checkpoint { .. } => true,
            Call::Save { .. } => self.scenario.left.stops == 0,
            Call::Scan { segment, of, .. } => {
                !(0..self.scenario.keys.min(KEYS)).any(|key| segment_of(key, *of) == *segment)
            }
            _ => false,
        }
    }

    fn end(&mut self, step: &str, mut state: State, place: usize, end: &End) {
        let Invocation { role, .. } = state.running.remove(place);
        let ended = self.text(|| format!("{step}; it ends: {end:?}"));
        match (role, end) {
            (Role::Current, End::Batch { handled }) => {
                if state.left.repeats > 0 {
                    let mut lost = state.clone();
                    lost.left.repeats -= 1;
                    let step = self.text(|| format!("{ended}, and its response is lost"));
                    self.emit(step, lost);
                }
                state.world.stream.drain(..handled);
            }
            (Role::Repair { key, needed: true }, End::Failed) => state.damaged[key] = true,
            _ => {}
        }
        self.emit(ended, state);
    }
}
