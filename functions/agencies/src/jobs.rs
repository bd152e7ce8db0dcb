//! The jobs of agencies: where they are stored, and which kinds there are.

mod delete_agency;
pub mod get;
pub mod view;
mod workers;

pub use workers::run_jobs;

use jobs::{DueIndex, JobId, Jobs};
use serde::{Deserialize, Serialize};
use table::schema::Table;
use table::{AccessPattern, EntityKey, Key};
use utoipa::ToSchema;

use crate::access::{DELETION, DUE, LEASE};
use crate::keys::{JobDueKey, JobKey};
use crate::names::AgencyId;
use crate::schema::{AGENCIES, BY_TYPE};

/// The jobs of agencies. They take turns by agency.
#[derive(Debug)]
pub struct AgencyJobs;

pub type Job = jobs::JobOf<AgencyJobs>;
pub type NewJob = jobs::NewJob<AgencyJobs>;
pub type Lease = jobs::Lease<AgencyJobs>;

/// What a job does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = JobKind)]
pub enum Kind {
    /// Deletes the items of an agency, and the agency last.
    DeleteAgency,
}

/// What a job works on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = JobDetails)]
pub struct Details {
    #[schema(value_type = String)]
    pub agency_id: AgencyId,
}

impl Jobs for AgencyJobs {
    type Group = AgencyId;
    type Kind = Kind;
    type Details = Details;

    const TABLE: &'static Table = &AGENCIES;
    const DUE: DueIndex = DueIndex { index: BY_TYPE, partition: "Due" };
    const LEASE: &'static AccessPattern = &LEASE;
    const LIST_DUE: &'static AccessPattern = &DUE;

    fn group_name(agency: &AgencyId) -> String {
        agency.to_string()
    }

    fn parse_group(name: &str) -> Option<AgencyId> {
        name.parse().ok()
    }

    fn key(_: &AgencyId, job: JobId) -> Key {
        JobKey { job }.key()
    }

    fn due_key(job: JobId) -> Key {
        JobDueKey { job }.key()
    }

    fn parse_due_key(key: &Key) -> Option<JobId> {
        JobDueKey::parse(key).map(|key| key.job)
    }

    fn href(_: &AgencyId, job: JobId) -> String {
        format!("/agencies/jobs/{job}")
    }

    fn step_pattern(kind: Kind) -> &'static AccessPattern {
        match kind {
            Kind::DeleteAgency => &DELETION,
        }
    }
}
