//! Sweeps, and the day that must pass before a sweep finds a tombstone.

use super::Schedule;
use crate::rules::Rules;
use crate::simulation::executor::Invocation;
use crate::simulation::world::{Fate, Kind};

/// A time longer than the retention of tombstones, in microseconds.
const MORE_THAN_A_DAY: i64 = 26 * 3_600_000_000;

impl<R: Rules> Schedule<R> {
    pub(super) fn may_sweep(&self) -> bool {
        self.left.sweeps > 0 && self.shared.world().search.has_tombstones()
    }

    /// Starts a sweep, sometimes after a day without other events.
    pub(super) fn sweep(&mut self) -> Result<(), String> {
        self.left.sweeps -= 1;
        let caught_up = self.current.is_none() && self.checkpoint == self.shared.world().stream.len();
        // The marker of an invocation that continues a day later stays until a repair.
        let unmarked = self.options.short_lived || self.invocations.is_empty();
        if caught_up && unmarked && self.rng.bool() {
            self.advance_a_day()?;
        }
        let number = self.next_number;
        self.next_number += 1;
        if self.rng.bool() {
            self.late.insert(number);
        }
        self.note(|_| format!("invocation {number} sweeps"));
        self.invocations.insert(number, Invocation::sweep::<R>(&self.shared));
        self.poll(number)
    }

    /// Advances the clock by a day. Requests are carried out or lost within minutes, and their invocations continue a
    /// day later. Writes are lost, since they could have a stream record, which is delivered within a day.
    fn advance_a_day(&mut self) -> Result<(), String> {
        let mut waiting = Vec::new();
        while let Some(place) = self.carriable().first().copied() {
            let mut world = self.shared.world();
            let lost = world.requests[place].kind == Kind::Write;
            waiting.push(world.carry(place, if lost { Fate::Lost } else { Fate::Answered }));
        }
        self.note(|_| "a day passes".to_owned());
        {
            let mut world = self.shared.world();
            world.now += MORE_THAN_A_DAY;
            world.search.forget();
        }
        waiting.into_iter().try_for_each(|number| self.poll(number))
    }

    /// Whether a request must wait for others. In a schedule of sweeps many must, since errors of sweeps need many
    /// events in between.
    pub(super) fn is_delayed(&self, place: usize) -> bool {
        self.options.short_lived && self.late.contains(&self.shared.world().requests[place].invocation)
    }
}
