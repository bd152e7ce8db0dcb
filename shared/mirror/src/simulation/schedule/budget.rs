//! The numbers of events in one schedule, and the options of its writers.

use fastrand::Rng;

use crate::simulation::writers::WriterOptions;

/// The numbers of events that may still happen.
#[derive(Debug)]
pub(super) struct Budget {
    pub(super) writes: usize,
    pub(super) faults: usize,
    pub(super) zombies: usize,
    pub(super) crashes: usize,
    pub(super) forgets: usize,
    pub(super) lost_answers: usize,
    pub(super) repairs: usize,
    pub(super) sweeps: usize,
}

impl Budget {
    pub(super) fn draw(rng: &mut Rng) -> (Self, WriterOptions) {
        let left = Self {
            writes: rng.usize(2..8),
            faults: rng.usize(0..4),
            zombies: rng.usize(0..3),
            crashes: rng.usize(0..2),
            forgets: rng.usize(0..3),
            lost_answers: rng.usize(0..2),
            repairs: rng.usize(0..3),
            sweeps: rng.usize(0..2),
        };
        let options = WriterOptions::draw(rng);
        match rng.u8(0..3) {
            0 => left.for_sweeps(rng, options),
            _ => (left, options),
        }
    }

    /// Returns a budget for sweeps. Errors of a sweep are rare: they need many deletes and few other events. A marker
    /// that is set late stays until a repair.
    fn for_sweeps(self, rng: &mut Rng, options: WriterOptions) -> (Self, WriterOptions) {
        let zombies = self.zombies + 2;
        let left = Self { writes: rng.usize(4..12), faults: 0, sweeps: rng.usize(1..6), zombies, ..self };
        (left, WriterOptions { keys: 1, short_lived: true, poison: false, unknown_events: false, ..options })
    }
}
