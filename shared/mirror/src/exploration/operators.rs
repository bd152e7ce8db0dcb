//! What operators and time do: repairs, redrives, damages, sweeps, days that pass and deployments.

use super::calls::{Answer, Body, Call};
use super::explorer::{Clock, Explorer};
use super::histories::Task;
use super::state::{Invocation, Role, State};
use super::world::{Document, Index, Register};

impl Explorer {
    pub(super) fn operate(&mut self, state: &State) {
        self.repair(state);
        self.redrive(state);
        self.kill_redrive(state);
        self.damage(state);
        self.sweep(state);
        self.pass_a_day(state);
        if state.left.deploys > 0 {
            let mut next = state.clone();
            next.left.deploys -= 1;
            next.world.cured = true;
            let step = self.text(|| "code that can index the poison is deployed".to_owned());
            self.emit(step, next);
        }
        let forgotten = |index: &Index| index.registers.iter().any(|register| register.deleted.is_some());
        if state.world.indexes.iter().flatten().any(forgotten) {
            let mut next = state.clone();
            next.world.forget_deletes();
            let step = self.text(|| "OpenSearch forgets its deletes".to_owned());
            self.emit(step, next);
        }
    }

    /// Starts the repair of one key: as an operator pleases, or after a damage.
    fn repair(&mut self, state: &State) {
        if has_repair(state) || state.world.config.is_none() {
            return;
        }
        for key in 0..self.scenario.keys {
            let needed = state.damaged[key];
            let mut next = state.clone();
            if !needed {
                if state.left.repairs == 0 {
                    continue;
                }
                next.left.repairs -= 1;
            }
            next.damaged[key] = false;
            for clock in self.scenario.clocks {
                let step = self.text(|| format!("a repair of k{key} starts, clock {clock:?}"));
                self.start(step, next.clone(), Role::Repair { key, needed }, Task::Repair { key }, *clock);
            }
        }
    }

    /// Starts a redrive of what was given up, or of the items in quarantine after code was deployed that can index them.
    fn redrive(&mut self, state: &State) {
        let has_failures = !state.world.failures.is_empty();
        let cured = state.world.cured && (0..self.scenario.keys).any(|key| state.world.is_marked(key));
        if has_repair(state) || state.world.config.is_none() || !(has_failures || cured) {
            return;
        }
        let mut next = state.clone();
        if has_failures && state.left.early_redrives > 0 {
            next.left.early_redrives -= 1;
            self.start_redrive(&next, false);
            next.left.early_redrives += 1;
        }
        if !has_failures || self.wait_for_redrive(&mut next) {
            self.start_redrive(&next, has_failures);
        }
    }

    fn start_redrive(&mut self, state: &State, aged: bool) {
        for clock in self.scenario.clocks {
            let step = self.text(|| format!("a redrive starts, clock {clock:?}, 20 minutes later: {aged}"));
            self.start_aged(step, state.clone(), Role::Redrive, Task::Redrive, (*clock, aged));
        }
    }

    /// Kills a redrive. Its writes are lost, or carried out later.
    fn kill_redrive(&mut self, state: &State) {
        let Some(place) = state.running.iter().position(|one| one.role == Role::Redrive) else { return };
        if state.left.kills == 0 {
            return;
        }
        let mut next = state.clone();
        next.left.kills -= 1;
        let killed = next.running.remove(place);
        let waiting = &self.histories.get(killed.history).waiting;
        let sent: Vec<Call> = waiting.iter().map(|(_, call)| call.clone()).filter(Call::is_write).collect();
        let step = self.text(|| "the redrive is killed".to_owned());
        self.emit(step, next.clone());
        if !sent.is_empty() {
            next.late.extend(sent);
            let step = self.text(|| "the redrive is killed, and its writes are still under way".to_owned());
            self.emit(step, next);
        }
    }

