//! `GET /parks/jobs`

use table::{EntityKey, Key, Position};
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
    let page = parks.query(LISTED).index("list").backward().after(after).page(query.limit.0).await?;
    let keys: Vec<Key> = page.items.iter().map(|listed| listed.key.clone()).collect();
    let mut items = Vec::new();
    for stored in parks.batch_get(&keys).await?.into_iter().flatten() {
        let Some(JobKey { job }) = JobKey::parse(&stored.key) else { continue };
        items.push(view(job, stored.read()?));
    }
    let next_cursor = cx.cursor_to(page.next)?;
    Ok(Cached(View::Administrator, Page { items, next_cursor }))
}
