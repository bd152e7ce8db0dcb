//! Time that passes, and the sweeps that need a day of it.

use super::Schedule;
use crate::simulation::choices::Random;
use crate::simulation::executor::Invocation;
use crate::simulation::hosts::Clock;
use crate::simulation::world::{Call, Fate, Kind};

/// A time longer than an invocation or a request lives, in microseconds. A record that was given up may be redriven
/// after it.
pub(super) const TWENTY_MINUTES: i64 = 20 * 60_000_000;

/// A time longer than the retention of tombstones, in microseconds.
const MORE_THAN_A_DAY: i64 = 26 * 3_600_000_000;

impl Schedule {
    pub(super) fn may_sweep(&self) -> bool {
        self.left.sweeps > 0 && self.shared.world().search.has_tombstones()
    }

    /// Starts a sweep, sometimes after a day without other events.
    pub(super) fn sweep(&mut self) -> Result<(), String> {
        self.left.sweeps -= 1;
        let caught_up = self.current.is_none() && self.checkpoint == self.shared.world().stream.len();
        // The marker of an invocation that continues a day later stays until a repair.
        let unmarked = self.options.short_lived || self.invocations.is_empty();
        if caught_up && unmarked && self.choices.one_in(2) {
            self.shared.world().reached.count("event", "a day");
            self.pass(MORE_THAN_A_DAY)?;
        }
        let number = self.start(Invocation::sweep(&self.shared))?;
        if self.choices.one_in(2) {
            self.late.insert(number);
        }
        self.note(|_| format!("invocation {number} sweeps"));
        self.poll(number)
    }

    /// Lets time pass that is longer than a request lives. Requests are carried out or lost before, and their
    /// invocations continue later. A batch has reached its timeout by then, or its host was frozen and it continues as a
    /// zombie.
    pub(super) fn pass(&mut self, micros: i64) -> Result<(), String> {
        let waiting = self.end_requests(micros)?;
        self.note(|_| format!("{} minutes pass", micros / 60_000_000));
        self.shared.world().now += micros;
        self.continue_after(waiting)
    }

    /// Lets the time pass for which an operator waits.
    pub(super) fn end_wait(&mut self) -> Result<(), String> {
        let mut waiting = self.end_requests(TWENTY_MINUTES)?;
        self.note(|_| "the operator has waited".to_owned());
        let wait = self.shared.world().requests.iter().position(|request| request.call == Call::Wait);
        // The clock of the world advances by the wait.
        waiting.extend(wait.map(|place| self.shared.world().carry(place, Fate::Answered)));
        self.continue_after(waiting)
    }

    /// Carries out or loses every request. Returns the invocations that they belong to.
    fn end_requests(&mut self, micros: i64) -> Result<Vec<usize>, String> {
        let mut waiting = Vec::new();
        loop {
            let next = {
                let world = self.shared.world();
                let may_end = |kind: Kind, call: Call| kind != Kind::Expired && call != Call::Wait;
                world.requests.iter().position(|request| may_end(request.kind, request.call))
            };
            let Some(place) = next else { return Ok(waiting) };
            let kind = self.shared.world().requests[place].kind;
            // A write of the table would have a stream record, which is delivered within a day.
            let is_lost = (micros >= MORE_THAN_A_DAY && kind == Kind::Write) || self.choices.one_in(4);
            self.note(|world| format!("{:?}, lost: {is_lost}", world.requests[place]));
            let mut world = self.shared.world();
            let call = world.requests[place].call;
            world.reached.count("old", call.name());
            waiting.push(world.carry(place, if is_lost { Fate::Lost } else { Fate::Answered }));
        }
    }

    fn continue_after(&mut self, waiting: Vec<usize>) -> Result<(), String> {
        self.shared.world().search.forget();
        // What an invocation has read is not used any more, so a marker that it has just set may stay.
        self.shared.world().cut_short |= !waiting.is_empty();
        let batches = self.invocations.iter().filter(|(_, invocation)| !invocation.records.is_empty());
        for number in batches.map(|(number, _)| *number).collect::<Vec<_>>() {
            let is_steady = self.shared.world().clocks.get(&number).copied().is_none_or(Clock::is_steady);
            if is_steady && self.choices.one_in(2) {
                self.current = self.current.filter(|current| *current != number);
                self.late.insert(number);
                self.shared.world().cut_short = true;
                self.shared.world().reached.count("event", "frozen host");
                self.note(|_| format!("invocation {number} was frozen"));
            } else {
                self.note(|_| format!("invocation {number} has reached its timeout"));
                self.kill(number);
            }
        }
        waiting.into_iter().try_for_each(|number| self.poll(number))
    }

    /// Whether a request must wait for others. In a schedule of sweeps many must, since errors of sweeps need many
    /// events in between.
    pub(super) fn is_delayed(&self, place: usize) -> bool {
        self.options.short_lived && self.late.contains(&self.shared.world().requests[place].invocation)
    }
}
