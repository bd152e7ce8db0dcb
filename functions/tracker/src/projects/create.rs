//! `POST /tracker/tenants/{tenantId}/projects`: the project with its counter and its gates.

use serde::Deserialize;
use table::{Action, Changes, Condition};
use utoipa::ToSchema;
use web::visible::name_fault;
use web::{Context, Created, Fault, IdempotencyKey, Json, Path, Problem, Route, Rules, Sample, Valid, problem};

use super::{LIST, ProjectPath, SAMPLE_LIST, counter};
use crate::access::{CREATE_PROJECT, MEMBERSHIP};
use crate::audit::Audit;
use crate::authorization::{SIGNED_IN, TenantAccess};
use crate::items::{Gate, Project};
use crate::keys::{GateKey, ProjectKey, TenantKey};
use crate::listed;
use crate::names::{GateNumber, ProjectId};
use crate::schema::TRACKER;
use crate::tenants::TenantPath;
use crate::views::ProjectView;

/// A new project.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewProject {
    #[schema(min_length = 1, max_length = 200, pattern = "\\S")]
    name: String,
}

impl Rules for NewProject {
    fn faults(&self) -> Vec<Fault> {
        name_fault("/name", &self.name).into_iter().collect()
    }
}

pub fn route() -> Route {
    Route::post("createProject", LIST, SIGNED_IN, create)
        .summary("Create a project")
        .patterns(&[&MEMBERSHIP, &CREATE_PROJECT])
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, problem::CONFLICT])
        .sample(Sample::new(SAMPLE_LIST).body(r#"{"name":"Forth Rail Bridge"}"#))
}

async fn create(
    cx: Context,
    Path(TenantPath { tenant_id: tenant }): Path<TenantPath>,
    once: IdempotencyKey,
    Valid(Json(new)): Valid<Json<NewProject>>,
) -> Result<Created<ProjectView>, Problem> {
    TenantAccess::load(&cx, tenant).await?.require_admin()?;
    if let Some(earlier) = once.earlier(&cx, &CREATE_PROJECT, &TRACKER).await? {
        return Ok(earlier);
    }
    let (id, audit) = (ProjectId::new(), Audit::now(&cx)?);
    let data = Some(listed::entry(&new.name));
    let project = Project { data, attrib_rev: 0, schema_rev: 0, deleting: None, audit };
    let count = Action::update(&TRACKER, TenantKey { tenant }, Changes::new().add("Projects", 1));
    let mut actions = vec![
        count.when(Condition::Absent("Deleting")),
        Action::create(&TRACKER, ProjectKey { project: id, tenant }, &project)?,
        Action::create_sequence(&TRACKER, counter(id)),
    ];
    let gate = Gate { schema_rev: 0, live: 0, open: 0, closed: None };
    for number in GateNumber::all() {
        actions.push(Action::create(&TRACKER, GateKey { project: id, gate: number }, &gate)?);
    }
    let view = ProjectView::new(id, &project, Vec::new())?;
    let location = ProjectPath { tenant_id: tenant, project_id: id }.href();
    let created = once.create(&cx, &CREATE_PROJECT, &TRACKER, actions, location, &view).await;
    created.map_err(|error| if error.failed(0).is_some() { Problem::not_found() } else { error.into() })
}
