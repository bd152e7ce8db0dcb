//! `PUT /tracker/tenants/{tenantId}/projects/{projectId}/next-number`: sets the number of the project's next issue.
//!
//! Only this route allows a skipped number, or the number of a deleted issue, to be allocated again. A lower number
//! raises the project's schema revision, so the gates refuse the write of a request that has allocated a number before,
//! and the request allocates another one. A job lowers the counter once the index shows all earlier writes, unless
//! another number was allocated meanwhile.

use jobs::{Counts, DoneOrAccepted, Start, Step, Then, Worker};
use serde::{Deserialize, Serialize};
use table::{Access, AccessPattern, Action, Condition, EntityKey, Error, Stored, item};
use utoipa::ToSchema;
use web::{
    Context, Either, Fault, IfMatch, Json, Kind as ProblemKind, NoContent, Path, Problem, Route, Sample, problem,
};

use super::MAX_NUMBER;
use crate::access::{ATTRIBUTE_STEP, MEMBERSHIP, OPEN_JOBS, PROJECT, SET_NEXT_NUMBER, TOTALS};
use crate::attributes::{gate_actions, project_action, refusal};
use crate::authorization::{SIGNED_IN, TenantAccess};
use crate::jobs::{Details, Job, Kind, LAG, Lease, NewJob, TrackerJobs, imports_are_open};
use crate::keys::CounterKey;
use crate::names::ProjectId;
use crate::project::{Consistency, Gates, Schema};
use crate::projects::{ProjectPath, counter};
use crate::schema::{DATA, INDEX, TRACKER};
use crate::values::number_of;

pub const NUMBERS_IN_USE: ProblemKind = ProblemKind::new(409, "numbers-in-use", "Numbers of the project are in use");

/// The number of a project's next issue.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NextNumber {
    /// Above the numbers of all issues of the project.
    #[schema(minimum = 1, maximum = 1_000_000_000_000_i64)]
    number: u64,
}

/// The checkpoint of the job: the counter before it, and the counter that it sets.
#[derive(Deserialize, Serialize)]
struct Checkpoint {
    given: u64,
    last: u64,
}

