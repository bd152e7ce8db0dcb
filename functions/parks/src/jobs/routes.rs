//! `GET /parks/jobs` and `GET /parks/jobs/{jobId}`.

use serde::{Deserialize, Serialize};
use table::{EntityKey, Key, Position};
use utoipa::ToSchema;
use web::{Answer, Limit, Page, Problem, Request};

use super::{Counts, Job, JobKind, JobStatus, OPEN, href, run};
use crate::keys::JobKey;
use crate::names::JobId;
use crate::schema::PARKS;
use crate::view::View;
use crate::{access, imports};

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
    pub job_id: String,
}

#[derive(Debug, Deserialize, ToSchema)]
pub struct JobsQuery {
    #[serde(default)]
    pub limit: Limit,
    #[serde(default)]
    #[schema(nullable = false)]
    pub cursor: Option<String>,
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

/// 202: the job goes on after the answer.
pub fn accepted(id: JobId, job: Job) -> Answer {
    View::Administrator.cached(Answer::accepted(&JobView::new(id, job)).location(href(id)).retry_after(1))
}

/// The open jobs, the oldest first.
pub async fn list_jobs(request: Request) -> Result<Answer, Problem> {
    let query: JobsQuery = request.query()?;
    let after: Option<Position> = request.cursor(query.cursor.as_deref())?;
    let parks = request.access().table(&access::OPEN_JOBS, &PARKS);
    let page = parks.query(OPEN).index("list").after(after).page(query.limit.0).await?;
    let keys: Vec<Key> = page.items.iter().map(|listed| listed.key.clone()).collect();
    let mut items = Vec::new();
    for stored in parks.batch_get(&keys).await?.into_iter().flatten() {
        let Some(id) = run::id_of(&stored.key.pk) else { continue };
        items.push(JobView::new(id, stored.read()?));
    }
    let next_cursor = page.next.map(|position| request.next_cursor(&position)).transpose()?;
    Ok(View::Administrator.cached(Answer::ok(&Page { items, next_cursor })))
}

pub async fn get_job(request: Request) -> Result<Answer, Problem> {
    let JobPath { job_id } = request.path()?;
    let id: JobId = job_id.parse().map_err(|_| Problem::not_found())?;
    let stored = request.access().table(&access::ITEM, &PARKS).get_consistent(JobKey { job: id }.key()).await?;
    let job: Job = stored.ok_or_else(Problem::not_found)?.read()?;
    let faults = imports::faults_link(request.access(), id, &job).await?;
    let late = imports::is_late(request.engines(), &job);
    let mut view = JobView { faults, ..JobView::new(id, job) };
    if late {
        view.status = JobStatus::Expired;
    }
    let pending = matches!(view.status, JobStatus::Waiting | JobStatus::Running);
    let answer = View::Administrator.cached(Answer::ok(&view));
    Ok(if pending { answer.retry_after(1) } else { answer })
}
