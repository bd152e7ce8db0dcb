//! The item of a job.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use table::{Access, Key};
use utoipa::ToSchema;
use web::Problem;

/// A job as the table stores it. `Details` is what a system adds, such as the project of the job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Job<Kind, Details> {
    pub kind: Kind,
    #[serde(flatten)]
    pub details: Details,
    pub status: Status,
    /// Asks the worker to end the job. The worker counts first what it has written.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cancel_requested: bool,
    pub counts: Counts,
    /// Why the job has failed.
    pub reason: Option<String>,
    /// The first 20 faults of the rows of a file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<RowFault>,
    /// Where the next step resumes; each kind has its own form.
    #[serde(default)]
    pub checkpoint: Value,
    /// How often a worker has looked for the file of a job that waits for one; absent for other jobs.
    pub looks: Option<u32>,
    /// The items that limit the number of open jobs, which the end of the job deletes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slots: Vec<Key>,
    pub created_at: String,
    pub created_by: Option<String>,
    pub ended_at: Option<String>,
    /// Seconds since 1970.
    pub expires: Option<i64>,
}

/// The status of a job, in every system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = JobStatus)]
pub enum Status {
    /// No step was done: the job waits for a worker, or for its file.
    Queued,
    Running,
    Succeeded,
    /// It ended before all was done; `reason` says why.
    Failed,
    Cancelled,
}

/// The progress of a job, in items or rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = JobCounts)]
pub struct Counts {
    /// As far as it is known.
    pub total: u64,
    pub done: u64,
    #[serde(default)]
    pub failed: u64,
    /// The items that an import has created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub created: Option<u64>,
    /// The items that an import has updated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub updated: Option<u64>,
}

/// A fault of a row of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RowFault {
    /// The number of the record. The header is 0.
    pub record: u64,
    /// The line on which the cell begins, from 1. A quoted cell may have several lines.
    pub line: u64,
    /// The header of the cell's column; absent for the record as a whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub column: Option<String>,
    pub detail: String,
}

/// The limit of faults in the item of a job.
pub(crate) const MAX_FAULTS: usize = 20;

/// How long a job is kept after its end, in seconds: 30 days.
pub const RETENTION_SECONDS: i64 = 30 * 24 * 3600;

impl<Kind, Details> Job<Kind, Details> {
    /// Creates a queued job.
    pub fn new(access: &Access, kind: Kind, details: Details, created_by: Option<String>) -> Self {
        Self {
            kind,
            details,
            status: Status::Queued,
            cancel_requested: false,
            counts: Counts::default(),
            reason: None,
            faults: Vec::new(),
            checkpoint: Value::Null,
            looks: None,
            slots: Vec::new(),
            created_at: table::clock::rfc3339(access.engines().clock.now()),
            created_by,
            ended_at: None,
            expires: None,
        }
    }

    /// Makes it wait for its file.
    pub fn waiting_for_file(self) -> Self {
        Self { looks: Some(0), ..self }
    }

    /// Sets the checkpoint at which its first step begins.
    pub fn at(self, checkpoint: &impl Serialize) -> Result<Self, Problem> {
        Ok(Self { checkpoint: serde_json::to_value(checkpoint).map_err(Problem::internal)?, ..self })
    }

    /// Reads the checkpoint in the form of the job's kind. It is null before it is set.
    pub fn checkpoint<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        serde_json::from_value(self.checkpoint.clone()).map_err(Problem::internal)
    }

    pub fn is_open(&self) -> bool {
        self.status.is_open()
    }

    pub(crate) fn waits_for_file(&self) -> bool {
        self.status == Status::Queued && self.looks.is_some()
    }

    /// Ends the job.
    pub(crate) fn end(&mut self, access: &Access, status: Status, reason: Option<String>) {
        let clock = &access.engines().clock;
        (self.status, self.reason, self.cancel_requested) = (status, reason, false);
        self.ended_at = Some(table::clock::rfc3339(clock.now()));
        self.expires = Some(clock.seconds() + RETENTION_SECONDS);
        self.slots.clear();
    }
}

impl Status {
    /// Whether the job is queued or running.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Queued | Self::Running)
    }
}

impl Counts {
    pub fn new(total: u64, done: u64) -> Self {
        Self { total, done, ..Self::default() }
    }
}
