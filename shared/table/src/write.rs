//! Carrying out actions: revisions, conflicts, and a clock that is behind.

use crate::access::{Access, AccessPattern};
use crate::action::Action;
use crate::attempt::{Attempt, Refusal, unknown};
use crate::backoff::Backoff;
use crate::error::{Error, Failed};
use crate::item::{self, Item};
use crate::rev::Rev;

impl Access {
    /// Does one action, and returns the revision that its item now carries.
    ///
    /// [`Error::NotFound`], [`Error::Exists`] and [`Error::Stale`] say why it could not be done;
    /// [`Error::ConditionFailed`] that one of its own conditions did not hold.
    pub async fn write(&self, pattern: &'static AccessPattern, action: Action) -> Result<Rev, Error> {
        self.carry_out(pattern, &[action]).await.map_err(Error::of_single)
    }

    /// Does all of up to 100 actions or none, and returns the revision that all their items now carry. No two may
    /// name one item. [`Error::ConditionFailed`] names every action that could not be done.
    pub async fn transact(&self, pattern: &'static AccessPattern, actions: &[Action]) -> Result<Rev, Error> {
        self.carry_out(pattern, actions).await
    }

    async fn carry_out(&self, pattern: &'static AccessPattern, actions: &[Action]) -> Result<Rev, Error> {
        for action in actions {
            action.check_key()?;
            self.permit(pattern, action.call())?;
        }
        let clock = &self.engines().clock;
        let mut seen = actions.iter().filter_map(Action::seen_rev).max();
        let mut attempt = Attempt::new(seen, clock.micros());
        let mut backoff = Backoff::new();
        loop {
            let refusal = match attempt.send(self, pattern, actions).await {
                Ok(()) => return Ok(attempt.rev),
                Err(refusal) => refusal,
            };
            // What may be done or at work already must be asked for again exactly as it was.
            let unsure = match &refusal {
                Refusal::InProgress => true,
                Refusal::Busy(_) => attempt.may_be_done(),
                _ => false,
            };
            let reason = match refusal {
                Refusal::Final(error) => return Err(error),
                Refusal::Busy(error) => error,
                Refusal::InProgress => Error::Conflict,
                Refusal::Conditions(found) => {
                    let failed = failures(actions, &found, attempt.seconds);
                    if !failed.is_empty() {
                        return Err(Error::ConditionFailed(failed));
                    }
                    seen = found.iter().filter_map(|(_, item)| item::rev(item.as_ref()?)).chain(seen).max();
                    Error::Conflict
                }
            };
            if !backoff.wait().await {
                return Err(if unsure { unknown() } else { reason });
            }
            if !unsure {
                attempt = Attempt::new(seen, clock.micros());
            }
        }
    }
}

/// The actions that cannot be done: not those for which only a higher revision is needed.
fn failures(actions: &[Action], found: &[(usize, Option<Item>)], seconds: i64) -> Vec<Failed> {
    let failure = |(index, item): &(usize, Option<Item>)| {
        let cause = actions.get(*index)?.cause(item.as_ref(), seconds)?;
        Some(Failed { index: *index, cause, item: item.clone() })
    };
    found.iter().filter_map(failure).collect()
}
