//! `GET /parks/jobs` and `GET /parks/jobs/{jobId}`.

use serde::{Deserialize, Serialize};
use table::{EntityKey, Key, Position};
use utoipa::ToSchema;
use web::{Accepted, Answer, Context, Page, PageQuery, Path, Problem, Query, Route, Sample, problem};

use super::{Counts, Job, JobKind, JobStatus, OPEN, href, run};
use crate::access::{ITEM, OPEN_JOBS, READ_FAULTS};
use crate::imports;
use crate::keys::JobKey;
use crate::names::JobId;
use crate::schema::PARKS;
use crate::view::{ADMINISTRATORS, Cached, View};

/// A job, as administrators see it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Job)]
pub struct JobView {
    pub job_id: String,
    pub kind: JobKind,
    /// What it works on: the document id of an item.
    pub root: String,
    pub status: JobStatus,
    pub counts: Counts,
    pub created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Once it has ended with faults: where they can be fetched for five minutes, as
    /// `{"faults": [{"row" or "feature", "externalId", "pointer", "detail"}], "faultCount"}`. The external id is there where
    /// the row says one. A fault of the file as a whole has neither row nor feature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub faults: Option<String>,
}

#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobPath {
    #[schema(value_type = String)]
    job_id: JobId,
}

impl JobView {
    fn new(id: JobId, job: Job) -> Self {
        Self {
            job_id: id.to_string(),
            kind: job.kind,
            root: job.root,
            status: job.status,
            counts: job.counts,
            created_at: job.created_at,
            created_by: job.created_by,
            ended_at: job.ended_at,
            reason: job.reason,
            faults: None,
        }
    }
}

/// The response with a job that works after it.
pub fn accepted(id: JobId, job: Job) -> Accepted<JobView> {
    Accepted::new(href(id), &JobView::new(id, job)).map(|answer| View::Administrator.cached(answer).retry_after(1))
}

pub fn list_route() -> Route {
    Route::get("listJobs", "/parks/jobs", ADMINISTRATORS, list)
        .summary("List the open jobs, oldest first")
        .patterns(&[&OPEN_JOBS])
        .sample(Sample::new("/parks/jobs"))
}

async fn list(cx: Context, Query(query): Query<PageQuery>) -> Result<Cached<Page<JobView>>, Problem> {
    let after: Option<Position> = cx.cursor(query.cursor.as_deref())?;
    let parks = cx.access().table(&OPEN_JOBS, &PARKS);
    let page = parks.query(OPEN).index("list").after(after).page(query.limit.0).await?;
    let keys: Vec<Key> = page.items.iter().map(|listed| listed.key.clone()).collect();
    let mut items = Vec::new();
    for stored in parks.batch_get(&keys).await?.into_iter().flatten() {
        let Some(id) = run::id_of(&stored.key.pk) else { continue };
        items.push(JobView::new(id, stored.read()?));
    }
    let next_cursor = cx.cursor_to(page.next)?;
    Ok(Cached(View::Administrator, Page { items, next_cursor }))
}

pub fn get_route() -> Route {
    Route::get("getJob", "/parks/jobs/{jobId}", ADMINISTRATORS, get)
        .summary("Get a job's progress and, once it has ended, a link to its faults")
        .patterns(&[&ITEM, &READ_FAULTS])
        .answers::<JobView>(200)
        .problems(&[problem::NOT_FOUND])
        .sample(Sample::new("/parks/jobs/01890a5d-ac96-774b-bcce-b302099a8057").expects(404))
}

async fn get(cx: Context, Path(path): Path<JobPath>) -> Result<Answer, Problem> {
    let id = path.job_id;
    let stored = cx.access().table(&ITEM, &PARKS).get_consistent(JobKey { job: id }.key()).await?;
    let job: Job = stored.ok_or_else(Problem::not_found)?.read()?;
    let faults = imports::faults_link(cx.access(), id, &job).await?;
    let is_late = imports::is_late(cx.engines(), &job);
    let mut view = JobView { faults, ..JobView::new(id, job) };
    if is_late {
        view.status = JobStatus::Expired;
    }
    let is_pending = matches!(view.status, JobStatus::Waiting | JobStatus::Running);
    let answer = View::Administrator.cached(Answer::ok(&view));
    Ok(if is_pending { answer.retry_after(1) } else { answer })
}
