//! Orders about rebuilds: they begin, are stopped at any call, resume, finish, roll back and cancel.

use std::time::Duration;

use super::calls::{Call, Stage};
use super::explorer::Explorer;
use super::histories::Task;
use super::leaf::KEYS;
use super::state::{Role, State};
use crate::generation::Phase;
use crate::rebuild::{Goal, Rebuild};

impl Explorer {
    /// Starts an order if none is carried out. An order that was stopped may be given again at any time.
    pub(super) fn rebuild(&mut self, state: &State) {
        let Some(config) = state.world.config else { return };
        if state.has(|role| role == Role::Operator) {
            return self.stop(state);
        }
        let phase = |phase| state.world.phases().find(|(_, of)| *of == phase).map(|(number, _)| number);
        let (serving, kept) = (phase(Phase::Serving), phase(Phase::Kept));
        let is_cancelled = state.world.phases().next().is_none();
        let is_under_way =
            [Phase::Published, Phase::Filling, Phase::Audited].into_iter().any(|one| phase(one).is_some());
        let was_rolled_back = kept > serving;
        let is_dropping = config.stages.contains(&Stage::Dropping) && !is_under_way;
        // An order that poison keeps from its goal changes nothing until the poison is cured.
        let is_poisoned = |number: usize| state.world.is_scanned(number) && state.world.markers[number] != [None; KEYS];
        let is_hopeless = phase(Phase::Filling).is_some_and(is_poisoned);
        if is_under_way || was_rolled_back || is_cancelled {
            if !is_hopeless {
                self.order(state.clone(), Goal::Serve, false);
            }
            if state.left.cancels > 0 && (is_under_way || !is_cancelled) {
                let mut next = state.clone();
                next.left.cancels -= 1;
                self.order(next, Goal::Cancel, false);
            }
        } else if kept.is_some() || is_dropping {
            self.order(state.clone(), Goal::Finish, false);
        } else if state.left.rebuilds > 0 {
            let mut next = state.clone();
            next.left.rebuilds -= 1;
            self.order(next, Goal::Serve, true);
        }
        if state.left.rollbacks > 0 && kept.is_some() && !was_rolled_back {
            let mut next = state.clone();
            next.left.rollbacks -= 1;
            self.order(next, Goal::RollBack, false);
        }
    }

    fn order(&mut self, state: State, goal: Goal, begins: bool) {
        let replaces = self.scenario.replaces;
        let order = Rebuild {
            goal,
            begins,
            replaces,
            wait: Duration::from_secs(1),
            accepts_quarantine: false,
            audit: None,
            patience: Duration::ZERO,
        };
        let step = self.text(|| format!("an operator orders: {goal:?}"));
        let by_functions = self.scenario.by_functions && goal == Goal::Serve;
        let task = if by_functions { Task::RebuildByFunctions(order) } else { Task::Rebuild(order) };
        self.start(step, state, Role::Operator, task, self.scenario.clocks[0]);
    }

    /// Stops the order that is carried out. Its requests are lost, or carried out.
    fn stop(&mut self, state: &State) {
        let Some(place) = state.running.iter().position(|invocation| invocation.role == Role::Operator) else { return };
        if state.left.stops == 0 {
            return;
        }
        let waiting = &self.histories.get(state.running[place].history).waiting;
        let sent: Vec<Call> = waiting.iter().map(|(_, call)| call.clone()).filter(Call::is_write).collect();
        for carried in [false, true] {
            if carried && sent.is_empty() {
                continue;
            }
            let mut next = state.clone();
            next.left.stops -= 1;
            next.running.remove(place);
            next.running.iter_mut().for_each(|invocation| invocation.before_wait = false);
            let step = self.text(|| format!("the order is stopped, and its requests {sent:?} carried out: {carried}"));
            let broken = sent.iter().filter(|_| carried).find_map(|call| next.world.apply(call).err());
            match broken {
                Some(broken) => self.emit_broken(step, broken),
                None => self.emit(step, next),
            }
        }
    }
}
