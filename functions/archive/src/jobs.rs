//! The jobs of posts: where they are stored, and which kinds there are. The jobs of one post take turns with those of
//! others.

mod workers;

pub use workers::{JOB_PATTERNS, run_job};

use ::jobs::{DueIndex, JobId, JobQueue, Jobs};
use serde::{Deserialize, Serialize};
use table::schema::Table;
use table::{AccessPattern, EntityKey, Key};
use utoipa::ToSchema;

use crate::access::{BEGIN_JOB, DELETE_POST_STEP, LEASE, LIST_DUE, PUBLISH_STEP};
use crate::keys::{JobDueKey, JobKey};
use crate::names::{PostId, RunNumber};
use crate::schema::{ARCHIVE, INDEX, QUEUE};

/// The jobs of the archive.
#[derive(Debug)]
pub struct ArchiveJobs;

pub type Job = ::jobs::JobOf<ArchiveJobs>;
pub type NewJob = ::jobs::NewJob<ArchiveJobs>;
pub type Lease = ::jobs::Lease<ArchiveJobs>;

/// What a job does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = JobKind)]
pub enum Kind {
    /// Writes the records of a post's file, and lets readers see them.
    Publish,
    /// Deletes the records of a run that readers do not see any more.
    Unpublish,
    /// Deletes a post with all that belongs to it.
    DeletePost,
}

/// What a job works on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Details {
    pub run: RunNumber,
}

impl Jobs for ArchiveJobs {
    type Group = PostId;
    type Kind = Kind;
    type Details = Details;

    const TABLE: &'static Table = &ARCHIVE;
    const DUE: DueIndex = DueIndex { index: INDEX, partition: "jobDue" };
    const LEASE: &'static AccessPattern = &LEASE;
    const LIST_DUE: &'static AccessPattern = &LIST_DUE;
    const QUEUE: Option<JobQueue> = Some(JobQueue { name: QUEUE, pattern: &BEGIN_JOB });

    fn key(_: &PostId, job: JobId) -> Key {
        JobKey { job }.key()
    }

    fn due_key(job: JobId) -> Key {
        JobDueKey { job }.key()
    }

    fn parse_due_key(key: &Key) -> Option<JobId> {
        JobDueKey::parse(key).map(|key| key.job)
    }

    /// Readers follow the run, not the job.
    fn href(post: &PostId, _: JobId) -> String {
        format!("/archive/posts/{post}/runs")
    }

    /// The post of a run says that it is being published, until the run's worker sets it back.
    fn is_ended_by_worker(kind: Kind) -> bool {
        kind == Kind::Publish
    }

    fn step_pattern(kind: Kind) -> &'static AccessPattern {
        match kind {
            Kind::Publish | Kind::Unpublish => &PUBLISH_STEP,
            Kind::DeletePost => &DELETE_POST_STEP,
        }
    }
}
