//! One schedule. Every event is drawn from the seed until all budgets are spent. Then all invocations finish, and the
//! invariants are checked.

mod budget;
mod sweeps;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::marker::PhantomData;

use budget::Budget;
use fastrand::Rng;

use super::executor::{Ended, Invocation};
use super::faults;
use super::invariants::{always, at_rest};
use super::toy::Leaves;
use super::world::{Fate, Kind, Shared, sequence};
use super::writers::{WriterOptions, keys, write};
use crate::documents::Documents;
use crate::generation::{Generation, Generations, Phase, index_name, write_alias};
use crate::mapping::index_body;
use crate::rules::Rules;

pub(crate) struct Schedule<R> {
    pub(crate) shared: Shared,
    rng: Rng,
    options: WriterOptions,
    invocations: BTreeMap<usize, Invocation>,
    next_number: usize,
    /// The invocation whose response the event source waits for.
    current: Option<usize>,
    /// Invocations that others may overtake for a long time.
    late: BTreeSet<usize>,
    /// The invocation that creates the first index.
    operator: Option<usize>,
    /// The position before which all records were handled, as far as the event source knows.
    checkpoint: usize,
    /// The number of consecutive batches with reported records.
    reported: usize,
    left: Budget,
    log: Option<String>,
    rules: PhantomData<R>,
}

/// The limit of steps, which is more than any schedule needs to come to rest.
const STEPS: usize = 5_000;

/// The number of deliveries of one batch after which a minute has passed, so that search has forgotten its deletes.
const DELIVERIES_OF_A_MINUTE: usize = 20;

