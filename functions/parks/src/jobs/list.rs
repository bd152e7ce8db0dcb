//! `GET /parks/jobs`

use serde::Deserialize;
use table::{EntityKey, Key, Position, Stored};
use utoipa::ToSchema;
use web::{Context, Limit, Page, Problem, Query, Route, Sample};

use super::view::{JobView, view};
use super::{Job, LISTED};
use crate::access::JOBS;
use crate::keys::JobKey;
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
    /// Only the jobs that are open, or only those that have ended.
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
    // Open ones, too: their due rows move, so that pages of these would skip jobs and repeat others.
    let listed = parks.query(LISTED).index("list").backward();
    // The index still has the jobs that have expired.
    let shown = |listed: Vec<Stored>| async move {
        let keys: Vec<Key> = listed.into_iter().map(|listed| listed.key).collect();
        let stored = parks.batch_get(&keys).await?;
        stored.into_iter().map(|stored| stored.map_or(Ok(None), |stored| shown(&stored, status))).collect()
    };
    let (items, next) = listed.after(after).page_of(query.limit.0, shown).await?;
    let next_cursor = cx.cursor_to(next)?;
    Ok(Cached(View::Administrator, Page { items, next_cursor }))
}

/// None for a job of another status.
fn shown(stored: &Stored, status: Option<JobProgress>) -> Result<Option<JobView>, Problem> {
    let Some(JobKey { job: id }) = JobKey::parse(&stored.key) else { return Ok(None) };
    let job: Job = stored.read()?;
    let progress = if job.is_open() { JobProgress::Open } else { JobProgress::Ended };
    Ok(status.is_none_or(|status| status == progress).then(|| view(id, job)))
}
