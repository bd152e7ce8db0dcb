//! `GET /parks/jobs/{jobId}`

use jobs::JobId;
use serde::{Deserialize, Serialize};
use table::{Access, EntityKey};
use utoipa::ToSchema;
use web::{Answer, Context, Path, Problem, Route, Sample, problem};

use super::Job;
use super::view::{JobView, view};
use crate::access::{ITEM, READ_FAULTS};
use crate::imports;
use crate::keys::{JobDueKey, JobKey};
use crate::schema::PARKS;
use crate::view::{ADMINISTRATORS, View};

pub const ONE: &str = "/parks/jobs/{jobId}";

/// A job makes no progress if so many workers in a row have taken it without completing a step.
const STALLED: u32 = 10;

/// The path of a job.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobPath {
    #[schema(value_type = String)]
    pub job_id: JobId,
}

/// A job with its progress and a link to its report.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobDetail {
    #[serde(flatten)]
    job: JobView,
    /// Whether ten workers in a row have failed at the job's next step. The job is continued once an operator has removed
    /// the cause, which the log says.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    stalled: bool,
    /// The link to the report of an import that has ended, valid for five minutes; absent if the report is empty. The file
    /// has the form `{"faults": [{"row" or "feature", "externalId", "pointer", "detail"}], "faultCount", "shapes":
    /// [{"feature", "externalId", "outcome": "leftOut" or "repaired", "pointer", "detail"}], "shapeCount", "hidden":
    /// [{"externalId", "path"}], "hiddenCount"}`. The external id is absent if the row has none. A fault of the file as a whole,
    /// or of an item that the file does not have, has neither row nor feature. `shapes` has the rows that are imported
    /// although their shape breaks the rules, `hidden` the items that the import has hidden. At most 10 000 entries are
    /// listed; the counts say how many there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    faults_link: Option<String>,
}

/// What the due row of an open job says about its workers.
#[derive(Deserialize)]
struct Due {
    /// How many have taken it since its last step.
    #[serde(default)]
    leases: u32,
}

pub fn route() -> Route {
    Route::get("getJob", ONE, ADMINISTRATORS, get)
        .summary("Get a job's progress and, once it has ended, a link to its faults")
        .patterns(&[&ITEM, &READ_FAULTS])
        .answers::<JobDetail>(200)
        .problems(&[problem::NOT_FOUND])
        .sample(Sample::new("/parks/jobs/019e0000-0000-7000-8000-000000000001"))
}

async fn get(cx: Context, Path(path): Path<JobPath>) -> Result<Answer, Problem> {
    let id = path.job_id;
    let stored = cx.access().table(&ITEM, &PARKS).get_consistent(JobKey { job: id }.key()).await?;
    let job: Job = stored.ok_or_else(Problem::not_found)?.read()?;
    let is_open = job.is_open();
    let faults_link = imports::faults_link(cx.access(), id, &job).await?;
    let stalled = is_open && is_stalled(cx.access(), id).await?;
    let detail = JobDetail { job: view(id, job), stalled, faults_link };
    let answer = View::Administrator.cached(Answer::ok(&detail));
    Ok(if is_open { answer.retry_after(1) } else { answer })
}

async fn is_stalled(access: &Access, id: JobId) -> Result<bool, Problem> {
    let due = access.table(&ITEM, &PARKS).get_consistent(JobDueKey { job: id }.key()).await?;
    let due = due.map(|due| due.read::<Due>()).transpose()?;
    Ok(due.is_some_and(|due| due.leases >= STALLED))
}
