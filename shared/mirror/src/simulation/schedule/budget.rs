//! How much may happen in one schedule, and what its writers do.

use fastrand::Rng;

use crate::simulation::writers::Habits;

/// How much may still happen.
#[derive(Debug)]
pub(super) struct Budget {
    pub(super) writes: usize,
    pub(super) faults: usize,
    pub(super) zombies: usize,
    pub(super) deaths: usize,
    pub(super) forgets: usize,
    pub(super) lost_answers: usize,
    pub(super) repairs: usize,
    pub(super) sweeps: usize,
}

impl Budget {
    pub(super) fn draw(rng: &mut Rng) -> (Self, Habits) {
        let left = Self {
            writes: rng.usize(2..8),
            faults: rng.usize(0..4),
            zombies: rng.usize(0..3),
            deaths: rng.usize(0..2),
            forgets: rng.usize(0..3),
            lost_answers: rng.usize(0..2),
            repairs: rng.usize(0..3),
            sweeps: rng.usize(0..2),
        };
        let habits = Habits::draw(rng);
        match rng.u8(0..3) {
            0 => left.for_sweeps(rng, habits),
            _ => (left, habits),
        }
    }

    /// What a sweep may spoil is rare: much has to be deleted, and little else to happen. A marker that is set late stays
    /// until an audit.
    fn for_sweeps(self, rng: &mut Rng, habits: Habits) -> (Self, Habits) {
        let zombies = self.zombies + 2;
        let left = Self { writes: rng.usize(4..12), faults: 0, sweeps: rng.usize(1..6), zombies, ..self };
        (left, Habits { keys: 1, fleeting: true, poison: false, unknown_events: false, ..habits })
    }
}
