//! `GET /agencies/jobs`: the jobs that have not ended. An agency that is being deleted is in no other list.

use jobs::{JobDueKey, JobKey, JobOf, JobView, JobViewOf, Jobs};
use table::{EntityKey, Key, Stored};
use web::{Context, Page, PageQuery, Problem, Query, Route, Sample};

use super::AgencyJobs;
use crate::access::OPEN_JOBS;
use crate::authorization::PLATFORM_ADMINS;
use crate::schema::AGENCIES;

pub fn route() -> Route {
    Route::get("listJobs", "/agencies/jobs", PLATFORM_ADMINS, list)
        .summary("List the jobs that have not ended, by agency")
        .patterns(&[&OPEN_JOBS])
        .sample(Sample::new("/agencies/jobs"))
}

async fn list(cx: Context, Query(query): Query<PageQuery>) -> Result<Page<JobViewOf<AgencyJobs>>, Problem> {
    let after = cx.cursor(query.cursor.as_deref())?;
    let jobs = cx.access().table(&OPEN_JOBS, &AGENCIES);
    let due = jobs.query(AgencyJobs::DUE.partition).index(AgencyJobs::DUE.index).after(after);
    let open = |page: Vec<Stored>| async move {
        let keys: Vec<Key> = page.iter().map(|due| job_key(&due.key)).collect::<Result<_, _>>()?;
        jobs.batch_get(&keys).await?.iter().map(|job| job.as_ref().map_or(Ok(None), view)).collect()
    };
    let (items, next) = due.page_of(query.limit.0, open).await?;
    Ok(Page { items, next_cursor: cx.cursor_to(next)? })
}

/// The key of the job of a due row.
fn job_key(due: &Key) -> Result<Key, Problem> {
    let JobDueKey { job } = JobDueKey::parse(due).ok_or_else(|| Problem::internal("a due row without its job"))?;
    Ok(JobKey { job }.key())
}

/// None if the job has ended since its due row was read.
fn view(stored: &Stored) -> Result<Option<JobViewOf<AgencyJobs>>, Problem> {
    let JobKey { job: id } = JobKey::parse(&stored.key).ok_or_else(|| Problem::internal("a job without its key"))?;
    let job: JobOf<AgencyJobs> = stored.read()?;
    Ok(job.is_open().then(|| JobView::of::<AgencyJobs>(id, job)))
}
