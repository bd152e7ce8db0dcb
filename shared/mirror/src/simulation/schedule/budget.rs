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
    pub(super) holds: usize,
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
    /// The call that most faults befall, so that rare calls meet faults, too.
    pub(super) target: Option<Call>,
    /// A fault befalls every so many requests.
    pub(super) rarity: usize,
}

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
        let wrong_clocks = random.one_in(3);
        let plan =
            Self { left: common, options, wrong_clocks, lasting_faults: false, raises: false, target: None, rarity: 1 };
        match theme {
            Theme::Plain => plan,
            Theme::Sweeps => plan.for_sweeps(random),
            Theme::Rebuilds => plan.for_rebuilds(random),
            Theme::Redrives => plan.for_redrives(random),
            Theme::All => plan.for_redrives(random).for_rebuilds(random),
        }
    }

    /// A marker that is set late stays until a repair, so there is no quarantine.
    fn for_sweeps(self, random: &mut impl Random) -> Self {
        let zombies = self.left.zombies + 2;
        let left =
            Budget { writes: random.between(4, 11), faults: 0, sweeps: random.between(1, 5), zombies, ..self.left };
        let options =
            WriterOptions { keys: 1, short_lived: true, poison: false, unknown_events: false, ..self.options };
        Self { left, options, ..self }
    }

    fn for_rebuilds(self, random: &mut impl Random) -> Self {
        let left = Budget {
            faults: random.below(5),
            crashes: random.below(4),
            rebuilds: random.between(1, 2),
            rollbacks: random.below(2),
            cancels: random.below(2),
            holds: random.below(2),
            passes: random.below(2),
            deployments: random.below(2),
            repairs: random.below(2),
            sweeps: random.below(2),
            ..self.left
        };
        Self { left, raises: random.one_in(2), ..self }.with_target(random)
    }

    fn for_redrives(self, random: &mut impl Random) -> Self {
        let left = Budget {
            faults: random.below(5),
            crashes: random.below(4),
            give_ups: random.between(1, 3),
            redrives: random.below(3),
            passes: random.below(3),
            deployments: random.below(2),
            ..self.left
        };
        let options = WriterOptions { poison: random.one_in(2), ..self.options };
        Self { left, options, lasting_faults: random.one_in(2), ..self }.with_target(random)
    }

    fn with_target(self, random: &mut impl Random) -> Self {
        let target = random.one_in(2).then(|| random.one_of(&Call::ALL));
        Self { target, rarity: random.one_of(&[1, 8]), ..self }
    }
}
