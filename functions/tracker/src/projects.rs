//! Projects: made with their counter and gates, listed by name, renamed, deleted.

use serde::Deserialize;
use table::{Action, Cause, Changes, Condition, EntityKey, Sequence, Stored, item};
use utoipa::ToSchema;
use web::{Answer, Page, Problem, Request};

use crate::access::{BEGIN_DELETION, CREATE_PROJECT, RENAME_PROJECT};
use crate::callers::{at_least, me};
use crate::items::{Gate, Project, Role};
use crate::keys::{CounterKey, GateKey, ProjectKey, TenantKey};
use crate::listed;
use crate::names::{GateNumber, ProjectId, TenantId};
use crate::project::{Gates, Read, Schema};
use crate::schema::TRACKER;
use crate::tenants::delete::DeleteQuery;
use crate::tenants::one::{ByName, TenantPath, by_name, data, href as tenant_href, refused, tag};
use crate::tenants::{changed_now, made_now, name_fault};
use crate::views::{ProjectEntry, ProjectView};
use crate::work::routes::{finish, resume};
use crate::work::{Held, Start, mark_project};

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectPath {
    pub tenant_id: TenantId,
    pub project_id: ProjectId,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewProject {
    #[schema(min_length = 1, max_length = 200, pattern = "\\S")]
    name: String,
}

#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectChange {
    #[serde(default)]
    #[schema(nullable = false, min_length = 1, max_length = 200, pattern = "\\S")]
    name: Option<String>,
}

pub fn href(tenant: TenantId, project: ProjectId) -> String {
    format!("{}/projects/{}", tenant_href(tenant), project.id())
}

/// The counter of a project's numbers.
pub fn counter(project: ProjectId) -> Sequence {
    Sequence::counting(CounterKey { project }, "Last")
}

pub async fn create(request: Request) -> Result<Answer, Problem> {
    let TenantPath { tenant_id } = request.path()?;
    at_least(&request, tenant_id, Role::Admin).await?;
    let NewProject { name } = request.json()?;
    if let Some(fault) = name_fault("/name", &name) {
        return Err(Problem::faults(vec![fault]));
    }
    if let Some(answer) = request.earlier(&CREATE_PROJECT, &TRACKER).await? {
        return Ok(answer);
    }
    let (id, stamps) = (ProjectId::new(), made_now(&request)?);
    let project = Project { data: Some(listed::entry(&name)), attrib_rev: 0, schema_rev: 0, deleting: None, stamps };
    let one_more = Action::update(&TRACKER, TenantKey { tenant: tenant_id }, Changes::new().add("Projects", 1));
    let mut actions = vec![
        one_more.when(Condition::Absent("Deleting")),
        Action::create(&TRACKER, ProjectKey { project: id, tenant: tenant_id }, &project)?,
        Action::create_sequence(&TRACKER, counter(id)),
    ];
    let gate = Gate { schema_rev: 0, live: 0, open: 0, closed: None };
    for number in GateNumber::all() {
        actions.push(Action::create(&TRACKER, GateKey { project: id, gate: number }, &gate)?);
    }
    let view = ProjectView::new(id, &project, Vec::new());
    let made = request.create_once(&CREATE_PROJECT, &TRACKER, actions, href(tenant_id, id), &view).await;
    made.map_err(|error| if error.failed(0).is_some() { Problem::not_found() } else { error.into() })
}

pub async fn list(request: Request) -> Result<Answer, Problem> {
    let TenantPath { tenant_id } = request.path()?;
    at_least(&request, tenant_id, Role::Viewer).await?;
    let query: ByName = request.query()?;
    let (stored, next_cursor) = by_name(&request, tenant_id.id(), &query).await?;
    let entry = |stored: &Stored| {
        let ProjectKey { project, .. } = ProjectKey::parse(&stored.key)?;
        Some(ProjectEntry { id: project, name: listed::name(data(stored)?).to_owned() })
    };
    Ok(Answer::ok(&Page { items: stored.iter().filter_map(entry).collect(), next_cursor }))
}

