//! `GET /agencies/jobs/{jobId}`

use jobs::JobId;
use serde::Deserialize;
use utoipa::ToSchema;
use web::{Answer, Context, Path, Problem, Route, Sample, problem};

use super::view::{JobView, load, view};
use crate::access::JOB;
use crate::authorization::PLATFORM_ADMINS;

/// The path of a job. No agency has the id `jobs`, since the ids of new agencies are UUIDs.
pub const ONE: &str = "/agencies/jobs/{jobId}";

#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobPath {
    pub job_id: JobId,
}

pub fn route() -> Route {
    Route::get("getJob", ONE, PLATFORM_ADMINS, get)
        .summary("Get a job with its progress, until 30 days after its end")
        .patterns(&[&JOB])
        .answers::<JobView>(200)
        .problems(&[problem::NOT_FOUND])
        .sample(Sample::new("/agencies/jobs/01890a5d-ac96-774b-bcce-b302099a8057").expects(404))
}

async fn get(cx: Context, Path(path): Path<JobPath>) -> Result<Answer, Problem> {
    let job = load(&cx, path.job_id).await?;
    let is_open = job.is_open();
    let answer = Answer::ok(&view(path.job_id, job));
    Ok(if is_open { answer.retry_after(1) } else { answer })
}
