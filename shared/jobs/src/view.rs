//! Jobs in responses.

use serde::Serialize;
use utoipa::ToSchema;
use web::Accepted;

use crate::{Counts, JobId, JobOf, Jobs, RowFault, Status};

/// A job in responses.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Job)]
pub struct JobView<Kind, Details> {
    pub id: JobId,
    #[schema(inline)]
    pub kind: Kind,
    #[serde(flatten)]
    #[schema(inline)]
    pub details: Details,
    pub status: Status,
    /// Whether the job is being cancelled.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schema(required = false)]
    pub cancel_requested: bool,
    pub counts: Counts,
    /// Why the job has failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The first 20 faults of the rows of a file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<RowFault>,
    pub created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
}

/// A job in the responses of a system that shows the details as they are stored.
pub type JobViewOf<J> = JobView<<J as Jobs>::Kind, <J as Jobs>::Details>;

impl<Kind, Details> JobView<Kind, Details> {
    pub fn of<J>(id: JobId, job: JobOf<J>) -> Self
    where
        J: Jobs<Kind = Kind, Details = Details>,
        Details: Clone,
    {
        let details = job.details.clone();
        Self::new::<J>(id, job, details)
    }

    pub fn new<J>(id: JobId, job: JobOf<J>, details: Details) -> Self
    where
        J: Jobs<Kind = Kind>,
    {
        Self {
            id,
            kind: job.kind,
            details,
            status: job.status,
            cancel_requested: job.cancel_requested,
            counts: job.counts,
            reason: job.reason,
            faults: job.faults,
            created_at: job.created_at,
            created_by: job.created_by,
            ended_at: job.ended_at,
        }
    }
}

/// 202 with a job and its path.
pub fn accepted<J: Jobs>(group: &J::Group, id: JobId, job: JobOf<J>) -> Accepted<JobViewOf<J>> {
    Accepted::new(J::href(group, id), &JobView::of::<J>(id, job))
}
