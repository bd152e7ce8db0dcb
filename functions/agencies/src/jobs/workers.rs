//! What works on jobs: a worker for each kind, and the scheduled run.

use bytes::Bytes;
use jobs::{AnyWorker, Workers};
use web::{Event, EventFailure};

use super::delete_agency::DeleteAgency;
use super::{AgencyJobs, Kind};

impl Workers for AgencyJobs {
    fn worker(kind: Kind) -> Box<dyn AnyWorker<Self>> {
        match kind {
            Kind::DeleteAgency => Box::new(DeleteAgency),
        }
    }
}

/// The handler `runJobs`, every minute: works on the jobs that are due.
pub async fn run_jobs(event: Event) -> Result<Bytes, EventFailure> {
    let summary = jobs::run::<AgencyJobs>(event.access(), event.deadline).await?;
    event.finish(summary)
}