pub fn route() -> Route {
    let template = "/tracker/tenants/{tenantId}/projects/{projectId}/next-number";
    Route::put("setNextNumber", template, SIGNED_IN, set)
        .summary(
            "Set the number of a project's next issue, above the numbers of all its issues; the entity tag is the \
             project's",
        )
        .patterns(&[&MEMBERSHIP, &PROJECT, &TOTALS, &OPEN_JOBS, &SET_NEXT_NUMBER])
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, problem::TAKEN, NUMBERS_IN_USE, problem::CONFLICT])
        .sample(Sample::new("/tracker/tenants/tenant-0807/projects/project-35e9/next-number").body(r#"{"number":100}"#))
}

async fn set(
    cx: Context,
    Path(path): Path<ProjectPath>,
    tag: IfMatch,
    Json(NextNumber { number }): Json<NextNumber>,
) -> Result<DoneOrAccepted<TrackerJobs>, Problem> {
    let caller = TenantAccess::load(&cx, path.tenant_id).await?;
    caller.require_admin()?;
    let (access, project, last) = (cx.access(), path.project_id, number.saturating_sub(1).min(MAX_NUMBER));
    cx.retry_stale(&tag, || async {
        let schema = path.load(&cx, Consistency::Strong).await?;
        tag.check(schema.stored.rev)?;
        let counters = access.table(&SET_NEXT_NUMBER, &TRACKER);
        let stored = counters.get_consistent(CounterKey { project }.key()).await?;
        let given = stored.as_ref().and_then(last_number).ok_or_else(Problem::not_found)?;
        if last == given {
            return Ok(Either::First(NoContent));
        }
        if last > given {
            let mut actions =
                vec![Action::set_sequence(&TRACKER, counter(project), last).when(counter_unchanged(given))];
            if tag.names_tags() {
                actions.push(Action::check(&TRACKER, schema.key()).if_unchanged(&schema.stored));
            }
            access.transact(&SET_NEXT_NUMBER, &actions).await.map_err(refusal)?;
            return Ok(Either::First(NoContent));
        }
        if let Some(highest) = highest(access, &SET_NEXT_NUMBER, project).await?.filter(|highest| *highest > last) {
            let detail = format!("must be above {highest}, the number of an issue of this project");
            return Err(Problem::taken(vec![Fault::pointer("/number", detail)]));
        }
        // An import that has started has allocated numbers for all its records.
        if imports_are_open(access, path.tenant_id, project).await? {
            let detail = "An import into this project is open. Wait until it has ended, or cancel it.";
            return Err(NUMBERS_IN_USE.because(detail));
        }
        let gates = Gates::load(access, project).await?;
        let (details, who) = (Details::project(project), Some(caller.me.to_string()));
        let job = Job::new(access, Kind::LowerNumbers, details, who).at(&Checkpoint { given, last })?;
        let job = NewJob::new(access, path.tenant_id, job, Start::After(LAG))?;
        let mut actions = vec![tag.guard(project_action(&schema, true), &schema.stored)];
        actions.extend(gate_actions(&schema, &gates, false));
        actions.extend(job.actions);
        access.transact(&SET_NEXT_NUMBER, &actions).await.map_err(refusal)?;
        Ok(Either::Second(jobs::accepted::<TrackerJobs>(&path.tenant_id, job.id, job.job)))
    })
    .await
}

/// Lowers the counter. No issue is written any more under a number that was allocated before the job was created.
#[derive(Debug)]
pub struct LowerNumbers;

impl Worker<TrackerJobs> for LowerNumbers {
    async fn step(&mut self, access: &Access, lease: &Lease) -> Result<Step, Problem> {
        let Some(project) = lease.job.details.project else {
            return Ok(Step::fail(&lease.job, "its record names no project"));
        };
        let Checkpoint { given: before, last } = lease.job.checkpoint()?;
        if Schema::load(access, lease.group, project, Consistency::Strong).await?.is_none() {
            return Ok(Step::fail(&lease.job, "its project was deleted"));
        }
        let counters = [CounterKey { project }.key()];
        let stored = access.table(&ATTRIBUTE_STEP, &TRACKER).batch_get_consistent(&counters).await?;
        let Some(now) = stored.into_iter().flatten().next().as_ref().and_then(last_number) else {
            return Ok(Step::fail(&lease.job, "its project was deleted"));
        };
        // No issue has a number above the greatest of all, so counts above it are equal.
        if now.min(MAX_NUMBER) != before.min(MAX_NUMBER) {
            return Ok(Step::fail(&lease.job, "another number was allocated meanwhile"));
        }
        if let Some(highest) = highest(access, &ATTRIBUTE_STEP, project).await?.filter(|highest| *highest > last) {
            return Ok(Step::fail(&lease.job, format!("an issue has the number {highest}")));
        }
        let set = Action::set_sequence(&TRACKER, counter(project), last).when(counter_unchanged(now));
        Step::new(vec![set], &Checkpoint { given: before, last }, Counts::default(), Then::Succeed)
    }
}

/// The condition that no number was allocated since.
fn counter_unchanged(last: u64) -> Condition {
    Condition::Equals("Last", item::number(last))
}

/// The last number that a counter has allocated.
fn last_number(counter: &Stored) -> Option<u64> {
    counter.item.get("Last")?.as_n().ok()?.parse().ok()
}

/// The highest number of an issue in the index, which may lag behind the table.
async fn highest(access: &Access, pattern: &'static AccessPattern, project: ProjectId) -> Result<Option<u64>, Error> {
    let last = access.table(pattern, &TRACKER).query(project.id()).index(INDEX).backward().page(1).await?;
    let number = |entry: &Stored| number_of(entry.item.get(DATA)?.as_s().ok()?);
    Ok(last.items.first().and_then(number))
}
