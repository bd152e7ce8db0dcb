//! One schedule. Every event is drawn from its choices until all budgets are spent. Then all invocations finish, what
//! was given up is redriven, a rebuild that is under way ends, and the invariants are checked.

mod budget;
mod operators;
mod source;
mod time;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use budget::{Budget, Plan};

use super::choices::{Choices, Random};
use super::executor::{Ended, Invocation};
use super::faults;
use super::hosts::Clock;
use super::invariants::{always, at_rest};
use super::toy::Leaves;
use super::world::{Call, Fate, Kind, Shared, World};
use super::writers::{WriterOptions, keys, write};
use crate::documents::Documents;
use crate::generation::{Generation, Generations, Phase, index_name, write_alias};
use crate::mapping::index_body;

pub(crate) struct Schedule {
    pub(crate) shared: Shared,
    choices: Choices,
    options: WriterOptions,
    wrong_clocks: bool,
    raises: bool,
    /// The call that most faults befall.
    target: Option<Call>,
    rarity: usize,
    invocations: BTreeMap<usize, Invocation>,
    next_number: usize,
    /// The invocation whose response the event source waits for.
    current: Option<usize>,
    /// Invocations that others may overtake for a long time.
    late: BTreeSet<usize>,
    /// The invocation that creates the first index or carries out an order about a rebuild.
    operator: Option<usize>,
    redriver: Option<usize>,
    /// Whether the redrive that runs, or was the last, has found what every invocation of other releases has left.
    redrives_all: bool,
    /// The position before which all records were handled, as far as the event source knows.
    checkpoint: usize,
    /// The number of consecutive batches with reported records.
    reported: usize,
    /// The number of orders and redrives that have failed since the last one that did not.
    failed: usize,
    /// Whether a later release can index what is in quarantine, and no redrive has ended since.
    needs_redrive: bool,
    left: Budget,
    log: Option<String>,
}

/// The end of a schedule.
pub(crate) struct Outcome {
    /// An invariant that was broken.
    pub(crate) broken: Option<String>,
    /// The numbers that were drawn.
    pub(crate) drawn: Vec<u32>,
    pub(crate) story: String,
    pub(crate) shared: Shared,
}

/// The limit of steps, which is more than any schedule needs to come to rest.
const STEPS: usize = 3_000;

/// Runs a schedule, and tells its story if that is wanted.
pub(crate) fn run(choices: Choices, is_told: bool) -> Outcome {
    let mut schedule = Schedule::new(choices);
    schedule.log = is_told.then(String::new);
    let broken = schedule.run().err();
    let Schedule { shared, choices, log, .. } = schedule;
    Outcome { broken, drawn: choices.drawn, story: log.unwrap_or_default(), shared }
}

impl Schedule {
    fn new(mut choices: Choices) -> Self {
        let shared = Shared::default();
        let plan = Plan::draw(&mut choices);
        let Plan { left, options, wrong_clocks, lasting_faults, raises, has_no_index, target, rarity } = plan;
        {
            let mut world = shared.world();
            world.now = 1_000_000_000_000;
            world.has_lasting_faults = lasting_faults;
            // A page with a shape that S3 refuses is retried for a minute.
            world.pauses_take_time = lasting_faults;
        }
        let schedule = Self {
            shared,
            choices,
            options,
            wrong_clocks,
            raises,
            target,
            rarity,
            invocations: BTreeMap::new(),
            next_number: 0,
            current: None,
            late: BTreeSet::new(),
            operator: None,
            redriver: None,
            redrives_all: false,
            checkpoint: 0,
            reported: 0,
            failed: 0,
            needs_redrive: false,
            left,
            log: None,
        };
        if !has_no_index {
            schedule.serve();
        }
        schedule
    }

