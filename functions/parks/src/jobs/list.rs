//! `GET /parks/jobs`

use jobs::Jobs;
use serde::Deserialize;
use table::{EntityKey, Key, Position, Stored};
use utoipa::ToSchema;
use web::{Context, Limit, Page, Problem, Query, Route, Sample};

use super::view::{JobView, view};
use super::{Job, LISTED, ParksJobs};
use crate::access::JOBS;
use crate::keys::{JobDueKey, JobKey};
use crate::schema::PARKS;
use crate::view::{ADMINISTRATORS, Cached, View};

/// Whether a job has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum JobProgress {
    /// It is queued or running.
    Open,
    /// It has succeeded or failed, or was cancelled.
    Ended,
}

#[derive(Debug, Deserialize, ToSchema)]
pub struct JobsQuery {
    #[serde(default)]
    limit: Limit,
    #[serde(default)]
    #[schema(nullable = false)]
    cursor: Option<String>,
    /// Only the jobs that are open, by collection, or only those that have ended, newest first.
    #[serde(default)]
    #[schema(nullable = false)]
    status: Option<JobProgress>,
}

pub fn route() -> Route {
    Route::get("listJobs", "/parks/jobs", ADMINISTRATORS, list)
        .summary("List the jobs, newest first; each until 30 days after its end")
        .patterns(&[&JOBS])
        .sample(Sample::new("/parks/jobs"))
}

async fn list(cx: Context, Query(query): Query<JobsQuery>) -> Result<Cached<Page<JobView>>, Problem> {
    let after: Option<Position> = cx.cursor(query.cursor.as_deref())?;
    let (parks, status) = (cx.access().table(&JOBS, &PARKS), query.status);
    let listed = match status {
        // An open job has a due row, which its end deletes.
        Some(JobProgress::Open) => parks.query(ParksJobs::DUE.partition).index(ParksJobs::DUE.index),
        // Few of all jobs are open.
        Some(JobProgress::Ended) | None => parks.query(LISTED).index("list").backward(),
    };
    // The index still has the jobs that have expired.
    let shown = |listed: Vec<Stored>| async move {
        let keys: Vec<Key> = listed.into_iter().map(|listed| job_key(listed.key)).collect();
        let stored = parks.batch_get(&keys).await?;
        stored.into_iter().map(|stored| stored.map_or(Ok(None), |stored| shown(&stored, status))).collect()
    };
    let (items, next) = listed.after(after).page_of(query.limit.0, shown).await?;
    let next_cursor = cx.cursor_to(next)?;
    Ok(Cached(View::Administrator, Page { items, next_cursor }))
}

/// The key of the job that is listed under this key: its own, or that of its due row.
fn job_key(listed: Key) -> Key {
    JobDueKey::parse(&listed).map_or(listed, |JobDueKey { job }| JobKey { job }.key())
}

/// None for a job of another status.
fn shown(stored: &Stored, status: Option<JobProgress>) -> Result<Option<JobView>, Problem> {
    let Some(JobKey { job: id }) = JobKey::parse(&stored.key) else { return Ok(None) };
    let job: Job = stored.read()?;
    let progress = if job.is_open() { JobProgress::Open } else { JobProgress::Ended };
    Ok(status.is_none_or(|status| status == progress).then(|| view(id, job)))
}
