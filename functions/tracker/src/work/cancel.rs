//! `DELETE /tracker/tenants/{tenantId}/work/{workId}`: an import or an export ends, and what it has written stays. The
//! worker of a running import ends it and counts what it has written. Any other job ends at once.

use table::{Access, Action, Changes, EntityKey, Error, item};
use web::{Accepted, Context, Either, Kind as ProblemKind, NoContent, Path, Problem, Route, Sample, problem};

use super::line::in_seconds;
use super::routes::{ONE, WorkPath, WorkView, accepted};
use super::{KEPT, Kind, Work, WorkState};
use crate::access::{CANCEL_WORK, MEMBERSHIP};
use crate::attributes::refusal;
use crate::authorization::{SIGNED_IN, TenantAccess};
use crate::items::Role;
use crate::keys::{WorkDueKey, WorkKey};
use crate::schema::TRACKER;

pub const NOT_CANCELLABLE: ProblemKind = ProblemKind::new(409, "not-cancellable", "This job cannot be cancelled");

pub fn route() -> Route {
    Route::delete("cancelWork", ONE, SIGNED_IN, cancel)
        .summary("Cancel an import or an export; what it has written stays")
        .patterns(&[&MEMBERSHIP, &CANCEL_WORK])
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, NOT_CANCELLABLE, problem::CONFLICT])
        .sample(Sample::new("/tracker/tenants/tenant-0807/work/work-0002"))
}

async fn cancel(cx: Context, Path(path): Path<WorkPath>) -> Result<Either<NoContent, Accepted<WorkView>>, Problem> {
    let caller = TenantAccess::load(&cx, path.tenant_id).await?;
    let (access, key) = (cx.access(), WorkKey { tenant: path.tenant_id, work: path.work_id });
    cx.retry(|| async {
        let stored = access.table(&CANCEL_WORK, &TRACKER).get_consistent(key.key()).await?;
        let stored = stored.ok_or_else(Problem::not_found)?;
        let before: Work = stored.read()?;
        if !caller.has(Role::Editor) && before.created_by.as_deref() != Some(caller.me.as_str()) {
            let detail = "This operation is for editors of the tenant and for the person who created the job.";
            return Err(Problem::forbidden(detail));
        }
        if !matches!(before.kind, Kind::Import | Kind::Export) {
            return Err(NOT_CANCELLABLE.because("Only imports and exports can be cancelled."));
        }
        if before.state == WorkState::Cancelled {
            return Ok(Either::First(NoContent));
        }
        if !before.state.is_open() {
            return Err(NOT_CANCELLABLE.because("The job has ended already."));
        }
        if (before.kind, before.state) == (Kind::Import, WorkState::Running) {
            let cancelling = Changes::new().set("State", item::text("cancelling"));
            let update = Action::update(&TRACKER, stored.key.clone(), cancelling).if_unchanged(&stored);
            return match access.write(&CANCEL_WORK, update).await {
                Ok(_) => {
                    let cancelling = Work { state: WorkState::Cancelling, ..before };
                    Ok(Either::Second(accepted(path.tenant_id, path.work_id, cancelling)))
                }
                // The job was written since it was read.
                Err(Error::ConditionFailed(_) | Error::NotFound) => Err(Problem::stale()),
                Err(error) => Err(error.into()),
            };
        }
        if before.state == WorkState::Cancelling {
            return Ok(Either::Second(accepted(path.tenant_id, path.work_id, before)));
        }
        let after = cancelled(access, &before);
        // A worker that finds no due row leaves the job.
        let due = Action::delete(&TRACKER, WorkDueKey { work: path.work_id }).or_absent();
        let update = Action::update(&TRACKER, stored.key.clone(), Changes::between(&before, &after)?);
        let mut actions = vec![update.if_unchanged(&stored), due];
        actions.extend(before.gives_back(path.tenant_id));
        access.transact(&CANCEL_WORK, &actions).await.map_err(refusal)?;
        Ok(Either::First(NoContent))
    })
    .await
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