    /// Runs the schedule. An error is a broken invariant.
    fn run(&mut self) -> Result<(), String> {
        for _ in 0..STEPS {
            let moved = self.step()?;
            always(&self.shared.world())?;
            if self.is_at_rest() {
                at_rest(&self.shared.world())?;
                if !moved {
                    return Ok(());
                }
            }
        }
        Err("termination: the schedule does not come to rest".to_owned())
    }

    /// Starts with an index that serves already.
    fn serve(&self) {
        let index = index_name("toy", 1);
        let body = index_body(Leaves.mapping(), &write_alias(&index)).unwrap();
        let mut world = self.shared.world();
        world.search.create(&index, &body);
        world.search.swap("toy", &index);
        let written = vec![Generation { index, mapping: 1, phase: Phase::Serving }];
        world.generations = Some(Generations { epoch: 1, written, last: 1, ..Generations::none("toy") });
    }

    /// Carries out one event. Returns false if none is left.
    fn step(&mut self) -> Result<bool, String> {
        match self.choices.below(48) {
            1..6 if self.left.writes > 0 => self.write(),
            6 if self.left.zombies > 0 && self.current.is_some() => self.time_out(),
            7 if self.left.crashes > 0 && !self.invocations.is_empty() => {
                self.left.crashes -= 1;
                let numbers: Vec<_> = self.invocations.keys().copied().collect();
                let number = self.choices.one_of(&numbers);
                self.crash(number);
            }
            8 if self.left.forgets > 0 => self.forget(),
            9 if self.left.repairs > 0 => self.repair()?,
            10 if self.may_sweep() => self.sweep()?,
            11 => self.shared.world().now += 1_000,
            12 if self.left.faults > 0 => return self.expire(None).map(|()| true),
            13 if self.left.give_ups > 0 && self.give_up() => {}
            14 if self.left.redrives > 0 && self.redriver.is_none() => {
                self.left.redrives -= 1;
                self.redrive()?;
            }
            15 if self.left.passes > 0 => {
                self.left.passes -= 1;
                self.pass(time::TWENTY_MINUTES)?;
            }
            16 if self.left.deployments > 0 => self.deploy(),
            17..20 if self.order()? => {}
            20..24 if self.begin()? => {}
            _ => return self.carry_or_begin(),
        }
        Ok(true)
    }

    fn carry_or_begin(&mut self) -> Result<bool, String> {
        let (late, prompt): (Vec<_>, Vec<_>) = self.carriable().into_iter().partition(|place| self.is_delayed(*place));
        if prompt.is_empty() {
            if self.begin()? {
                return Ok(true);
            }
            if self.may_sweep() && self.choices.one_in(2) {
                return self.sweep().map(|()| true);
            }
            if self.left.writes > 0 && (late.is_empty() || self.choices.one_in(2)) {
                self.write();
                return Ok(true);
            }
            if late.is_empty() {
                return self.conclude();
            }
        }
        let carried = if prompt.is_empty() { late } else { prompt };
        let place = carried[self.choices.below(carried.len())];
        self.carry(place).map(|()| true)
    }

    /// Starts what must end before the world is at rest. Returns false if nothing must.
    fn conclude(&mut self) -> Result<bool, String> {
        if !self.invocations.is_empty() {
            return Ok(false);
        }
        if self.must_order() {
            return self.order();
        }
        if self.needs_redrive || !self.shared.world().failures.is_empty() {
            self.pass(time::TWENTY_MINUTES)?;
            return self.redrive().map(|()| true);
        }
        Ok(false)
    }

    /// Returns the requests that may be carried out next: all except those that end an invocation's time.
    fn carriable(&self) -> Vec<usize> {
        let world = self.shared.world();
        let requests = world.requests.iter().enumerate();
        requests.filter(|(_, request)| request.kind != Kind::Expired).map(|(place, _)| place).collect()
    }

