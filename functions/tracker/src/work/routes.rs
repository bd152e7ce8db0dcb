//! Jobs over HTTP: the routes that list and get them, and the responses of requests that create them.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use table::EntityKey;
use tokio::time::Instant;
use utoipa::ToSchema;
use web::{
    Accepted, Answer, Context, Either, NoContent, Page, PageQuery, Path, Problem, Query, Route, Sample, problem,
};

use super::{Counts, Held, Kind, RowFault, Work, WorkState, carry_on};
use crate::access::{LINKS, MEMBERSHIP, OF_TENANT, TENANT, WORK};
use crate::authorization::{SIGNED_IN, TenantAccess, is_platform_admin, membership};
use crate::keys::WorkKey;
use crate::names::{AttributeId, ProjectId, TenantId, WorkId};
use crate::schema::TRACKER;
use crate::tenants::{self, TenantPath};
use crate::{exports, imports};

const LIST: &str = "/tracker/tenants/{tenantId}/work";
pub const ONE: &str = "/tracker/tenants/{tenantId}/work/{workId}";

/// The path of a job.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkPath {
    pub tenant_id: TenantId,
    pub work_id: WorkId,
}

/// A job in responses. A platform administrator who is no member does not see its project and its attribute.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkView {
    pub id: WorkId,
    pub kind: Kind,
    pub state: WorkState,
    pub counts: Counts,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attribute: Option<AttributeId>,
    /// The reason why it ended early.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The first 20 faults of the rows of a file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<RowFault>,
    pub created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
}

/// A job with links to its files.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkDetail {
    #[serde(flatten)]
    pub work: WorkView,
    /// The link to the file of an export that is done, valid for 5 minutes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// The link to the faults of an import that has ended, at most 10 000, valid for 5 minutes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub faults_link: Option<String>,
}

impl WorkView {
    pub fn new(id: WorkId, work: Work, member: bool) -> Self {
        Self {
            id,
            kind: work.kind,
            state: work.state,
            counts: work.counts,
            project: work.project.filter(|_| member),
            attribute: work.attribute.filter(|_| member),
            reason: work.reason.filter(|_| member),
            faults: if member { work.faults } else { Vec::new() },
            created_at: work.created_at,
            ended_at: work.ended_at,
        }
    }
}

/// The longest time that a request works on the job that it has created.
const TIME_LIMIT: Duration = Duration::from_secs(20);

pub fn list_route() -> Route {
    Route::get("listWork", LIST, SIGNED_IN, list)
        .summary("List the jobs of a tenant, newest first")
        .patterns(&[&MEMBERSHIP, &TENANT, &OF_TENANT])
        .problems(&[problem::NOT_FOUND])
        .sample(Sample::new("/tracker/tenants/tenant-0807/work"))
}

pub fn get_route() -> Route {
    Route::get("getWork", ONE, SIGNED_IN, get)
        .summary("Get a job with its progress")
        .patterns(&[&MEMBERSHIP, &WORK, &LINKS])
        .answers::<WorkDetail>(200)
        .problems(&[problem::NOT_FOUND])
        .sample(Sample::new("/tracker/tenants/tenant-0807/work/work-0001"))
}

async fn list(
    cx: Context,
    Path(path): Path<TenantPath>,
    Query(query): Query<PageQuery>,
) -> Result<Page<WorkView>, Problem> {
    let member = membership(&cx, path.tenant_id).await?.is_some();
    if !member {
        TenantAccess::load_also_platform(&cx, path.tenant_id).await?;
    }
    let after = cx.cursor(query.cursor.as_deref())?;
    let jobs = cx.access().table(&OF_TENANT, &TRACKER).query(path.tenant_id.id()).begins_with("xwork-").backward();
    let mut page = jobs.after(after).page(query.limit.0).await?;
    // An item that was written outside the platform under another key is no job.
    page.items.retain(|stored| WorkKey::parse(&stored.key).is_some());
    cx.page(page, |stored| {
        let key = WorkKey::parse(&stored.key).ok_or_else(|| Problem::internal("a job without a job's key"))?;
        Ok(WorkView::new(key.work, stored.read()?, member))
    })
}

async fn get(cx: Context, Path(path): Path<WorkPath>) -> Result<Answer, Problem> {
    let member = membership(&cx, path.tenant_id).await?.is_some();
    // A platform administrator also sees the deletion of a tenant that is gone.
    if !member && !is_platform_admin(&cx) {
        return Err(Problem::not_found());
    }
    let work = load(&cx, path.tenant_id, path.work_id).await?;
    let (mut link, mut faults_link) = (None, None);
    if member {
        link = exports::link(cx.access(), path.work_id, &work).await?;
        faults_link = imports::faults_link(cx.access(), path.work_id, &work).await?;
    }
    let is_open = work.state.is_open();
    let answer = Answer::ok(&WorkDetail { work: WorkView::new(path.work_id, work, member), link, faults_link });
    Ok(if is_open { answer.retry_after(1) } else { answer })
}

async fn load(cx: &Context, tenant: TenantId, work: WorkId) -> Result<Work, Problem> {
    let stored = cx.access().table(&WORK, &TRACKER).get_consistent(WorkKey { tenant, work }.key()).await?;
    Ok(stored.ok_or_else(Problem::not_found)?.read()?)
}

/// Works on a job for as long as the request may last. 204 if it has ended by then, otherwise 202, and a worker resumes
/// it.
pub async fn finish(cx: &Context, held: Held) -> Result<Either<NoContent, Accepted<WorkView>>, Problem> {
    let (tenant, id, work) = (held.tenant, held.id, held.work.clone());
    // The rest of the request's time is for the response.
    let until = cx.deadline().checked_sub(Duration::from_secs(1)).unwrap_or_else(Instant::now);
    let until = until.min(Instant::now() + TIME_LIMIT);
    let ended = carry_on(cx.access(), held, until).await?;
    Ok(if ended { Either::First(NoContent) } else { Either::Second(accepted(tenant, id, work)) })
}

/// [`finish`] for a repeated `DELETE`, whose job exists already.
pub async fn resume(
    cx: &Context,
    tenant: TenantId,
    work: &str,
) -> Result<Either<NoContent, Accepted<WorkView>>, Problem> {
    let id = WorkId::parse_id(work).ok_or_else(Problem::not_found)?;
    let work = load(cx, tenant, id).await?;
    match Held::take(cx.access(), id).await? {
        Some(held) => finish(cx, held).await,
        None => Ok(Either::Second(accepted(tenant, id, work))),
    }
}

/// 202 with the path of a job.
pub fn accepted(tenant: TenantId, id: WorkId, work: Work) -> Accepted<WorkView> {
    Accepted::new(href(tenant, id), &WorkView::new(id, work, true))
}

pub fn href(tenant: TenantId, id: WorkId) -> String {
    format!("{}/work/{}", tenants::href(tenant), id.id())
}
