//! `GET /parks/jobs`

use table::{EntityKey, Key, Position, Stored};
use web::{Context, Page, PageQuery, Problem, Query, Route, Sample};

use super::LISTED;
use super::view::{JobView, view};
use crate::access::JOBS;
use crate::keys::JobKey;
use crate::schema::PARKS;
use crate::view::{ADMINISTRATORS, Cached, View};

pub fn route() -> Route {
    Route::get("listJobs", "/parks/jobs", ADMINISTRATORS, list)
        .summary("List the jobs, newest first; each until 30 days after its end")
        .patterns(&[&JOBS])
        .sample(Sample::new("/parks/jobs"))
}

async fn list(cx: Context, Query(query): Query<PageQuery>) -> Result<Cached<Page<JobView>>, Problem> {
    let after: Option<Position> = cx.cursor(query.cursor.as_deref())?;
    let parks = cx.access().table(&JOBS, &PARKS);
    let listed = parks.query(LISTED).index("list").backward().after(after);
    // The index still has the jobs that have expired.
    let shown = |listed: Vec<Stored>| async move {
        let keys: Vec<Key> = listed.into_iter().map(|listed| listed.key).collect();
        let stored = parks.batch_get(&keys).await?;
        stored.into_iter().map(|stored| stored.map_or(Ok(None), |stored| shown(&stored))).collect()
    };
    let (items, next) = listed.page_of(query.limit.0, shown).await?;
    let next_cursor = cx.cursor_to(next)?;
    Ok(Cached(View::Administrator, Page { items, next_cursor }))
}

fn shown(stored: &Stored) -> Result<Option<JobView>, Problem> {
    let Some(JobKey { job }) = JobKey::parse(&stored.key) else { return Ok(None) };
    Ok(Some(view(job, stored.read()?)))
}
