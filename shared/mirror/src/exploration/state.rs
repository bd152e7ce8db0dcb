//! A state of the exploration: the world, the invocations that run in it, and what may still happen.

use super::calls::Call;
use super::explorer::{Origin, Scenario};
use super::histories::Id;
use super::leaf::KEYS;
use super::world::World;

#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct State {
    pub(super) world: World,
    pub(super) running: Vec<Invocation>,
    /// Writes that were sent by invocations that have ended since.
    pub(super) late: Vec<Call>,
    /// The keys whose documents were damaged, and which no repair was started for yet.
    pub(super) damaged: [bool; KEYS],
    pub(super) left: Budget,
}

/// A run of the mirror.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Invocation {
    pub(super) role: Role,
    pub(super) history: Id,
    /// Its clock in microseconds of the day, which stands still.
    pub(super) tick: u8,
    /// Whether it is a batch that started before an operator waited for the end of all batches.
    pub(super) before_wait: bool,
    /// Whether it started before a record was given up.
    pub(super) before_give_up: bool,
    /// Whether 20 minutes have passed since its start.
    pub(super) aged: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Role {
    /// The invocation that the event source waits for.
    Current,
    /// An invocation that the event source does not wait for any more.
    Zombie,
    /// `needed` if the document was damaged.
    Repair {
        key: usize,
        needed: bool,
    },
    Redrive,
    Sweep,
    /// Carries out an order about a rebuild.
    Operator,
}

/// How often each event may still happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Budget {
    /// Writes of all kinds. The other kinds of writes are also bounded by their own numbers.
    pub(super) writes: u8,
    /// Writes by a clock that is behind.
    pub(super) slow: u8,
    /// Writes in the same microsecond as the last one.
    pub(super) frozen: u8,
    /// Writes that leave `rev` as it is.
    pub(super) same: u8,
    /// Writes that lower `rev`.
    pub(super) lower: u8,
    /// Writes that remove `rev` or make it invalid.
    pub(super) unrevised: u8,
    pub(super) hide: u8,
    pub(super) poison: u8,
    /// Writes of items whose document OpenSearch refuses.
    pub(super) refused: u8,
    pub(super) zombies: u8,
    /// Responses of batches that are lost.
    pub(super) repeats: u8,
    /// Requests that fail, before or after they were carried out, or in part.
    pub(super) faults: u8,
    /// Invocations whose time is up.
    pub(super) expiries: u8,
    /// Batches that are given up.
    pub(super) give_ups: u8,
    /// Redrives that start less than 20 minutes after a record was given up.
    pub(super) early_redrives: u8,
    /// Redrives that are killed.
    pub(super) kills: u8,
    pub(super) repairs: u8,
    pub(super) damages: u8,
    pub(super) sweeps: u8,
    pub(super) days: u8,
    pub(super) deploys: u8,
    pub(super) rebuilds: u8,
    pub(super) rollbacks: u8,
    pub(super) cancels: u8,
    /// Orders that are stopped at any call.
    pub(super) stops: u8,
}

impl Budget {
    pub(super) const NONE: Self = Self {
        writes: 0,
        slow: 0,
        frozen: 0,
        same: 0,
        lower: 0,
        unrevised: 0,
        hide: 0,
        poison: 0,
        refused: 0,
        zombies: 0,
        repeats: 0,
        faults: 0,
        expiries: 0,
        give_ups: 0,
        early_redrives: 0,
        kills: 0,
        repairs: 0,
        damages: 0,
        sweeps: 0,
        days: 0,
        deploys: 0,
        rebuilds: 0,
        rollbacks: 0,
        cancels: 0,
        stops: 0,
    };
}

impl State {
    /// Returns the state in which a scenario begins.
    pub(super) fn first(scenario: &Scenario) -> Self {
        let world = match scenario.origin {
            Origin::Empty => World::new(),
            Origin::Replacing => World::replacing(),
            Origin::Swept => World::swept(),
        };
        Self { world, running: Vec::new(), late: Vec::new(), damaged: [false; KEYS], left: scenario.left }
    }

    pub(super) fn current(&self) -> Option<usize> {
        self.running.iter().position(|invocation| invocation.role == Role::Current)
    }

    pub(super) fn has(&self, role: fn(Role) -> bool) -> bool {
        self.running.iter().any(|invocation| role(invocation.role))
    }

    /// Whether an invocation from before the wait may still be running. A zombie has ended by then.
    pub(super) fn lives_from_before_the_wait(&self) -> bool {
        self.running.iter().any(|invocation| invocation.before_wait && invocation.role != Role::Zombie)
    }

    pub(super) fn pass_a_day(&mut self) {
        self.left.days -= 1;
        self.world.day += 1;
        self.world.forget_deletes();
    }

    /// Orders what has no order, so that equal states are equal.
    pub(super) fn normalize(&mut self) {
        self.running.sort_by_key(|invocation| (invocation.role, invocation.history, invocation.tick));
    }

    /// Whether nothing must happen any more. A zombie may end at any time.
    pub(super) fn at_rest(&self) -> bool {
        self.running.iter().all(|invocation| invocation.role == Role::Zombie)
            && self.late.is_empty()
            && self.world.stream.is_empty()
            && self.world.failures.is_empty()
            && self.damaged == [false; KEYS]
            && !(self.world.cured && (0..KEYS).any(|key| self.world.is_marked(key)))
    }
}
