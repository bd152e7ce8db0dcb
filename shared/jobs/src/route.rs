//! The route of a system's jobs, for systems whose path of a job has no other parameter.

use serde::Deserialize;
use table::AccessPattern;
use utoipa::ToSchema;
use web::{Answer, Context, Path, Problem, Route, Sample, Who, problem};

use crate::{JobId, JobKey, JobView, Jobs, load};

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
        .answers::<JobView<J::Kind, J::Details>>(200)
        .problems(&[problem::NOT_FOUND])
        .sample(Sample::default().expects(404))
}

async fn get<J: Jobs>(cx: Context, Path(path): Path<JobPath>) -> Result<Answer, Problem> {
    let id = path.job_id;
    let job = load::<J>(&cx, J::READ, JobKey { job: id }).await?;
    let (is_open, details) = (job.is_open(), job.details.clone());
    let answer = Answer::ok(&JobView::new::<J>(id, job, details));
    Ok(if is_open { answer.retry_after(1) } else { answer })
}