    fn carry(&mut self, place: usize) -> Result<(), String> {
        let call = self.shared.world().requests[place].call;
        let may_fail = self.left.faults > 0;
        let fate = if may_fail && self.target == Some(call) {
            let invocation = self.shared.world().requests[place].invocation;
            match self.choices.below(12) {
                11 if self.invocations.contains_key(&invocation) => {
                    self.left.faults -= 1;
                    self.crash(invocation);
                    return Ok(());
                }
                10 => return self.expire(Some(invocation)),
                9 => {
                    self.left.faults -= 1;
                    return self.pass(time::TWENTY_MINUTES);
                }
                _ if matches!(call.kind(), Kind::Pause | Kind::Expired) => Fate::Answered,
                _ => faults::of_target(&mut self.choices, call),
            }
        } else if may_fail && self.choices.one_in(self.rarity) {
            faults::draw(&mut self.choices, &mut self.shared.world(), call)
        } else {
            Fate::Answered
        };
        if call == Call::Wait {
            return self.end_wait();
        }
        self.left.faults -= usize::from(fate != Fate::Answered);
        let reversed = call.kind() == Kind::Bulk && self.choices.one_in(4);
        self.note(|world| match fate {
            Fate::Answered => format!("{:?}", world.requests[place]),
            fate => format!("{:?}: {}", world.requests[place], faults::name(fate).unwrap_or_default()),
        });
        let invocation = {
            let mut world = self.shared.world();
            world.disturbance.reversed = reversed;
            world.created = world.now / 1_000_000;
            // The marker that a late request sets stays until its key is written or repaired.
            world.cut_short |= fate == Fate::Late;
            if let Some(fault) = faults::name(fate) {
                world.reached.count(fault, call.name());
            }
            world.carry(place, fate)
        };
        self.poll(invocation)
    }

    /// Starts an invocation on a host with a clock of its own.
    fn start(&mut self, invocation: Invocation) -> Result<usize, String> {
        let number = self.next_number;
        self.next_number += 1;
        if self.wrong_clocks {
            let now = self.shared.world().now;
            let is_batch = !invocation.records.is_empty();
            let clock =
                if is_batch { Clock::draw(&mut self.choices, now) } else { Clock::draw_steady(&mut self.choices) };
            self.note(|_| format!("the clock of invocation {number}: {clock:?}"));
            self.shared.world().clocks.insert(number, clock);
        }
        self.invocations.insert(number, invocation);
        Ok(number)
    }

    fn poll(&mut self, number: usize) -> Result<(), String> {
        let Some(invocation) = self.invocations.get_mut(&number) else { return Ok(()) };
        let Some(ended) = invocation.poll(&self.shared, number) else { return Ok(()) };
        let records = invocation.records.clone();
        self.remove(number);
        match ended {
            Ended::Batch(processed) => {
                let processed = processed.map_err(|failure| format!("report: {failure}"))?;
                self.batch_ended(number, records, &processed)?;
            }
            // An operator restarts a failed repair, if at all.
            Ended::Repair(repaired) => {
                self.note(|_| format!("the repair ends: {repaired:?}"));
                self.shared.world().cut_short |= repaired.is_err();
            }
            Ended::Sweep(swept) => {
                self.note(|_| format!("the sweep ends: {swept:?}"));
                // A minute passes for the invocations that still run.
                if self.choices.one_in(2) {
                    self.shared.world().search.forget();
                }
            }
            Ended::FirstIndex(made) => {
                self.note(|_| format!("the first index ends: {made:?}"));
                self.operator = None;
                self.has_ended("first index", made.is_ok());
            }
            Ended::Order(ended) => self.order_ended(ended),
            Ended::Redrive(redriven) => self.redrive_ended(redriven),
        }
        Ok(())
    }

    /// Notes the end of an order or a redrive. After many failures a release cures what fails for good.
    fn has_ended(&mut self, what: &'static str, well: bool) {
        self.failed = if well { 0 } else { self.failed + 1 };
        if !well {
            // The next attempt is a minute later. Until then search refuses writes below a tombstone that was swept.
            self.note(|_| "a minute passes".to_owned());
            self.shared.world().search.forget();
        }
        self.shared.world().reached.count(if well { "ended" } else { "failed" }, what);
        if self.failed > 3 && self.shared.world().has_lasting_faults {
            self.cure();
        }
    }

