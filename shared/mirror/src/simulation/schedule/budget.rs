//! The numbers of events in one schedule, and the options of its writers.

use crate::simulation::choices::Random;
use crate::simulation::world::Call;
use crate::simulation::writers::WriterOptions;

/// The numbers of events that may still happen.
#[derive(Debug, Default)]
pub(super) struct Budget {
    pub(super) writes: usize,
    pub(super) faults: usize,
    pub(super) zombies: usize,
    pub(super) crashes: usize,
    pub(super) forgets: usize,
    pub(super) lost_answers: usize,
    pub(super) repairs: usize,
    pub(super) sweeps: usize,
    /// Batches that the event source gives up.
    pub(super) give_ups: usize,
    pub(super) redrives: usize,
    /// Times that twenty minutes pass.
    pub(super) passes: usize,
    pub(super) deployments: usize,
    pub(super) rebuilds: usize,
    pub(super) rollbacks: usize,
    pub(super) cancels: usize,
    pub(super) rebuild_pauses: usize,
}

/// What a schedule is about, beside writes, faults, zombies and repairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Theme {
    Plain,
    /// Errors of a sweep are rare: they need many deletes and few other events.
    Sweeps,
    Rebuilds,
    /// Records that are given up, quarantine, and releases.
    Redrives,
    All,
}

#[derive(Debug)]
pub(super) struct Plan {
    pub(super) left: Budget,
    pub(super) options: WriterOptions,
    /// Whether the hosts of invocations have wrong clocks.
    pub(super) wrong_clocks: bool,
    /// Whether some items can be indexed only by a later release.
    pub(super) lasting_faults: bool,
    /// Whether a release raises the version of the mapping.
    pub(super) raises: bool,
    /// Whether the schedule begins before the first index exists.
    pub(super) has_no_index: bool,
    /// The call that most faults befall, so that rare calls meet faults, too.
    pub(super) target: Option<Call>,
    /// A fault befalls every so many requests.
    pub(super) rarity: usize,
}

/// The calls of rebuilds that are made only a few times in a schedule.
const OF_REBUILDS: [Call; 5] = [Call::Refresh, Call::Serve, Call::Swap, Call::DeleteIndex, Call::Forget];

/// The calls of redrives and of quarantine that are made only a few times in a schedule.
const OF_REDRIVES: [Call; 3] = [Call::ReadFailure, Call::DeleteFailure, Call::ClearMarker];

/// The calls of sweeps.
const OF_SWEEPS: [Call; 3] = [Call::Tombstones, Call::DeleteTombstones, Call::DeleteTombstones];

impl Plan {
    pub(super) fn draw(random: &mut impl Random) -> Self {
        let theme =
            random.one_of(&[Theme::Plain, Theme::Plain, Theme::Sweeps, Theme::Rebuilds, Theme::Redrives, Theme::All]);
        let common = Budget {
            writes: random.between(2, 7),
            faults: random.below(4),
            zombies: random.below(3),
            crashes: random.below(2),
            forgets: random.below(3),
            lost_answers: random.below(2),
            repairs: random.below(3),
            sweeps: random.below(2),
            ..Budget::default()
        };
        let options = WriterOptions::draw(random);
        let plan = Self {
            left: common,
            options,
            wrong_clocks: random.one_in(3),
            lasting_faults: false,
            raises: false,
            has_no_index: random.one_in(4),
            target: None,
            rarity: 1,
        };
        match theme {
            Theme::Plain => plan,
            Theme::Sweeps => plan.for_sweeps(random),
            Theme::Rebuilds => plan.for_rebuilds(random).with_target(random, &OF_REBUILDS),
            Theme::Redrives => plan.for_redrives(random).with_target(random, &OF_REDRIVES),
            Theme::All => plan.for_redrives(random).for_rebuilds(random).with_target(random, &Call::ALL),
        }
    }

    /// A marker that is set late stays until a repair, so there is no quarantine, and faults befall sweeps only.
    fn for_sweeps(self, random: &mut impl Random) -> Self {
        let zombies = self.left.zombies + 2;
        let left =
            Budget { writes: random.between(4, 11), faults: 0, sweeps: random.between(1, 5), zombies, ..self.left };
        let options =
            WriterOptions { keys: 1, short_lived: true, poison: false, unknown_events: false, ..self.options };
        let plan = Self { left, options, ..self };
        if random.one_in(2) { plan.aim_at(random.one_of(&OF_SWEEPS), random) } else { plan }
    }

    fn for_rebuilds(self, random: &mut impl Random) -> Self {
        let left = Budget {
            crashes: random.below(4),
            rebuilds: random.between(1, 2),
            rollbacks: random.below(2),
            cancels: random.below(2),
            rebuild_pauses: random.below(2),
            passes: random.below(2),
            deployments: random.below(2),
            repairs: random.below(2),
            sweeps: random.below(2),
            ..self.left
        };
        Self { left, raises: random.one_in(2), ..self }
    }

    fn for_redrives(self, random: &mut impl Random) -> Self {
        let left = Budget {
            crashes: random.below(4),
            give_ups: random.between(1, 3),
            redrives: random.below(3),
            passes: random.below(3),
            deployments: random.below(2),
            ..self.left
        };
        let options = WriterOptions { poison: random.one_in(2), ..self.options };
        Self { left, options, lasting_faults: random.one_in(2), ..self }
    }

    /// Lets faults befall a call, mostly one of these, or any call.
    fn with_target(mut self, random: &mut impl Random, calls: &[Call]) -> Self {
        match random.below(8) {
            0 | 1 => {
                self.left.faults = random.below(5);
                Self { rarity: random.one_of(&[1, 8]), ..self }
            }
            2 => self.aim_at(random.one_of(&Call::ALL), random),
            _ => self.aim_at(random.one_of(calls), random),
        }
    }

    /// Lets faults befall this call, and gives it a chance to be made.
    fn aim_at(mut self, call: Call, random: &mut impl Random) -> Self {
        self.left.faults = random.between(1, 4);
        match call {
            Call::Serve => self.has_no_index = true,
            Call::DeleteIndex | Call::Forget => self.left.rollbacks = 0,
            Call::ClearMarker => self.options.poison = true,
            _ => {}
        }
        Self { target: Some(call), rarity: SELDOM, ..self }
    }
}

/// The rarity of faults of all calls but the target.
const SELDOM: usize = 1_000;
