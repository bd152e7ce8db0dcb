//! Work that this run holds: its record and its due row, as its last write left them.

use table::{Access, Action, Changes, Condition, EntityKey, Error, Key, item};

use super::line::{self, in_seconds, lease};
use super::{Begun, Due, KEPT, SHOWN, Step, Then, Work, WorkState};
use crate::access::DUE;
use crate::keys::{WorkDueKey, WorkKey};
use crate::names::{TenantId, WorkId};
use crate::schema::{DATA, TRACKER};

#[derive(Debug)]
pub struct Held {
    pub tenant: TenantId,
    pub id: WorkId,
    pub work: Work,
    /// Where its due row stands, which nobody else moves while it is there.
    due: String,
}

/// Takes what a due row waits for, by moving the row on to the end of the lease; gives its owner and where it stands then.
/// Nothing if it is not due, or somebody else was faster.
pub async fn take_due(access: &Access, due: Key) -> Result<Option<(Key, String)>, Error> {
    let Some(stored) = access.table(&DUE, &TRACKER).get_consistent(due.clone()).await? else { return Ok(None) };
    let Due { data, owner } = stored.read()?;
    if line::time(&data) > in_seconds(access, 0).as_str() {
        return Ok(None);
    }
    let until = line::moved(&data, &lease(access));
    let moved = Action::update(&TRACKER, due, Changes::new().set(DATA, item::text(until.as_str())));
    match access.write(&DUE, moved.when(Condition::Equals(DATA, item::text(data)))).await {
        Ok(_) => Ok(Some((owner, until))),
        Err(Error::NotFound | Error::ConditionFailed(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

impl Held {
    /// The lease that the maker of work holds.
    pub fn made(tenant: TenantId, begun: Begun) -> Self {
        Self { tenant, id: begun.id, work: begun.work, due: begun.due }
    }

    /// Takes work by its due row; nothing if it is not due, has ended, or somebody else was faster.
    pub async fn take(access: &Access, id: WorkId) -> Result<Option<Self>, Error> {
        let Some((owner, until)) = take_due(access, WorkDueKey { work: id }.key()).await? else { return Ok(None) };
        let Some(WorkKey { tenant, .. }) = WorkKey::parse(&owner) else {
            return Err(Error::Misfit(format!("a due row that waits for {owner:?}")));
        };
        let work = access.table(&DUE, &TRACKER).get_consistent(owner).await?;
        let Some(work) = work else { return Ok(None) };
        Ok(Some(Self { tenant, id, work: work.read()?, due: until }))
    }

    /// Takes work that waits for its file, which has come; nothing if it does not wait any more.
    pub async fn start(access: &Access, id: WorkId) -> Result<Option<Self>, Error> {
        let due = WorkDueKey { work: id }.key();
        let Some(stored) = access.table(&DUE, &TRACKER).get_consistent(due.clone()).await? else { return Ok(None) };
        let Due { data, owner } = stored.read()?;
        let Some(WorkKey { tenant, .. }) = WorkKey::parse(&owner) else {
            return Err(Error::Misfit(format!("a due row that waits for {owner:?}")));
        };
        let Some(work) = access.table(&DUE, &TRACKER).get_consistent(owner.clone()).await? else { return Ok(None) };
        let work: Work = work.read()?;
        if work.state != WorkState::Waiting {
            return Ok(None);
        }
        let until = line::stand(tenant, WorkState::Running, &lease(access));
        let moved = Action::update(&TRACKER, due, Changes::new().set(DATA, item::text(until.as_str())));
        let running = Action::update(&TRACKER, owner, Changes::new().set("State", item::text("running")));
        let actions = [
            moved.when(Condition::Equals(DATA, item::text(data))),
            running.when(Condition::Equals("State", item::text("waiting"))),
        ];
        match access.transact(&DUE, &actions).await {
            Ok(_) => Ok(Some(Self { tenant, id, work: Work { state: WorkState::Running, ..work }, due: until })),
            Err(Error::ConditionFailed(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes a batch with the checkpoint after it. False if somebody else holds the work now.
    pub async fn carry_out(&mut self, access: &Access, step: Step) -> Result<bool, Error> {
        let Step { mut actions, checkpoint, counts, then, reason, faults, anew } = step;
        let mut after = Work { checkpoint, counts, reason, ..self.work.clone() };
        if anew {
            after.faults.clear();
        } else {
            let room = SHOWN.saturating_sub(after.faults.len());
            after.faults.extend(faults.into_iter().take(room));
        }
        let due = Action::delete(&TRACKER, WorkDueKey { work: self.id });
        let (due, until) = match then {
            Then::More => {
                after.state = WorkState::Running;
                self.moved_to(after.state, &lease(access))
            }
            Then::Wait(seconds) => self.moved_to(after.state, &in_seconds(access, seconds)),
            Then::Done | Then::Stopped | Then::Rejected | Then::Cancelled => {
                after.state = match then {
                    Then::Rejected => WorkState::Rejected,
                    Then::Stopped => WorkState::Stopped,
                    Then::Cancelled => WorkState::Cancelled,
                    _ => WorkState::Done,
                };
                after.ended_at = Some(in_seconds(access, 0));
                after.expires = Some(access.engines().clock.seconds() + KEPT);
                after.places = None;
                (due, String::new())
            }
        };
        let own = actions.len();
        actions.push(due.when(Condition::Equals(DATA, item::text(self.due.as_str()))));
        let changes = Changes::between(&self.work, &after)?;
        actions.push(Action::update(&TRACKER, WorkKey { tenant: self.tenant, work: self.id }, changes));
        if !after.state.is_open() {
            actions.extend(self.work.gives_back(self.tenant));
        }
        match access.transact(self.work.kind.step(), &actions).await {
            Ok(_) => {
                (self.work, self.due) = (after, until);
                Ok(true)
            }
            Err(error) if error.failed(own).is_some() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Learns whether it is to be cancelled: its record says so, and a checkpoint leaves that as it is.
    pub async fn look(&mut self, access: &Access) -> Result<(), Error> {
        let key = WorkKey { tenant: self.tenant, work: self.id };
        if let Some(stored) = access.table(&DUE, &TRACKER).get_consistent(key.key()).await?
            && stored.read::<Work>()?.state == WorkState::Cancelling
        {
            self.work.state = WorkState::Cancelling;
        }
        Ok(())
    }

    /// Lets go of it, so that the next run need not wait for the lease's end.
    pub async fn release(self, access: &Access) -> Result<(), Error> {
        let (due, _) = self.moved_to(self.work.state, &in_seconds(access, 0));
        let due = due.when(Condition::Equals(DATA, item::text(self.due.as_str())));
        match access.write(&DUE, due).await {
            Ok(_) | Err(Error::NotFound | Error::ConditionFailed(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn moved_to(&self, state: WorkState, time: &str) -> (Action, String) {
        let until = line::stand(self.tenant, state, time);
        let changes = Changes::new().set(DATA, item::text(until.as_str()));
        (Action::update(&TRACKER, WorkDueKey { work: self.id }, changes), until)
    }
}
