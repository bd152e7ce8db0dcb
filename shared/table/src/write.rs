//! Writes and transactions: their revisions, retries after conflicts, and clocks that are behind.

use crate::access::{Access, AccessPattern};
use crate::action::Action;
use crate::attempt::{Attempt, Refusal, unknown};
use crate::backoff::Backoff;
use crate::error::{Cause, Error, Failed};
use crate::item::{self, Item};
use crate::rev::Rev;

impl Access {
    /// Carries out one action, and returns the item's new revision.
    ///
    /// Fails with [`Error::NotFound`], [`Error::Exists`] or [`Error::Stale`], or with [`Error::ConditionFailed`] if one
    /// of the action's own conditions does not hold.
    pub async fn write(&self, pattern: &'static AccessPattern, action: Action) -> Result<Rev, Error> {
        self.carry_out(pattern, &[action]).await.map_err(of_single)
    }

    /// Carries out all of up to 100 actions or none, and returns the new revision of all their items. Each action must
    /// be on an item of its own. Fails with [`Error::ConditionFailed`], which has every action whose condition failed.
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
            // A request that may have been carried out must be repeated without any change.
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

/// The error of a write of one item: the cause of its only action, where that says enough.
fn of_single(error: Error) -> Error {
    match error {
        Error::ConditionFailed(failed) => match failed.as_slice() {
            [Failed { cause: Cause::Missing, .. }] => Error::NotFound,
            [Failed { cause: Cause::Exists, .. }] => Error::Exists,
            [Failed { cause: Cause::Stale, item, .. }] => Error::Stale { current: item.as_ref().and_then(item::rev) },
            _ => Error::ConditionFailed(failed),
        },
        other => other,
    }
}

/// Returns the actions that failed, without those that only need a higher revision.
fn failures(actions: &[Action], found: &[(usize, Option<Item>)], seconds: i64) -> Vec<Failed> {
    let failure = |(index, item): &(usize, Option<Item>)| {
        let Some(action) = actions.get(*index) else {
            crate::never!("DynamoDB reports action {index} of {}", actions.len());
            return None;
        };
        let cause = action.cause(item.as_ref(), seconds)?;
        Some(Failed { index: *index, cause, item: item.clone() })
    };
    found.iter().filter_map(failure).collect()
}
