//! `DELETE /agencies/{agencyId}`: the agency is marked first, which hides it and closes its gate, then a job deletes its
//! items, and the agency itself last.

use jobs::{DoneOrAccepted, Start, finish, resume};
use serde::Deserialize;
use table::{Action, Changes, Condition, Error, item};
use utoipa::ToSchema;
use web::{Context, IfMatch, Path, Problem, Query, Route, Sample, problem};

use super::{AgencyPath, ONE};
use crate::access::{AUTHORIZATION, DELETION, JOB, LEASE, MARK_DELETION};
use crate::audit::Audit;
use crate::authorization::{AgencyAccess, SIGNED_IN};
use crate::item::Gate;
use crate::jobs::{AgencyJobs, Details, Job, Kind, NewJob};
use crate::keys::{agency_key, gate_key};
use crate::schema::AGENCIES;

#[derive(Debug, Deserialize, ToSchema)]
pub struct DeleteQuery {
    /// Deletes its members, too.
    #[serde(default)]
    cascade: bool,
}

pub fn route() -> Route {
    Route::delete("deleteAgency", ONE, SIGNED_IN, delete)
        .summary("Delete an agency and, with `cascade=true`, its members; the same request again resumes a deletion")
        .patterns(&[&AUTHORIZATION, &MARK_DELETION, &JOB, &LEASE, &DELETION])
        .timeout(web::route::MAX_TIMEOUT)
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, problem::HAS_DEPENDENTS, problem::CONFLICT])
        .sample(Sample::new("/agencies/01890a5d-ac96-774b-bcce-b302099a8057?cascade=true"))
}

async fn delete(
    cx: Context,
    Path(path): Path<AgencyPath>,
    Query(query): Query<DeleteQuery>,
    tag: IfMatch,
) -> Result<DoneOrAccepted<AgencyJobs>, Problem> {
    // After a lost race the agency may have the mark of another request.
    cx.retry_stale(&tag, || async {
        let access = AgencyAccess::load_also_deleted(&cx, &path.agency_id).await?;
        // To other callers an agency that is being deleted is absent.
        if access.agency.is_being_deleted() && !access.is_platform_admin {
            return Err(Problem::not_found());
        }
        access.require_platform_admin()?;
        if let Some(job) = access.agency.deletion {
            return resume::<AgencyJobs>(&cx, &path.agency_id, job).await;
        }
        tag.check(access.tag())?;
        let job = mark(&cx, &access, query.cascade).await?;
        Ok(finish(&cx, job.lease()).await)
    })
    .await
}

/// Removes the agency from every list, closes its gate to new members, and creates the job.
async fn mark(cx: &Context, access: &AgencyAccess, cascade: bool) -> Result<NewJob, Problem> {
    let audit = Audit::now(cx)?;
    let id = &access.agency.agency_id;
    let job = Job::new(cx.access(), Kind::DeleteAgency, Details { agency_id: id.clone() }, Some(audit.by.clone()));
    let job = NewJob::new(cx.access(), id.clone(), job, Start::Leased)?;
    let changes = Changes::new()
        .remove("type")
        .set("deletion", item::text(job.id.to_string()))
        .set("modified", item::text(audit.modified_after(&access.agency.modified)))
        .set("modifiedBy", item::text(&audit.by));
    let marked = Action::update(&AGENCIES, agency_key(id), changes).if_unchanged(&access.stored);
    let closed = Changes::new().set("closed", item::flag(true));
    let mut gate = Action::update(&AGENCIES, gate_key(id), closed);
    if !cascade {
        gate = gate.when(Condition::Equals("members", item::number(0)));
    }
    let [create, create_due] = job.actions.clone();
    let actions = [marked.when(Condition::Absent("deletion")), gate, create, create_due];
    match cx.access().transact(&MARK_DELETION, &actions).await {
        Ok(_) => Ok(job),
        Err(error) => match (error.failed(0), error.failed(1).and_then(|failed| failed.item.clone())) {
            (None, Some(gate)) => {
                let gate: Gate = item::from_item(gate)?;
                Err(Problem::has_dependents(&[("members", gate.members)]))
            }
            (Some(_), _) => Err(Problem::stale()),
            _ => Err(missing(error)),
        },
    }
}

fn missing(error: Error) -> Problem {
    match error {
        Error::ConditionFailed(_) => Problem::not_found(),
        error => error.into(),
    }
}