impl<R: Rules> Schedule<R> {
    pub(crate) fn new(seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed);
        let shared = Shared::default();
        shared.world().now = 1_000_000_000_000;
        let (left, options) = Budget::draw(&mut rng);
        let first_index = rng.u8(0..4) == 0;
        let mut schedule = Self {
            shared,
            rng,
            options,
            invocations: BTreeMap::new(),
            next_number: 0,
            current: None,
            late: BTreeSet::new(),
            operator: None,
            checkpoint: 0,
            reported: 0,
            left,
            log: None,
            rules: PhantomData,
        };
        if !first_index {
            schedule.serve();
        }
        schedule
    }

    /// Records a log from now on.
    pub(crate) fn record_log(&mut self) {
        self.log = Some(String::new());
    }

    pub(crate) fn log(&self) -> &str {
        self.log.as_deref().unwrap_or_default()
    }

    /// Runs the schedule. An error is a broken invariant.
    pub(crate) fn run(&mut self) -> Result<(), String> {
        for _ in 0..STEPS {
            let moved = self.step()?;
            always(&self.shared.world())?;
            if self.is_idle() {
                at_rest(&self.shared.world())?;
                if !moved {
                    return Ok(());
                }
            }
        }
        Err("termination: the schedule does not come to rest".to_owned())
    }

    /// Starts with an index that serves already.
    fn serve(&mut self) {
        let index = index_name("toy", 1);
        let body = index_body(Leaves.mapping(), &write_alias(&index)).unwrap();
        let mut world = self.shared.world();
        world.search.create(&index, &body);
        world.search.swap("toy", &index);
        let written = vec![Generation { index, mapping: 1, phase: Phase::Serving }];
        world.generations = Some(Generations { epoch: 1, written, ..Generations::none("toy") });
    }

    /// Carries out one event. Returns false if none is left.
    fn step(&mut self) -> Result<bool, String> {
        match self.rng.u8(0..40) {
            0..5 if self.left.writes > 0 => self.write(),
            5 if self.left.zombies > 0 && self.current.is_some() => self.time_out(),
            6 if self.left.crashes > 0 && !self.invocations.is_empty() => self.crash(),
            7 if self.left.forgets > 0 => self.forget(),
            8 if self.left.repairs > 0 => self.repair()?,
            13 if self.may_sweep() => self.sweep()?,
            8 => self.shared.world().now += 1_000,
            9 if self.left.faults > 0 => return self.expire().map(|()| true),
            10..13 if self.begin()? => {}
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
            if self.may_sweep() && self.rng.bool() {
                return self.sweep().map(|()| true);
            }
            if self.left.writes > 0 && (late.is_empty() || self.rng.bool()) {
                self.write();
                return Ok(true);
            }
            if late.is_empty() {
                return Ok(false);
            }
        }
        let carried = if prompt.is_empty() { late } else { prompt };
        let place = carried[self.rng.usize(0..carried.len())];
        self.carry(place).map(|()| true)
    }

    /// Returns the requests that may be carried out next: all except those that end an invocation's time.
    fn carriable(&self) -> Vec<usize> {
        let world = self.shared.world();
        let requests = world.requests.iter().enumerate();
        requests.filter(|(_, request)| request.kind != Kind::Expired).map(|(place, _)| place).collect()
    }

    fn carry(&mut self, place: usize) -> Result<(), String> {
        let kind = self.shared.world().requests[place].kind;
        let fate = match self.left.faults {
            0 => Fate::Answered,
            _ => faults::draw(&mut self.rng, &mut self.shared.world(), kind),
        };
        self.left.faults -= usize::from(fate != Fate::Answered);
        self.note(|world| format!("{:?}: {fate:?}", world.requests[place]));
        let invocation = self.shared.world().carry(place, fate);
        self.poll(invocation)
    }

    fn poll(&mut self, number: usize) -> Result<(), String> {
        let Some(invocation) = self.invocations.get_mut(&number) else { return Ok(()) };
        let Some(ended) = invocation.poll(&self.shared, number) else { return Ok(()) };
        let records = invocation.records.clone();
        self.remove(number);
        match ended {
            Ended::Batch(processed) => {
                let processed = processed.map_err(|failure| failure.to_string())?;
                self.note(|_| format!("invocation {number} answers {} {:?}", processed.answer, processed.tally));
                let ledger = processed.ledger;
                let failed = records.clone().find(|at| processed.answer.contains(&format!("\"{}\"", sequence(*at))));
                if !ledger.adds_up() || ledger.reported != records.end - failed.unwrap_or(records.end) {
                    return Err(format!("report: {ledger:?} of records {records:?}, of which {failed:?} is reported"));
                }
                self.reported = if failed.is_some() { self.reported + 1 } else { 0 };
                if self.reported.is_multiple_of(DELIVERIES_OF_A_MINUTE) && failed.is_some() {
                    self.note(|_| "a minute passes".to_owned());
                    self.shared.world().search.forget();
                }
                if self.current == Some(number) {
                    self.current = None;
                    if self.left.lost_answers > 0 && self.rng.u8(0..4) == 0 {
                        self.left.lost_answers -= 1;
                        self.note(|_| "the answer is lost".to_owned());
                    } else {
                        self.checkpoint = failed.unwrap_or(records.end);
                    }
                }
            }
            // An operator restarts a failed repair, if at all.
            Ended::Repair(repaired) => {
                self.note(|_| format!("the repair: {repaired:?}"));
                self.shared.world().cut_short |= repaired.is_err();
            }
            Ended::Sweep(swept) => {
                self.note(|_| format!("the sweep: {swept:?}"));
                // A minute passes for the invocations that still run.
                if self.rng.bool() {
                    self.shared.world().search.forget();
                }
            }
            Ended::FirstIndex(made) => {
                self.note(|_| format!("the first index: {made:?}"));
                self.operator = None;
            }
        }
        Ok(())
    }

    /// Starts a batch, or creates the first index, if there is a reason to. Returns whether it did.
    fn begin(&mut self) -> Result<bool, String> {
        let (end, filled) = {
            let world = self.shared.world();
            let filled = world.generations.as_ref().is_some_and(|all| all.of(Phase::Serving).is_some());
            (world.stream.len(), filled)
        };
        let number = self.next_number;
        let invocation = if self.operator.is_none() && !filled {
            self.operator = Some(number);
            self.note(|_| format!("invocation {number} creates the first index"));
            Invocation::first_index::<R>(&self.shared)
        } else if self.current.is_none() && self.checkpoint < end {
            let end = end.min(self.checkpoint + self.rng.usize(1..=4));
            self.current = Some(number);
            let records = self.checkpoint..end;
            self.note(|world| format!("invocation {number} receives {}", world.event(records.start, records.end)));
            Invocation::batch::<R>(&self.shared, records)
        } else {
            return Ok(false);
        };
        self.next_number += 1;
        self.invocations.insert(number, invocation);
        self.poll(number).map(|()| true)
    }

    /// Starts the repair of a key, concurrently with everything else.
    fn repair(&mut self) -> Result<(), String> {
        self.left.repairs -= 1;
        let keys = keys();
        let key = keys[self.rng.usize(0..keys.len())].clone();
        let number = self.next_number;
        self.next_number += 1;
        self.note(|_| format!("invocation {number} repairs {key:?}"));
        self.invocations.insert(number, Invocation::repair::<R>(&self.shared, key));
        self.poll(number)
    }

    fn write(&mut self) {
        self.left.writes -= 1;
        let description = write(&mut self.shared.world(), &mut self.rng, self.options);
        self.note(|_| description);
    }

    /// Lets the event source stop waiting for its invocation, which continues as a zombie.
    fn time_out(&mut self) {
        self.left.zombies -= 1;
        let zombie = self.current.take();
        self.late.extend(zombie);
        self.note(|_| format!("invocation {zombie:?} is a zombie"));
    }

    /// Lets an invocation crash. Its requests may still arrive.
    fn crash(&mut self) {
        self.left.crashes -= 1;
        let numbers: Vec<_> = self.invocations.keys().copied().collect();
        let number = numbers[self.rng.usize(0..numbers.len())];
        self.current = self.current.filter(|current| *current != number);
        self.operator = self.operator.filter(|operator| *operator != number);
        self.note(|_| format!("invocation {number} crashes"));
        self.shared.world().cut_short = true;
        self.remove(number);
    }

    fn remove(&mut self, number: usize) {
        self.invocations.remove(&number);
        let sent = |kind: Kind| matches!(kind, Kind::Write | Kind::Bulk);
        self.shared.world().requests.retain(|request| request.invocation != number || sent(request.kind));
    }

    fn forget(&mut self) {
        self.left.forgets -= 1;
        self.note(|_| "search forgets its deletes".to_owned());
        self.shared.world().search.forget();
    }

    /// Ends the time of an invocation, which responds with its result so far.
    fn expire(&mut self) -> Result<(), String> {
        let ends: Vec<_> = {
            let world = self.shared.world();
            let requests = world.requests.iter().enumerate();
            requests.filter(|(_, request)| request.kind == Kind::Expired).map(|(place, _)| place).collect()
        };
        if ends.is_empty() {
            return Ok(());
        }
        self.left.faults -= 1;
        let place = ends[self.rng.usize(0..ends.len())];
        let invocation = self.shared.world().carry(place, Fate::Answered);
        self.note(|_| format!("the time of invocation {invocation} is up"));
        self.shared.world().cut_short = true;
        self.poll(invocation)
    }

    /// Whether no invocation and no request is left.
    fn is_idle(&self) -> bool {
        let world = self.shared.world();
        self.invocations.is_empty() && world.requests.is_empty() && self.checkpoint == world.stream.len()
    }

    fn note(&mut self, what: impl FnOnce(&super::world::World) -> String) {
        if let Some(log) = &mut self.log {
            let what = what(&self.shared.world());
            let _ = writeln!(log, "{what}");
        }
    }
}
