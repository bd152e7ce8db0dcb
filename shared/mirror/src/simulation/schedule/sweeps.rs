//! Sweeps, and the day that has to pass before one finds anything.

use super::Schedule;
use crate::rules::Rules;
use crate::simulation::executor::Invocation;
use crate::simulation::world::{Fate, Kind};

/// Longer than a tombstone is kept, in microseconds.
const MORE_THAN_A_DAY: i64 = 26 * 3_600_000_000;

impl<R: Rules> Schedule<R> {
    pub(super) fn may_sweep(&self) -> bool {
        self.left.sweeps > 0 && self.shared.world().search.has_tombstones()
    }

    /// The clock calls the sweep, at times after a day on which nothing else happened.
    pub(super) fn sweep(&mut self) -> Result<(), String> {
        self.left.sweeps -= 1;
        let caught_up = self.current.is_none() && self.checkpoint == self.shared.world().stream.len();
        // A marker whose function goes on a day later stays until an audit.
        let unmarked = self.habits.fleeting || self.invocations.is_empty();
        if caught_up && unmarked && self.rng.bool() {
            self.let_a_day_pass()?;
        }
        let number = self.begun;
        self.begun += 1;
        if self.rng.bool() {
            self.late.insert(number);
        }
        self.say(|_| format!("invocation {number} sweeps"));
        self.invocations.insert(number, Invocation::sweep::<R>(&self.shared));
        self.poll(number)
    }

    /// Requests are carried out or lost within minutes; whoever waits for them goes on a day later. A write is lost: it
    /// might have a record, and the source hands over records before they are a day old.
    fn let_a_day_pass(&mut self) -> Result<(), String> {
        let mut waiting = Vec::new();
        while let Some(place) = self.carriable().first().copied() {
            let mut world = self.shared.world();
            let lost = world.requests[place].kind == Kind::Write;
            waiting.push(world.carry(place, if lost { Fate::Lost } else { Fate::Answered }));
        }
        self.say(|_| "a day passes".to_owned());
        {
            let mut world = self.shared.world();
            world.now += MORE_THAN_A_DAY;
            world.search.forget();
        }
        waiting.into_iter().try_for_each(|number| self.poll(number))
    }

    /// Whether a request has to wait for others, as many have to in a schedule of sweeps: those go wrong where much
    /// happens in between.
    pub(super) fn dawdles(&self, place: usize) -> bool {
        self.habits.fleeting && self.late.contains(&self.shared.world().requests[place].invocation)
    }
}