    /// Lets 20 minutes pass after a record was given up: batches from before have ended, and other invocations do not
    /// use what they have read. Returns false if a write is still under way, which ends earlier.
    fn wait_for_redrive(&self, state: &mut State) -> bool {
        if !state.late.is_empty() {
            return false;
        }
        state.running.retain(|invocation| !(invocation.before_give_up && invocation.role == Role::Zombie));
        let waits_for_a_write = |invocation: &Invocation| {
            self.histories.get(invocation.history).waiting.iter().any(|(_, call)| call.is_write())
        };
        let mut before = state.running.iter_mut().filter(|invocation| invocation.before_give_up);
        before.all(|invocation| {
            invocation.before_give_up = false;
            invocation.aged = true;
            !waits_for_a_write(invocation)
        })
    }

    fn damage(&mut self, state: &State) {
        if state.left.damages == 0 || has_repair(state) {
            return;
        }
        for key in 0..self.scenario.keys {
            let Some(index) = &state.world.indexes[state.world.serving] else { continue };
            let document = index.registers[key].document;
            let damages: &[(&str, Option<Document>)] = match document {
                Some(Document { version, body: Body::Live { content, rev } }) => &[
                    ("is lost", None),
                    ("is corrupted", Some(Document { version, body: Body::Live { content: content + 100, rev } })),
                ],
                None if state.world.table[key].is_none() => {
                    &[("appears", Some(Document { version: 3, body: Body::Live { content: 99, rev: 3 } }))]
                }
                _ => &[],
            };
            for (how, damaged) in damages {
                let mut next = state.clone();
                next.left.damages -= 1;
                next.damaged[key] = true;
                if let Some(index) = &mut next.world.indexes[state.world.serving] {
                    let highest = damaged.map_or(0, |document| document.version);
                    index.registers[key] = Register { document: *damaged, deleted: None, highest };
                }
                let step = self.text(|| format!("fault: a document of k{key} {how}"));
                self.emit(step, next);
            }
        }
    }

    fn sweep(&mut self, state: &State) {
        if state.left.sweeps == 0 || state.has(|role| role == Role::Sweep) {
            return;
        }
        let mut next = state.clone();
        next.left.sweeps -= 1;
        let step = self.text(|| "a sweep starts".to_owned());
        self.start(step, next, Role::Sweep, Task::Sweep, Clock::Behind);
    }

    /// Lets a day pass. Records are delivered or given up within it, and requests are carried out or lost within
    /// minutes. One invocation may continue a day later, and zombies have ended.
    fn pass_a_day(&mut self, state: &State) {
        let waits_for_records = !state.world.stream.is_empty() || state.current().is_some() || !state.late.is_empty();
        let is_zombie = |place: &usize| state.running[*place].role == Role::Zombie;
        let (zombies, others): (Vec<usize>, Vec<usize>) = (0..state.running.len()).partition(is_zombie);
        if state.left.days == 0 || waits_for_records || others.len() > 1 {
            return;
        }
        if others.is_empty() {
            let mut next = state.clone();
            next.running.clear();
            next.pass_a_day();
            let step = self.text(|| "a day passes".to_owned());
            self.emit(step, next);
        }
        for survivor in if others.is_empty() { zombies } else { others } {
            for carried in [false, true] {
                self.survive_a_day(state, survivor, carried);
            }
        }
    }

    fn survive_a_day(&mut self, state: &State, survivor: usize, carried: bool) {
        let mut next = state.clone();
        next.running = vec![state.running[survivor].clone()];
        let mut answers = Vec::new();
        for (number, call) in self.histories.get(next.running[0].history).waiting.clone() {
            let answer = match call {
                Call::Expired => continue,
                // The write has a stream record, which would be delivered within the day.
                Call::Stamp { .. } if carried => return,
                call if carried => next.world.apply(&call).unwrap_or(Answer::Failed),
                _ => Answer::Failed,
            };
            answers.push((number, answer));
        }
        next.pass_a_day();
        let step = self.text(|| format!("a day passes, then {:?} gets {answers:?}", next.running[0].role));
        let Some((last, of_last)) = answers.pop() else { return };
        for (number, answer) in answers {
            self.give(&mut next, 0, number, answer);
        }
        self.answer(step, next, 0, last, of_last);
    }
}

fn has_repair(state: &State) -> bool {
    state.has(|role| matches!(role, Role::Repair { .. } | Role::Redrive))
}
