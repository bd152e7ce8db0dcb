//! The jobs of agencies: where they are stored, and which kinds there are.

mod delete_agency;
pub mod list;
mod workers;

use jobs::{DueIndex, JobId, Jobs};
use serde::{Deserialize, Serialize};
use table::AccessPattern;
use table::schema::Table;
use utoipa::ToSchema;
use web::Route;

use crate::access::{DELETION, DUE, JOB, LEASE};
use crate::authorization::PLATFORM_ADMINS;
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

/// `GET /agencies/jobs/{jobId}`. No agency has the id `jobs`, since the ids of new agencies are UUIDs.
pub fn get_route() -> Route {
    jobs::get_route::<AgencyJobs>("/agencies/jobs/{jobId}", PLATFORM_ADMINS)
}

impl Jobs for AgencyJobs {
    type Group = AgencyId;
    type Kind = Kind;
    type Details = Details;

    const TABLE: &'static Table = &AGENCIES;
    const DUE: DueIndex = DueIndex { index: BY_TYPE, partition: "Due" };
    const LEASE: &'static AccessPattern = &LEASE;
    const READ: &'static AccessPattern = &JOB;
    const LIST_DUE: &'static AccessPattern = &DUE;

    fn href(_: &AgencyId, job: JobId) -> String {
        format!("/agencies/jobs/{job}")
    }

    fn step_pattern(kind: Kind) -> &'static AccessPattern {
        match kind {
            Kind::DeleteAgency => &DELETION,
        }
    }
}
