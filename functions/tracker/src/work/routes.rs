//! Work over HTTP: listed and read by a tenant's members; answered to whoever began it.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use table::{EntityKey, Error, Position, Stored};
use tokio::time::Instant;
use utoipa::ToSchema;
use web::{Answer, Page, Problem, Request};

use super::{Counts, Held, Kind, RowFault, Work, WorkState, carry_on};
use crate::access::{OF_TENANT, WORK};
use crate::callers::{PLATFORM_ADMIN, at_least_or_platform, role};
use crate::items::Role;
use crate::keys::WorkKey;
use crate::names::{AttributeId, ProjectId, TenantId, WorkId};
use crate::schema::TRACKER;
use crate::tenants::one::{Paged, TenantPath, href};
use crate::{exports, imports};

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkPath {
    pub tenant_id: TenantId,
    pub work_id: WorkId,
}

/// Work as it is told. Who runs the platform and is no member is not told on what.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkView {
    pub id: WorkId,
    pub kind: Kind,
    pub state: WorkState,
    pub counts: Counts,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub project: Option<ProjectId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub attribute: Option<AttributeId>,
    /// Why it ended before all was done.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub reason: Option<String>,
    /// The first 20 things that were wrong with the rows of a file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<RowFault>,
    pub created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub ended_at: Option<String>,
}

/// One piece of work, with links to what it has made.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkDetail {
    #[serde(flatten)]
    pub work: WorkView,
    /// Where the file of an export that is done can be fetched for 5 minutes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub link: Option<String>,
    /// Where all faults of an import that has ended can be fetched for 5 minutes, at most 10 000 of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
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

/// How long a request works on what it has begun.
const PATIENCE: Duration = Duration::from_secs(20);

pub async fn list(request: Request) -> Result<Answer, Problem> {
    let TenantPath { tenant_id } = request.path()?;
    let member = is_member(&request, tenant_id).await?;
    let query: Paged = request.query()?;
    let after: Option<Position> = request.cursor(query.cursor.as_deref())?;
    let listed = request.access().table(&OF_TENANT, &TRACKER).query(tenant_id.id()).begins_with("xwork-").backward();
    let page = listed.after(after).page(query.limit.0).await?;
    let view = |stored: &Stored| {
        let WorkKey { work, .. } = WorkKey::parse(&stored.key)?;
        Some(stored.read().map(|item| WorkView::new(work, item, member)))
    };
    let items = page.items.iter().filter_map(view).collect::<Result<_, Error>>()?;
    let next_cursor = page.next.map(|position| request.next_cursor(&position)).transpose()?;
    Ok(Answer::ok(&Page { items, next_cursor }))
}

pub async fn get(request: Request) -> Result<Answer, Problem> {
    let WorkPath { tenant_id, work_id } = request.path()?;
    let member = role(&request, tenant_id).await?.is_some();
    // The deletion of a tenant is told when the tenant is gone, too.
    if !member && !request.principal().has_role(PLATFORM_ADMIN) {
        return Err(Problem::not_found());
    }
    let work = read(&request, tenant_id, work_id).await?.ok_or_else(Problem::not_found)?;
    let (mut link, mut faults_link) = (None, None);
    if member {
        link = exports::link(request.access(), work_id, &work).await?;
        faults_link = imports::faults_link(request.access(), work_id, &work).await?;
    }
    let going_on = work.state.is_open();
    let answer = Answer::ok(&WorkDetail { work: WorkView::new(work_id, work, member), link, faults_link });
    Ok(if going_on { answer.retry_after(1) } else { answer })
}

/// Whether the caller is a member; 404 for who is neither that nor a platform administrator.
async fn is_member(request: &Request, tenant: TenantId) -> Result<bool, Problem> {
    if role(request, tenant).await?.is_some() {
        return Ok(true);
    }
    at_least_or_platform(request, tenant, Role::Viewer).await.map(|()| false)
}

async fn read(request: &Request, tenant: TenantId, work: WorkId) -> Result<Option<Work>, Problem> {
    let stored = request.access().table(&WORK, &TRACKER).get_consistent(WorkKey { tenant, work }.key()).await?;
    Ok(stored.map(|stored| stored.read()).transpose()?)
}

/// Works on what was begun for as long as the request may last: 204 if that was enough, else 202, and it goes on.
pub async fn finish(request: &Request, held: Held) -> Result<Answer, Problem> {
    let (tenant, id, work) = (held.tenant, held.id, held.work.clone());
    // What is left of the request's time is for the answer.
    let until = request.deadline().checked_sub(Duration::from_secs(1)).unwrap_or_else(Instant::now);
    let until = until.min(Instant::now() + PATIENCE);
    let ended = carry_on(request.access(), held, until).await?;
    Ok(if ended { Answer::no_content() } else { accepted(tenant, id, work) })
}

/// The same for a repeated `DELETE`, whose work has begun before.
pub async fn resume(request: &Request, tenant: TenantId, work: &str) -> Result<Answer, Problem> {
    let id = WorkId::parse_id(work).ok_or_else(Problem::not_found)?;
    let work = read(request, tenant, id).await?.ok_or_else(Problem::not_found)?;
    match Held::take(request.access(), id).await? {
        Some(held) => finish(request, held).await,
        None => Ok(accepted(tenant, id, work)),
    }
}

/// 202 with the place where the work is told.
pub fn accepted(tenant: TenantId, id: WorkId, work: Work) -> Answer {
    let location = format!("{}/work/{}", href(tenant), id.id());
    Answer::accepted(&WorkView::new(id, work, true)).location(location)
}
