//! `GET /parks/jobs/{jobId}`

use jobs::JobId;
use serde::{Deserialize, Serialize};
use table::EntityKey;
use utoipa::ToSchema;
use web::{Answer, Context, Path, Problem, Route, Sample, problem};

use super::Job;
use super::view::{JobView, view};
use crate::access::{ITEM, READ_FAULTS};
use crate::imports;
use crate::keys::JobKey;
use crate::schema::PARKS;
use crate::view::{ADMINISTRATORS, View};

pub const ONE: &str = "/parks/jobs/{jobId}";

/// The path of a job.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobPath {
    #[schema(value_type = String)]
    pub job_id: JobId,
}

/// A job with a link to its report.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobDetail {
    #[serde(flatten)]
    job: JobView,
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
    let detail = JobDetail { job: view(id, job), faults_link };
    let answer = View::Administrator.cached(Answer::ok(&detail));
    Ok(if is_open { answer.retry_after(1) } else { answer })
}
