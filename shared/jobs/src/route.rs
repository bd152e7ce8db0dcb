//! The route of a system's jobs, for systems whose path of a job has no other parameter.

use serde::Deserialize;
use table::AccessPattern;
use utoipa::ToSchema;
use web::{Answer, Context, Path, Problem, Route, Sample, Who, problem};

use crate::{JobId, JobKey, JobOf, JobView, JobViewOf, Jobs};

#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct JobPath {
    job_id: JobId,
}

/// Creates the route `getJob`. The parameter of its path is `{jobId}`, and the jobs have the default keys.
pub fn get_route<J: Jobs>(path: &'static str, who: Who) -> Route
where
    J::Details: ToSchema,
{
    let patterns: &'static [&'static AccessPattern] = const { &[J::READ] };
    Route::get("getJob", path, who, get::<J>)
        .summary("Get a job with its progress, until 30 days after its end")
        .patterns(patterns)
        .answers::<JobViewOf<J>>(200)
        .problems(&[problem::NOT_FOUND])
        .sample(Sample::default().expects(404))
}

async fn get<J: Jobs>(cx: Context, Path(path): Path<JobPath>) -> Result<Answer, Problem> {
    let id = path.job_id;
    let stored = cx.access().table(J::READ, J::TABLE).get_consistent(JobKey { job: id }).await?;
    let job: JobOf<J> = stored.ok_or_else(Problem::not_found)?.read()?;
    let is_open = job.is_open();
    let answer = Answer::ok(&JobView::of::<J>(id, job));
    Ok(if is_open { answer.retry_after(1) } else { answer })
}
