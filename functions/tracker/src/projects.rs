//! Operations on projects, one file each.

pub mod create;
pub mod delete;
pub mod get;
pub mod list;
pub mod update;

use serde::Deserialize;
use table::Sequence;
use utoipa::ToSchema;
use web::{Context, Problem};

use crate::keys::CounterKey;
use crate::names::{ProjectId, TenantId};
use crate::project::{Consistency, Schema};
use crate::tenants;

const LIST: &str = "/tracker/tenants/{tenantId}/projects";
const ONE: &str = "/tracker/tenants/{tenantId}/projects/{projectId}";

/// The projects and the project of the samples.
const SAMPLE_LIST: &str = "/tracker/tenants/tenant-0807/projects";
const SAMPLE: &str = "/tracker/tenants/tenant-0807/projects/project-35e9";

/// The path of a project.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProjectPath {
    pub tenant_id: TenantId,
    pub project_id: ProjectId,
}

impl ProjectPath {
    /// Loads the project with its attributes. 404 if it does not exist or is being deleted.
    pub async fn load(&self, cx: &Context, consistency: Consistency) -> Result<Schema, Problem> {
        load(cx, self.tenant_id, self.project_id, consistency).await
    }

    pub fn href(&self) -> String {
        format!("{}/projects/{}", tenants::href(self.tenant_id), self.project_id.id())
    }
}

/// Loads a project with its attributes. 404 if it does not exist or is being deleted.
pub async fn load(
    cx: &Context,
    tenant: TenantId,
    project: ProjectId,
    consistency: Consistency,
) -> Result<Schema, Problem> {
    let found = match Schema::load(cx.access(), tenant, project, consistency).await? {
        // An eventually consistent read may not see a new project yet.
        None if consistency == Consistency::Eventual => {
            Schema::load(cx.access(), tenant, project, Consistency::Strong).await?
        }
        found => found,
    };
    found.ok_or_else(Problem::not_found)
}

/// The counter of a project's numbers.
pub fn counter(project: ProjectId) -> Sequence {
    Sequence::counting(CounterKey { project }, "Last")
}
