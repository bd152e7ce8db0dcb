//! Jobs: where they are stored, and which kinds there are. The jobs of a collection take turns with those of other
//! collections.

pub mod cancel;
pub mod get;
pub mod list;
pub mod view;
mod workers;

pub use workers::{run_jobs, start_import};

use jobs::{DueIndex, JobId, Jobs, Uploads};
use serde::{Deserialize, Serialize};
use table::schema::Table;
use table::{AccessPattern, EntityKey, Key};
use utoipa::ToSchema;

use crate::access::{DELETE_OR_RESTORE, DUE_JOBS, IMPORT_ROWS, IMPORTS, LEASE, READ_IMPORT};
use crate::keys::{JobDueKey, JobKey};
use crate::names::CollectionId;
use crate::schema::{BUCKET, PARKS};

/// The jobs of parks.
#[derive(Debug)]
pub struct ParksJobs;

pub type Job = jobs::JobOf<ParksJobs>;
pub type NewJob = jobs::NewJob<ParksJobs>;
pub type Lease = jobs::Lease<ParksJobs>;

/// What a job does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum JobKind {
    /// Creates or updates items from the rows of a file.
    Import,
    /// Deletes the children and relationships of a deleted item.
    Delete,
    /// Restores the items and relationships that a deletion cascaded to.
    Restore,
    /// Hides an item and its relationships from visitors.
    Hide,
    /// Shows an item and its relationships to visitors.
    Show,
}

/// What a job works on, and where it is listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Details {
    /// The document id of an item, such as `collection#bcparks_1`.
    pub root: String,
    list_pk: String,
    /// The id of the job.
    list_sk: String,
}

impl Details {
    pub fn new(root: &Key, id: JobId) -> Self {
        Self { root: root.document_id(), list_pk: LISTED.to_owned(), list_sk: id.to_string() }
    }
}

/// The partition that lists all jobs by id, in the order of creation.
const LISTED: &str = "job::all";

impl Jobs for ParksJobs {
    type Group = CollectionId;
    type Kind = JobKind;
    type Details = Details;

    const TABLE: &'static Table = &PARKS;
    const DUE: DueIndex = DueIndex { index: "list", partition: "job::due" };
    const LEASE: &'static AccessPattern = &LEASE;
    const LIST_DUE: &'static AccessPattern = &DUE_JOBS;
    const UPLOADS: Option<Uploads> =
        Some(Uploads { pattern: &READ_IMPORT, bucket: BUCKET, prefix: IMPORTS.prefix, wait: 20 * 60, max_looks: 12 });

    fn key(_: &CollectionId, job: JobId) -> Key {
        JobKey { job }.key()
    }

    fn due_key(job: JobId) -> Key {
        JobDueKey { job }.key()
    }

    fn parse_due_key(key: &Key) -> Option<JobId> {
        JobDueKey::parse(key).map(|key| key.job)
    }

    fn href(_: &CollectionId, job: JobId) -> String {
        href(job)
    }

    fn step_pattern(kind: JobKind) -> &'static AccessPattern {
        match kind {
            JobKind::Import => &IMPORT_ROWS,
            JobKind::Delete | JobKind::Restore | JobKind::Hide | JobKind::Show => &DELETE_OR_RESTORE,
        }
    }
}

/// The path at which a job is served.
pub fn href(job: JobId) -> String {
    format!("/parks/jobs/{job}")
}
