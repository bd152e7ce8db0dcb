//! Operations on issues, one file each. Every write of an issue goes through a gate of its project and writes exactly the
//! rows that differ.

mod allocation;
pub mod clear_value;
pub mod create;
pub mod delete;
mod edit;
pub mod get;
pub mod get_by_number;
mod input;
pub mod move_to;
pub mod next_number;
pub mod renumber;
pub mod set_value;
mod settle;
pub mod update;
pub mod update_values;
mod write;

pub use input::{UNKNOWN_ATTRIBUTE, UNKNOWN_OPTION, WRONG_TYPE};
pub use settle::{forget, settle, settle_due};
pub use write::{Refused, Write, gate};

use serde::Deserialize;
use table::{Access, EntityKey, Error, Stored};
use utoipa::ToSchema;
use web::{Context, Kind, Problem, problem};

use crate::access::ISSUE;
use crate::items::Issue;
use crate::keys::IssueKey;
use crate::names::{AttributeId, IssueId, ProjectId, TenantId};
use crate::project::{Consistency, Schema};
use crate::projects;
use crate::schema::TRACKER;

const LIST: &str = "/tracker/tenants/{tenantId}/projects/{projectId}/issues";
const ONE: &str = "/tracker/tenants/{tenantId}/projects/{projectId}/issues/{issueId}";
const VALUE: &str = "/tracker/tenants/{tenantId}/projects/{projectId}/issues/{issueId}/values/{attributeId}";

/// The issue and the value of the samples.
const SAMPLE: &str = "/tracker/tenants/tenant-0807/projects/project-35e9/issues/issue-af34";
const SAMPLE_VALUE: &str = "/tracker/tenants/tenant-0807/projects/project-35e9/issues/issue-af34/values/xattrib-3fe6";

/// The greatest number of an issue.
pub const MAX_NUMBER: u64 = 1_000_000_000_000;

/// The greatest distance of a chosen number above the last number of its project, so that no request uses up a project's
/// numbers.
pub const MAX_JUMP: u64 = 1_000_000;

/// Bytes of an issue.
const MAX_BYTES: usize = 380 * 1024;

/// Bytes of a body with values: 100 values of 1024 characters, each of which may take twelve bytes in JSON, as two
/// escaped surrogates.
const MAX_BODY_WITH_VALUES: usize = 1280 * 1024;

pub const ISSUE_TOO_LARGE: Kind = Kind::new(422, "issue-too-large", "An issue has at most 380 KB");

/// The problems of operations that set values.
const VALUE_PROBLEMS: &[Kind] = &[
    problem::FORBIDDEN,
    problem::NOT_FOUND,
    WRONG_TYPE,
    UNKNOWN_ATTRIBUTE,
    UNKNOWN_OPTION,
    ISSUE_TOO_LARGE,
    problem::CONFLICT,
];

/// The path of an issue.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct IssuePath {
    tenant_id: TenantId,
    project_id: ProjectId,
    issue_id: IssueId,
}

/// The path of a value.
#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ValuePath {
    tenant_id: TenantId,
    project_id: ProjectId,
    issue_id: IssueId,
    attribute_id: AttributeId,
}

impl IssuePath {
    /// Loads the issue's project with its attributes.
    async fn load_project(&self, cx: &Context, consistency: Consistency) -> Result<Schema, Problem> {
        projects::load(cx, self.tenant_id, self.project_id, consistency).await
    }

    /// Loads the issue. 404 if it does not exist.
    async fn load(&self, cx: &Context) -> Result<LoadedIssue, Problem> {
        LoadedIssue::load(cx.access(), self.project_id, self.issue_id).await?.ok_or_else(Problem::not_found)
    }
}

impl ValuePath {
    fn issue(&self) -> IssuePath {
        IssuePath { tenant_id: self.tenant_id, project_id: self.project_id, issue_id: self.issue_id }
    }
}

/// An issue as it was read.
#[derive(Clone, Debug)]
pub struct LoadedIssue {
    pub id: IssueId,
    pub issue: Issue,
    pub stored: Stored,
}

impl LoadedIssue {
    /// Loads an issue of a project with a consistent read.
    pub async fn load(access: &Access, project: ProjectId, id: IssueId) -> Result<Option<Self>, Error> {
        let stored = access.table(&ISSUE, &TRACKER).get_consistent(IssueKey { issue: id, project }.key()).await?;
        stored.map(|stored| Ok(Self { id, issue: stored.read()?, stored })).transpose()
    }
}

/// The issue without values of attributes that its project no longer has.
pub fn cleaned(schema: &Schema, mut issue: Issue) -> Issue {
    let is_known = |id: &String| schema.columns().any(|attribute| attribute.id.to_string() == *id);
    issue.values.retain(|id, _| is_known(id));
    issue
}

/// 422 if the issue is too large.
pub fn check_size(issue: &Issue) -> Result<(), Problem> {
    let bytes = serde_json::to_vec(issue).map_err(Problem::internal)?.len();
    if bytes <= MAX_BYTES {
        return Ok(());
    }
    Err(ISSUE_TOO_LARGE.because(format!("The issue would have {bytes} bytes; the limit is {MAX_BYTES}.")))
}
