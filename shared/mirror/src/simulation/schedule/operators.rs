//! Operators: orders about rebuilds, redrives and deployments.

use std::time::Duration;

use super::Schedule;
use crate::generation::{Generations, Phase};
use crate::ports::Fault;
use crate::rebuild::{Goal, Rebuild};
use crate::redrive::Redriven;
use crate::simulation::choices::Random;
use crate::simulation::executor::Invocation;

/// How long an order waits until no earlier batch lives.
const WAIT: Duration = Duration::from_mins(16);

/// What is under way, as the config item says.
struct Stage {
    /// An index was created that does not serve yet.
    is_rebuilding: bool,
    /// The alias moves back to the older index.
    turns_back: bool,
    /// The older index serves again.
    was_rolled_back: bool,
    has_kept: bool,
}

impl Stage {
    fn of(config: &Generations) -> Self {
        let at = |phase| config.written.iter().position(|generation| generation.phase == phase);
        let (serving, audited, kept) = (at(Phase::Serving), at(Phase::Audited), at(Phase::Kept));
        Self {
            is_rebuilding: config.is_rebuilding(),
            turns_back: audited.is_some() && audited < serving,
            was_rolled_back: kept > serving,
            has_kept: kept.is_some(),
        }
    }
}

impl Schedule {
    fn config(&self) -> Option<Generations> {
        self.shared.world().generations.clone()
    }

    /// Whether an order must be given before the world is at rest.
    pub(super) fn must_order(&self) -> bool {
        self.shared.world().generations.as_ref().is_some_and(|config| {
            let Stage { is_rebuilding, turns_back, .. } = Stage::of(config);
            is_rebuilding || turns_back || config.rebuild_paused || !config.dropping.is_empty()
        })
    }

    /// Gives an order about a rebuild, if there is a reason to and none is carried out. Returns whether it did.
    pub(super) fn order(&mut self) -> Result<bool, String> {
        if self.operator.is_some() {
            return Ok(false);
        }
        let Some(config) = self.config().filter(|config| config.last > 0) else { return Ok(false) };
        if config.rebuild_paused && !(self.left.cancels > 0 && self.choices.one_in(2)) {
            self.note(|_| "an operator lets the rebuild continue".to_owned());
            self.shared.world().generations = Some(Generations { rebuild_paused: false, ..config.next() });
            return Ok(true);
        }
        let Stage { is_rebuilding, turns_back, was_rolled_back, has_kept } = Stage::of(&config);
        let is_cancelled = config.written.is_empty();
        let mut begins = false;
        let goal = if is_rebuilding || turns_back || was_rolled_back || config.rebuild_paused || is_cancelled {
            if self.left.cancels > 0 && !is_cancelled && (config.rebuild_paused || self.choices.one_in(3)) {
                self.left.cancels -= 1;
                Goal::Cancel
            } else if self.left.rebuild_pauses > 0 && is_rebuilding && self.choices.one_in(3) {
                self.left.rebuild_pauses -= 1;
                return self.pause_rebuild().map(|()| true);
            } else if turns_back && self.choices.one_in(2) {
                Goal::RollBack
            } else {
                Goal::Serve
            }
        } else if has_kept {
            if self.left.rollbacks > 0 && self.choices.one_in(2) {
                self.left.rollbacks -= 1;
                Goal::RollBack
            } else {
                Goal::Finish
            }
        } else if !config.dropping.is_empty() {
            Goal::Finish
        } else if self.left.rebuilds > 0 {
            self.left.rebuilds -= 1;
            begins = true;
            Goal::Serve
        } else {
            return Ok(false);
        };
        let order = Rebuild {
            goal,
            begins,
            replaces: begins && self.choices.one_in(4),
            wait: WAIT,
            accepts_quarantine: self.failed > 0 || self.choices.one_in(2),
            audit: self.choices.one_in(2).then_some(Duration::from_secs(1)),
            patience: Duration::ZERO,
        };
        let number = self.start(Invocation::order(&self.shared, order))?;
        self.operator = Some(number);
        self.note(|_| format!("invocation {number} carries out {order:?}"));
        self.shared.world().reached.count("order", order_name(order));
        self.poll(number).map(|()| true)
    }

    fn pause_rebuild(&mut self) -> Result<(), String> {
        let number = self.start(Invocation::pause_rebuild(&self.shared))?;
        self.operator = Some(number);
        self.note(|_| format!("invocation {number} pauses the rebuild"));
        self.shared.world().reached.count("event", "rebuild paused");
        self.poll(number)
    }

    pub(super) fn order_ended(&mut self, ended: Result<Generations, Fault>) {
        self.note(|_| format!("the order ends: {ended:?}"));
        self.operator = None;
        self.has_ended("order", ended.is_ok());
    }

    /// Starts a redrive.
    pub(super) fn redrive(&mut self) -> Result<(), String> {
        // Invocations of the release before may still send items to quarantine.
        self.redrives_all = self.invocations.is_empty() && self.shared.world().release.cured;
        let number = self.start(Invocation::redrive(&self.shared))?;
        self.redriver = Some(number);
        self.note(|_| format!("invocation {number} redrives"));
        self.shared.world().repairing.insert(number);
        self.poll(number)
    }

    pub(super) fn redrive_ended(&mut self, redriven: Result<Redriven, Fault>) {
        self.note(|_| format!("the redrive ends: {redriven:?}"));
        self.redriver = None;
        let well = redriven.is_ok_and(|redriven| redriven.repairs.failed == 0);
        self.needs_redrive &= !(well && self.redrives_all);
        self.has_ended("redrive", well);
    }

    pub(super) fn deploy(&mut self) {
        self.left.deployments -= 1;
        let raises = self.raises && self.choices.one_in(2);
        if raises && !self.shared.world().release.raised {
            self.note(|_| "a release is deployed that raises the mapping".to_owned());
            self.shared.world().release.raised = true;
            self.shared.world().reached.count("event", "mapping raised");
        } else {
            self.cure();
        }
    }

    /// Deploys a release that can index every item.
    pub(super) fn cure(&mut self) {
        if self.shared.world().release.cured {
            return;
        }
        self.note(|_| "a release is deployed that can index every item".to_owned());
        self.needs_redrive = true;
        let mut world = self.shared.world();
        world.release.cured = true;
        world.reached.count("event", "cured");
    }
}

fn order_name(order: Rebuild) -> &'static str {
    match order.goal {
        _ if order.replaces => "replace",
        Goal::Serve if order.audit.is_some() => "serve after an audit",
        Goal::Serve => "serve",
        Goal::Finish => "finish",
        Goal::RollBack => "roll back",
        Goal::Cancel => "cancel",
    }
}