pub async fn get(request: Request) -> Result<Answer, Problem> {
    let ProjectPath { tenant_id, project_id } = request.path()?;
    at_least(&request, tenant_id, Role::Viewer).await?;
    let schema = read(&request, tenant_id, project_id, Read::Strong).await?;
    Ok(Answer::ok(&ProjectView::of(&schema)).etag(tag(&schema.stored)))
}

pub async fn rename(request: Request) -> Result<Answer, Problem> {
    let ProjectPath { tenant_id, project_id } = request.path()?;
    at_least(&request, tenant_id, Role::Admin).await?;
    let change: ProjectChange = request.json()?;
    let schema = read(&request, tenant_id, project_id, Read::Strong).await?;
    request.if_match().check(tag(&schema.stored))?;
    let before = schema.project.clone();
    let Some(name) = change.name.filter(|name| before.name() != Some(name.as_str())) else {
        return Ok(Answer::ok(&ProjectView::of(&schema)).etag(tag(&schema.stored)));
    };
    if let Some(fault) = name_fault("/name", &name) {
        return Err(Problem::faults(vec![fault]));
    }
    let after =
        Project { data: Some(listed::entry(&name)), stamps: changed_now(&request, &before.stamps)?, ..before.clone() };
    let write = Action::update(&TRACKER, schema.key(), Changes::between(&before, &after)?);
    let write = write.when(Condition::Present("Data"));
    let write = match request.if_match().rev()? {
        Some(rev) => write.if_rev(rev),
        None => write,
    };
    let rev = request.access().transact(&RENAME_PROJECT, &[write]).await.map_err(refused)?;
    Ok(Answer::ok(&ProjectView::of(&Schema { project: after, ..schema })).etag(rev))
}

pub async fn delete(request: Request) -> Result<Answer, Problem> {
    let ProjectPath { tenant_id, project_id } = request.path()?;
    at_least(&request, tenant_id, Role::Admin).await?;
    let DeleteQuery { cascade } = request.query()?;
    let schema = Schema::read_any(request.access(), tenant_id, project_id, Read::Strong).await?;
    let schema = schema.ok_or_else(Problem::not_found)?;
    if let Some(work) = &schema.project.deleting {
        return resume(&request, tenant_id, work).await;
    }
    request.if_match().check(tag(&schema.stored))?;
    let gates = Gates::read(request.access(), project_id).await?;
    let has_dependents =
        |gates: &Gates| Problem::has_dependents(&[("issues", u64::try_from(gates.live()).unwrap_or_default().max(1))]);
    if !cascade && gates.live() > 0 {
        return Err(has_dependents(&gates));
    }
    let who = Some(me(&request)?.to_string());
    let unchanged = !request.if_match().is_absent();
    let (begun, actions) = mark_project(request.access(), &schema, &gates, !cascade, unchanged, who, Start::Held)?;
    request.access().transact(&BEGIN_DELETION, &actions).await.map_err(|error| match error.failed(0) {
        Some(failed) if failed.cause == Cause::Stale => Problem::stale(),
        // Somebody else deletes it.
        Some(_) => Problem::not_found(),
        None if matches!(error, table::Error::ConditionFailed(_)) => has_dependents(&gates),
        None => error.into(),
    })?;
    finish(&request, Held::made(tenant_id, begun)).await
}

/// The project with its attributes, or 404.
pub async fn read(request: &Request, tenant: TenantId, project: ProjectId, read: Read) -> Result<Schema, Problem> {
    let found = match Schema::read(request.access(), tenant, project, read).await? {
        // What a read of some moments ago lacks may be there.
        None if read == Read::Eventual => Schema::read(request.access(), tenant, project, Read::Strong).await?,
        found => found,
    };
    found.ok_or_else(Problem::not_found)
}

/// The last revision's number as the condition that a project's attributes are still as they were read.
pub fn as_read(schema: &Schema) -> Condition {
    Condition::Equals("AttribRev", item::number(schema.project.attrib_rev))
}
