//! The jobs of a tenant: where they are stored, and which kinds there are.

mod build_attribute;
pub mod cancel;
mod delete_attribute;
mod delete_project;
mod delete_tenant;
mod every_issue;
pub mod get;
mod limits;
pub mod list;
mod pages;
mod retype_attribute;
pub mod undo;
pub mod view;
mod workers;

pub use delete_project::{Conditions, mark as mark_project};
pub use delete_tenant::hide as hide_tenant;
pub use limits::{Limited, imports_are_open};
pub use pages::{issue_of, issues as issues_of};
pub use retype_attribute::as_text;
pub use workers::{run_job, start_import};

use jobs::{DueIndex, JobId, JobQueue, Jobs, Uploads};
use serde::{Deserialize, Serialize};
use table::schema::Table;
use table::{AccessPattern, EntityKey, Key};
use utoipa::ToSchema;

use crate::access::{
    ATTRIBUTE_STEP, BEGIN_JOB, CHECKPOINT, DELETE_ATTRIBUTE_STEP, DUE, IMPORTS, JOB, LEASE, PROJECT_STEP, READ_IMPORT,
    TENANT_STEP,
};
use crate::keys::{JobDueKey, JobKey};
use crate::names::{AttributeId, ProjectId, TenantId};
use crate::schema::{BUCKET, INDEX, QUEUE, TRACKER};
use crate::tenants;

/// How long the index may lag behind the table, in seconds. What must show in it is looked for again after this time.
pub const LAG: u64 = 60;

/// The jobs of tracker.
#[derive(Debug)]
pub struct TrackerJobs;

pub type Job = jobs::JobOf<TrackerJobs>;
pub type NewJob = jobs::NewJob<TrackerJobs>;
pub type Lease = jobs::Lease<TrackerJobs>;

/// What a job does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = JobKind)]
pub enum Kind {
    /// Lists the issues that are older than an attribute among those without a value of it.
    BuildAttribute,
    /// Converts the values of an attribute to text.
    RetypeAttribute,
    /// Deletes an attribute with its values.
    DeleteAttribute,
    DeleteProject,
    DeleteTenant,
    /// Lowers the number of a project's next issue.
    LowerNumbers,
    /// Creates or updates issues from the rows of a file.
    Import,
    /// Deletes the issues that an import has created, except those that were updated since. It counts the records of the
    /// file; `failed` is the number of records whose issues were updated and stay.
    UndoImport,
    /// Writes the rows of a grid into a file.
    Export,
}

/// What a job works on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = JobDetails)]
pub struct Details {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub project: Option<ProjectId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub attribute: Option<AttributeId>,
}

impl Details {
    pub const TENANT: Self = Self { project: None, attribute: None };

    pub fn project(project: ProjectId) -> Self {
        Self { project: Some(project), attribute: None }
    }

    pub fn attribute(project: ProjectId, attribute: AttributeId) -> Self {
        Self { project: Some(project), attribute: Some(attribute) }
    }
}

impl Jobs for TrackerJobs {
    type Group = TenantId;
    type Kind = Kind;
    type Details = Details;

    const TABLE: &'static Table = &TRACKER;
    const DUE: DueIndex = DueIndex { index: INDEX, partition: "due" };
    const LEASE: &'static AccessPattern = &LEASE;
    const READ: &'static AccessPattern = &JOB;
    const LIST_DUE: &'static AccessPattern = &DUE;
    const UPLOADS: Option<Uploads> =
        Some(Uploads { pattern: &READ_IMPORT, bucket: BUCKET, prefix: IMPORTS.prefix, wait: 20 * 60, max_looks: 12 });
    const QUEUE: Option<JobQueue> = Some(JobQueue { name: QUEUE, pattern: &BEGIN_JOB });

    fn group_name(tenant: &TenantId) -> String {
        tenant.id()
    }

    fn parse_group(name: &str) -> Option<TenantId> {
        TenantId::parse_id(name)
    }

    fn key(tenant: &TenantId, job: JobId) -> Key {
        JobKey { tenant: *tenant, job }.key()
    }

    fn due_key(job: JobId) -> Key {
        JobDueKey { job }.key()
    }

    fn parse_due_key(key: &Key) -> Option<JobId> {
        JobDueKey::parse(key).map(|key| key.job)
    }

    fn href(tenant: &TenantId, job: JobId) -> String {
        format!("{}/jobs/{job}", tenants::href(*tenant))
    }

    /// A queued undo may have a worker already, which deletes issues before its first commit.
    fn is_ended_by_worker(kind: Kind) -> bool {
        kind == Kind::UndoImport
    }

    fn step_pattern(kind: Kind) -> &'static AccessPattern {
        match kind {
            Kind::Import | Kind::UndoImport | Kind::Export => &CHECKPOINT,
            Kind::DeleteProject => &PROJECT_STEP,
            Kind::DeleteTenant => &TENANT_STEP,
            Kind::DeleteAttribute => &DELETE_ATTRIBUTE_STEP,
            Kind::BuildAttribute | Kind::RetypeAttribute | Kind::LowerNumbers => &ATTRIBUTE_STEP,
        }
    }
}
