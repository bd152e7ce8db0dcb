//! The event source, and the answers that invocations get.

use super::calls::{Answer, Call, Operation};
use super::explorer::Explorer;
use super::failures::Failure;
use super::histories::Task;
use super::state::{Role, State};

/// The ticks of the 20 hours after which Lambda gives a record up: more than any stamp is ahead of the writers' clocks.
const TWENTY_HOURS: u8 = 16;

impl Explorer {
    /// Delivers a batch of any length, gives it up, or stops waiting for one.
    pub(super) fn deliver(&mut self, state: &State) {
        if let Some(place) = state.current() {
            if state.left.zombies > 0 {
                let mut next = state.clone();
                next.left.zombies -= 1;
                next.running[place].role = Role::Zombie;
                let step = self.text(|| "the event source does not wait for the batch any more".to_owned());
                self.emit(step, next);
            }
            return;
        }
        for count in 1..=state.world.stream.len().min(self.scenario.batch) {
            let records = state.world.stream[..count].to_vec();
            for clock in self.scenario.clocks {
                let step = self.text(|| format!("a batch is received, clock {clock:?}: {records:?}"));
                self.start(step, state.clone(), Role::Current, Task::Batch(records.clone()), *clock);
            }
            if state.left.give_ups > 0 {
                let mut next = state.clone();
                next.left.give_ups -= 1;
                next.world.stream.drain(..count);
                next.running.iter_mut().for_each(|invocation| invocation.before_give_up = true);
                let number = self.scenario.left.give_ups - next.left.give_ups;
                let failure = Failure { number, records: records.clone(), since: next.world.time(0) };
                next.world.failures.push(failure);
                next.world.tick += TWENTY_HOURS;
                let step = self.text(|| format!("records are given up: {records:?}"));
                self.emit(step, next);
            }
        }
    }

    /// Answers one of the calls that an invocation waits for, in each possible way.
    pub(super) fn continue_invocation(&mut self, state: &State, place: usize) {
        let role = state.running[place].role;
        for (number, call) in self.histories.get(state.running[place].history).waiting.clone() {
            match call {
                Call::Expired => self.expire(state, place, number),
                Call::Wait => self.wait_for_batches(state, place, number),
                call => {
                    self.carry_out(state, place, number, &call);
                    // A zombie's request that fails is a request that comes later.
                    if state.left.faults > 0 && role != Role::Zombie {
                        self.fail(state, place, number, &call);
                    }
                }
            }
        }
    }

    /// Ends an operator's wait, if the event source waits for no batch from before it. Zombies from before have ended.
    fn wait_for_batches(&mut self, state: &State, place: usize, number: usize) {
        if state.lives_from_before_the_wait() {
            return;
        }
        let mut next = state.clone();
        let operator = next.running.remove(place);
        next.running.retain(|invocation| !invocation.before_wait);
        next.running.push(operator);
        let place = next.running.len() - 1;
        let step = self.text(|| "every batch from before the wait has ended".to_owned());
        self.answer(step, next, place, number, Answer::Done);
    }

    fn carry_out(&mut self, state: &State, place: usize, number: usize, call: &Call) {
        let who = state.running[place].role;
        let mut next = state.clone();
        let answered = next.world.apply(call);
        let step = self.text(|| format!("{who:?} {call:?}: {answered:?}"));
        match answered {
            Ok(answer) => self.answer(step, next, place, number, answer),
            Err(broken) => self.emit_broken(step, broken),
        }
    }

    /// Lets a request fail: before it is carried out, after that, or in part.
    fn fail(&mut self, state: &State, place: usize, number: usize, call: &Call) {
        let who = state.running[place].role;
        let mut before = state.clone();
        before.left.faults -= 1;
        let mut fates = vec![("is lost", before.clone(), Answer::Failed)];
        let mut after = before.clone();
        if call.is_write() && after.world.apply(call).is_ok() && after != before {
            fates.push(("is carried out and its answer is lost", after, Answer::Failed));
        }
        if let Call::Bulk { generation, operations } = call {
            fates.push(("is answered 403", before.clone(), Answer::Whole(403)));
            for refused in 0..operations.len() {
                let mut part = before.clone();
                if let Ok(answer) = part.world.bulk(*generation, operations, |place| place != refused) {
                    fates.push(("is answered 429 in part", part.clone(), answer));
                    if operations.len() > 1 && operations[0] != Operation::RequireAlias {
                        fates.push(("is carried out in part and its answer is lost", part, Answer::Failed));
                    }
                }
            }
        }
        for (fate, next, answer) in fates {
            let step = self.text(|| format!("{who:?} {call:?}: the request {fate}"));
            self.answer(step, next, place, number, answer);
        }
    }

    /// Ends the time of an invocation. Its writes are lost, or carried out later.
    fn expire(&mut self, state: &State, place: usize, number: usize) {
        if state.left.expiries == 0 || state.running[place].role != Role::Current {
            return;
        }
        let mut next = state.clone();
        next.left.expiries -= 1;
        let waiting = &self.histories.get(next.running[place].history).waiting;
        let sent: Vec<Call> = waiting.iter().map(|(_, call)| call.clone()).filter(Call::is_write).collect();
        for late in [false, true] {
            if late && sent.is_empty() {
                continue;
            }
            let mut next = next.clone();
            if late {
                next.late.extend(sent.iter().cloned());
            }
            let step = self.text(|| format!("the batch has no time left; its writes are still under way: {late}"));
            self.answer(step, next, place, number, Answer::Done);
        }
    }

    pub(super) fn carry_out_late(&mut self, state: &State) {
        for place in 0..state.late.len() {
            let mut next = state.clone();
            let call = next.late.remove(place);
            let answered = next.world.apply(&call);
            let step = self.text(|| format!("late, an ended batch {call:?}: {answered:?}"));
            match answered {
                Ok(_) => self.emit(step, next),
                Err(broken) => self.emit_broken(step, broken),
            }
        }
    }
}

impl Call {
    /// Whether it may change the world.
    pub(super) const fn is_write(&self) -> bool {
        matches!(
            self,
            Self::Publish(_)
                | Self::Bulk { .. }
                | Self::Stamp { .. }
                | Self::Mark { .. }
                | Self::Clear { .. }
                | Self::ClearSeen { .. }
                | Self::Create { .. }
                | Self::Swap { .. }
                | Self::Delete { .. }
                | Self::Forget { .. }
                | Self::Save { .. }
                | Self::DeleteFailure { .. }
        )
    }
}
