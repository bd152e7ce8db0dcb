//! `DELETE` of work: an import or an export ends; what it has written stays.

use table::{Access, Action, Changes, EntityKey, Error};
use web::{Answer, Kind as ProblemKind, Problem, Request};

use super::begin::in_seconds;
use super::routes::WorkPath;
use super::{KEPT, Kind, Work, WorkState};
use crate::access::CANCEL_WORK;
use crate::callers::at_least;
use crate::items::Role;
use crate::keys::{WorkDueKey, WorkKey};
use crate::schema::TRACKER;

pub const NOT_CANCELLABLE: ProblemKind = ProblemKind::new(409, "not-cancellable", "This work cannot be cancelled");

/// How often it is read anew because its worker was faster.
const TRIES: usize = 20;

pub async fn cancel(request: Request) -> Result<Answer, Problem> {
    let WorkPath { tenant_id, work_id } = request.path()?;
    at_least(&request, tenant_id, Role::Editor).await?;
    let (access, key) = (request.access(), WorkKey { tenant: tenant_id, work: work_id });
    for _ in 0..TRIES {
        let stored = access.table(&CANCEL_WORK, &TRACKER).get_consistent(key.key()).await?;
        let stored = stored.ok_or_else(Problem::not_found)?;
        let before: Work = stored.read()?;
        if !matches!(before.kind, Kind::Import | Kind::Export) {
            return Err(NOT_CANCELLABLE.because("Only imports and exports can be cancelled."));
        }
        if before.state == WorkState::Cancelled {
            return Ok(Answer::no_content());
        }
        if !before.state.is_open() {
            return Err(NOT_CANCELLABLE.because("It has ended already."));
        }
        let after = cancelled(access, &before);
        // Whoever works on it finds its due row gone, and leaves it.
        let due = Action::delete(&TRACKER, WorkDueKey { work: work_id }).or_absent();
        let change = Action::update(&TRACKER, stored.key.clone(), Changes::between(&before, &after)?);
        match access.transact(&CANCEL_WORK, &[change.if_unchanged(&stored), due]).await {
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
        ..work.clone()
    }
}
