//! `PATCH /tracker/tenants/{tenantId}/projects/{projectId}`

use serde::Deserialize;
use table::{Action, Changes, Condition};
use utoipa::ToSchema;
use web::visible::name_fault;
use web::{Context, Fault, IfMatch, MergePatch, Path, Problem, Route, Rules, Sample, Tagged, Valid, problem};

use super::{ONE, ProjectPath, SAMPLE};
use crate::access::{MEMBERSHIP, PROJECT, UPDATE_PROJECT};
use crate::authorization::{SIGNED_IN, TenantAccess};
use crate::items::Project;
use crate::listed;
use crate::project::{Consistency, Schema};
use crate::schema::TRACKER;
use crate::tenants::refusal;
use crate::views::ProjectView;

/// The fields of a project that can be updated.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectPatch {
    #[serde(default)]
    #[schema(nullable = false, min_length = 1, max_length = 200, pattern = "\\S")]
    name: Option<String>,
}

impl Rules for ProjectPatch {
    fn faults(&self) -> Vec<Fault> {
        self.name.as_deref().and_then(|name| name_fault("/name", name)).into_iter().collect()
    }
}

pub fn route() -> Route {
    Route::patch("updateProject", ONE, SIGNED_IN, update)
        .summary("Update a project's name")
        .patterns(&[&MEMBERSHIP, &PROJECT, &UPDATE_PROJECT])
        .problems(&[problem::FORBIDDEN, problem::NOT_FOUND, problem::CONFLICT])
        .sample(Sample::new(SAMPLE).body(r#"{"name":"Forth Bridge"}"#))
}

async fn update(
    cx: Context,
    Path(path): Path<ProjectPath>,
    tag: IfMatch,
    Valid(MergePatch(patch)): Valid<MergePatch<ProjectPatch>>,
) -> Result<Tagged<ProjectView>, Problem> {
    TenantAccess::load(&cx, path.tenant_id).await?.require_admin()?;
    let schema = path.load(&cx, Consistency::Strong).await?;
    tag.check(schema.stored.rev)?;
    let before = &schema.project;
    let Some(name) = patch.name.filter(|name| before.name() != Some(name.as_str())) else {
        return Ok(Tagged::new(&ProjectView::of(&schema)?, schema.stored.rev));
    };
    let after = Project { data: Some(listed::entry(&name)), audit: before.audit.updated(&cx)?, ..before.clone() };
    let update = Action::update(&TRACKER, schema.key(), Changes::between(before, &after)?);
    let update = update.when(Condition::Present("Data"));
    let update = tag.guard(update, &schema.stored);
    let rev = cx.access().transact(&UPDATE_PROJECT, &[update]).await.map_err(refusal)?;
    Ok(Tagged::new(&ProjectView::of(&Schema { project: after, ..schema })?, rev))
}
