//! `PUT …/next-number`: from where on a project numbers its issues.
//!
//! Numbers that were skipped, or given to issues that are gone, can be given again so, which nothing else does. Whoever has
//! taken one of them before must not use it any more: the project's schema revision grows with the request, so their writes
//! are refused at the gates, and they take another number. What was written before that, the index shows a while later, and
//! only then the counter is set back, if nobody has counted in it meanwhile.

use serde::{Deserialize, Serialize};
use table::{Access, AccessPattern, Action, Backoff, Condition, EntityKey, Error, Stored, item};
use utoipa::ToSchema;
use web::{Answer, Fault, Kind as ProblemKind, Problem, Request};

use super::LAST_NUMBER;
use crate::access::{ATTRIBUTE_STEP, SET_NEXT_NUMBER};
use crate::attributes::{gate_actions, project_action};
use crate::callers::{at_least, me};
use crate::items::Role;
use crate::keys::CounterKey;
use crate::names::{ProjectId, WorkId};
use crate::project::{Gates, Read, Schema};
use crate::projects::{self, ProjectPath, counter};
use crate::schema::{DATA, INDEX, TRACKER};
use crate::values::number_of;
use crate::work::routes::accepted;
use crate::work::{Counts, Held, Kind, LAG, Start, Step, Then, Work, begin_work, imports_are_open};

pub const NUMBERS_IN_USE: ProblemKind =
    ProblemKind::new(409, "numbers-in-use", "Numbers of the project are being given");

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NextNumber {
    /// Above the numbers of all its issues.
    #[schema(minimum = 1, maximum = 1_000_000_000_000_i64)]
    number: u64,
}

/// What the counter is to become, and what it was.
#[derive(Deserialize, Serialize)]
struct Checkpoint {
    given: u64,
    last: u64,
}

pub async fn set(request: Request) -> Result<Answer, Problem> {
    let ProjectPath { tenant_id, project_id } = request.path()?;
    at_least(&request, tenant_id, Role::Admin).await?;
    let NextNumber { number } = request.json()?;
    let (access, last) = (request.access(), number.saturating_sub(1).min(LAST_NUMBER));
    let mut backoff = Backoff::new();
    loop {
        let schema = projects::read(&request, tenant_id, project_id, Read::Strong).await?;
        let counted = access.table(&SET_NEXT_NUMBER, &TRACKER);
        let stored = counted.get_consistent(CounterKey { project: project_id }.key()).await?;
        let given = stored.as_ref().and_then(given).ok_or_else(Problem::not_found)?;
        if last == given {
            return Ok(Answer::no_content());
        }
        if last > given {
            let set = Action::set_sequence(&TRACKER, counter(project_id), last).when(as_given(given));
            match access.write(&SET_NEXT_NUMBER, set).await {
                Ok(_) => return Ok(Answer::no_content()),
                Err(Error::ConditionFailed(_)) if backoff.wait().await => continue,
                Err(Error::ConditionFailed(_)) => return Err(Problem::conflict()),
                Err(error) => return Err(error.into()),
            }
        }
        if let Some(highest) = highest(access, &SET_NEXT_NUMBER, project_id).await?.filter(|highest| *highest > last) {
            let detail = format!("must be above {highest}, the number of an issue of this project");
            return Err(Problem::taken(vec![Fault::pointer("/number", detail)]));
        }
        // An import that has begun has numbers for all its records.
        if imports_are_open(access, tenant_id, project_id).await? {
            return Err(
                NUMBERS_IN_USE.because("An import into this project is open. Wait until it has ended, or cancel it.")
            );
        }
        let gates = Gates::read(access, project_id).await?;
        let work = Work {
            checkpoint: serde_json::to_value(Checkpoint { given, last }).map_err(Problem::internal)?,
            ..Work::new(access, Kind::LowerNumbers, (Some(project_id), None), Some(me(&request)?.to_string()))
        };
        let begun = begin_work(access, (tenant_id, WorkId::new()), work, Start::After(LAG))?;
        let mut actions = vec![project_action(&schema, true)];
        actions.extend(gate_actions(&schema, &gates, false));
        actions.extend(begun.actions.clone());
        match access.transact(&SET_NEXT_NUMBER, &actions).await {
            Ok(_) => return Ok(accepted(tenant_id, begun.id, begun.work)),
            // Its attributes are not as they were read.
            Err(Error::ConditionFailed(_)) if backoff.wait().await => {}
            Err(Error::ConditionFailed(_)) => return Err(Problem::conflict()),
            Err(error) => return Err(error.into()),
        }
    }
}

/// The step of the work: no issue is written any more under a number that was taken before it was begun.
pub async fn step(access: &Access, held: &Held) -> Result<Step, Problem> {
    let Some(project) = held.work.project else { return Ok(Step::stopped(held, "its record names no project")) };
    let Checkpoint { given: before, last } =
        serde_json::from_value(held.work.checkpoint.clone()).map_err(Problem::internal)?;
    if Schema::read(access, held.tenant, project, Read::Strong).await?.is_none() {
        return Ok(Step::stopped(held, "its project is gone"));
    }
    let counters = [CounterKey { project }.key()];
    let stored = access.table(&ATTRIBUTE_STEP, &TRACKER).batch_get_consistent(&counters).await?;
    let Some(now) = stored.into_iter().flatten().next().as_ref().and_then(given) else {
        return Ok(Step::stopped(held, "its project is gone"));
    };
    // What is counted above the last number of all was given to nobody.
    if now.min(LAST_NUMBER) != before.min(LAST_NUMBER) {
        return Ok(Step::stopped(held, "a number was given meanwhile"));
    }
    if let Some(highest) = highest(access, &ATTRIBUTE_STEP, project).await?.filter(|highest| *highest > last) {
        return Ok(Step::stopped(held, format!("an issue has the number {highest}")));
    }
    let set = Action::set_sequence(&TRACKER, counter(project), last).when(as_given(now));
    Step::new(vec![set], &Checkpoint { given: before, last }, Counts::default(), Then::Done)
}

/// Nobody has taken a number since.
fn as_given(last: u64) -> Condition {
    Condition::Equals("Last", item::number(last))
}

/// The last number that a counter has given.
fn given(counter: &Stored) -> Option<u64> {
    counter.item.get("Last")?.as_n().ok()?.parse().ok()
}

/// The highest number of an issue, as far as the index shows it.
async fn highest(access: &Access, pattern: &'static AccessPattern, project: ProjectId) -> Result<Option<u64>, Error> {
    let last = access.table(pattern, &TRACKER).query(project.id()).index(INDEX).backward().page(1).await?;
    let number = |entry: &Stored| number_of(entry.item.get(DATA)?.as_s().ok()?);
    Ok(last.items.first().and_then(number))
}