    /// Starts the repair of a key, concurrently with everything else.
    fn repair(&mut self) -> Result<(), String> {
        self.left.repairs -= 1;
        let key = self.choices.one_of(&keys().each_ref()).clone();
        let number = self.start(Invocation::repair(&self.shared, key.clone()))?;
        self.note(|_| format!("invocation {number} repairs {key:?}"));
        self.shared.world().repairing.insert(number);
        self.poll(number)
    }

    fn write(&mut self) {
        self.left.writes -= 1;
        let description = {
            let mut world = self.shared.world();
            world.created = world.now / 1_000_000;
            write(&mut world, &mut self.choices, self.options)
        };
        self.note(|_| description);
    }

    /// Lets an invocation crash. Its requests may still arrive.
    fn crash(&mut self, number: usize) {
        self.note(|_| format!("invocation {number} crashes"));
        self.shared.world().count_calls("crash", number);
        self.kill(number);
    }

    fn kill(&mut self, number: usize) {
        self.current = self.current.filter(|current| *current != number);
        self.operator = self.operator.filter(|operator| *operator != number);
        self.redriver = self.redriver.filter(|redriver| *redriver != number);
        self.shared.world().cut_short = true;
        self.remove(number);
    }

    /// Removes an invocation. What it has sent may still arrive.
    fn remove(&mut self, number: usize) {
        self.invocations.remove(&number);
        let mut world = self.shared.world();
        let sent = |kind: Kind, call: Call| matches!(kind, Kind::Write | Kind::Bulk) && !call.moves_alias();
        world.requests.retain(|request| request.invocation != number || sent(request.kind, request.call));
    }

    fn forget(&mut self) {
        self.left.forgets -= 1;
        self.note(|_| "search forgets its deletes".to_owned());
        self.shared.world().search.forget();
    }

    /// Ends the time of an invocation, of any or only of this one, which responds with its result so far.
    fn expire(&mut self, only: Option<usize>) -> Result<(), String> {
        let ends: Vec<_> = {
            let world = self.shared.world();
            let requests = world.requests.iter().enumerate();
            let is_asked = |number: usize| only.is_none_or(|only| only == number);
            let ends = requests.filter(|(_, request)| request.kind == Kind::Expired && is_asked(request.invocation));
            ends.map(|(place, _)| place).collect()
        };
        self.left.faults -= 1;
        if ends.is_empty() {
            return Ok(());
        }
        let place = self.choices.one_of(&ends);
        let invocation = {
            let mut world = self.shared.world();
            let number = world.requests[place].invocation;
            world.count_calls("time up", number);
            world.cut_short = true;
            world.carry(place, Fate::Answered)
        };
        self.note(|_| format!("the time of invocation {invocation} is up"));
        self.poll(invocation)
    }

    /// Whether nothing is under way that may change a document.
    fn is_at_rest(&self) -> bool {
        let world = self.shared.world();
        let is_idle = self.invocations.is_empty() && world.requests.is_empty() && self.checkpoint == world.stream.len();
        let is_redriven = world.failures.is_empty() && !self.needs_redrive;
        let serves = world.generations.as_ref().is_some_and(|config| config.of(Phase::Serving).is_some());
        drop(world);
        is_idle && is_redriven && serves && !self.must_order()
    }

    fn note(&mut self, what: impl FnOnce(&World) -> String) {
        if let Some(log) = &mut self.log {
            let what = what(&self.shared.world());
            let _ = writeln!(log, "{what}");
        }
    }
}

impl World {
    /// Counts the calls that an invocation waits for.
    fn count_calls(&mut self, fault: &'static str, invocation: usize) {
        for request in self.requests.iter().filter(|request| request.invocation == invocation) {
            self.reached.count(fault, request.call.name());
        }
    }
}
