//! `GET /chat/me/jobs/{jobId}`

use ::jobs::{JobId, JobKey, JobOf, JobViewOf};
use serde::{Deserialize, Serialize};
use table::AccessPattern;
use utoipa::ToSchema;
use web::{Answer, Context, Path, Problem, Route, Sample, problem};

use super::ChatJobs;
use crate::access::{CALLER, LIVE as ON_LIVE};
use crate::caller::{BANNED, SIGNED_IN, not_banned};
use crate::exports::{EXPORT_LINK, link};
use crate::schema::LIVE;

/// A job.
const JOB: AccessPattern = AccessPattern::new("job", &[ON_LIVE.get()]);

type JobView = JobViewOf<ChatJobs>;

#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct JobPath {
    job_id: JobId,
}

/// A job with the link to its file.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct JobDetail {
    #[serde(flatten)]
    job: JobView,
    /// The link to the file of an export that has succeeded, valid for 5 minutes.
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<String>,
}

pub fn route() -> Route {
    Route::get("getJob", "/chat/me/jobs/{jobId}", SIGNED_IN, get)
        .summary("Get a job that the caller has started, with its progress, until 30 days after its end")
        .patterns(&[&CALLER, &JOB, &EXPORT_LINK])
        .answers::<JobDetail>(200)
        .problems(&[BANNED, problem::NOT_FOUND])
        .sample(Sample::new("/chat/me/jobs/019b76da-a800-7000-8000-000000000091"))
}

/// Returns a job to the person who has started it, also to one whose user the job deletes, but to none who is banned.
async fn get(cx: Context, Path(JobPath { job_id: id }): Path<JobPath>) -> Result<Answer, Problem> {
    let known = cx.principal().signed_in()?;
    not_banned(&cx, known).await?;
    let caller = known.idpid().to_string();
    let stored = cx.access().table(&JOB, &LIVE).get_consistent(JobKey { job: id }).await?;
    let job: JobOf<ChatJobs> = stored.ok_or_else(Problem::not_found)?.read()?;
    if job.created_by.as_ref() != Some(&caller) {
        return Err(Problem::not_found());
    }
    let is_open = job.is_open();
    let link = link(cx.access(), id, &job).await?;
    let answer = Answer::ok(&JobDetail { job: JobView::of::<ChatJobs>(id, job), link });
    Ok(if is_open { answer.retry_after(1) } else { answer })
}
