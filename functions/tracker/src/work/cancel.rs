//! `DELETE` of work: an import or an export ends; what it has written stays. An import at work is ended by its worker, who
//! counts what it has written; all else ends at once.

use table::{Access, Action, Changes, EntityKey, Error, item};
use web::{Answer, Kind as ProblemKind, Problem, Request};

use super::begin::in_seconds;
use super::routes::{WorkPath, accepted};
use super::{KEPT, Kind, Work, WorkState};
use crate::access::CANCEL_WORK;
use crate::callers::{me, role};
use crate::items::Role;
use crate::keys::{WorkDueKey, WorkKey};
use crate::schema::TRACKER;

pub const NOT_CANCELLABLE: ProblemKind = ProblemKind::new(409, "not-cancellable", "This work cannot be cancelled");

/// How often it is read anew because its worker was faster.
const TRIES: usize = 20;

pub async fn cancel(request: Request) -> Result<Answer, Problem> {
    let WorkPath { tenant_id, work_id } = request.path()?;
    let role = role(&request, tenant_id).await?.ok_or_else(Problem::not_found)?;
    let me = me(&request)?;
    let (access, key) = (request.access(), WorkKey { tenant: tenant_id, work: work_id });
    for _ in 0..TRIES {
        let stored = access.table(&CANCEL_WORK, &TRACKER).get_consistent(key.key()).await?;
        let stored = stored.ok_or_else(Problem::not_found)?;
        let before: Work = stored.read()?;
        if role < Role::Editor && before.created_by.as_deref() != Some(me.as_str()) {
            return Err(Problem::forbidden("This needs an editor of the tenant, or whoever began the work."));
        }
        if !matches!(before.kind, Kind::Import | Kind::Export) {
            return Err(NOT_CANCELLABLE.because("Only imports and exports can be cancelled."));
        }
        if before.state == WorkState::Cancelled {
            return Ok(Answer::no_content());
        }
        if !before.state.is_open() {
            return Err(NOT_CANCELLABLE.because("It has ended already."));
        }
        if (before.kind, before.state) == (Kind::Import, WorkState::Running) {
            let cancelling = Changes::new().set("State", item::text("cancelling"));
            let change = Action::update(&TRACKER, stored.key.clone(), cancelling).if_unchanged(&stored);
            match access.write(&CANCEL_WORK, change).await {
                Ok(_) | Err(Error::Stale { .. } | Error::ConditionFailed(_) | Error::NotFound) => continue,
                Err(error) => return Err(error.into()),
            }
        }
        if before.state == WorkState::Cancelling {
            return Ok(accepted(tenant_id, work_id, before));
        }
        let after = cancelled(access, &before);
        // Whoever works on it finds its due row gone, and leaves it.
        let due = Action::delete(&TRACKER, WorkDueKey { work: work_id }).or_absent();
        let change = Action::update(&TRACKER, stored.key.clone(), Changes::between(&before, &after)?);
        let mut actions = vec![change.if_unchanged(&stored), due];
        actions.extend(before.gives_back(tenant_id));
        match access.transact(&CANCEL_WORK, &actions).await {
            Ok(_) => return Ok(Answer::no_content()),
            Err(Error::ConditionFailed(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(Problem::conflict())
}

fn cancelled(access: &Access, work: &Work) -> Work {
    Work {
        state: WorkState::Cancelled,
        ended_at: Some(in_seconds(access, 0)),
        expires: Some(access.engines().clock.seconds() + KEPT),
        places: None,
        ..work.clone()
    }
}
