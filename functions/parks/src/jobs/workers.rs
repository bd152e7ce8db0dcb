//! What works on jobs: a worker for each kind, and the scheduled run.

use bytes::Bytes;
use jobs::{AnyWorker, Workers};
use web::{Event, EventFailure};

use super::{JobKind, ParksJobs};
use crate::cascade::job::{Deletion, Restoration, Showing};
use crate::imports::Import;
use crate::shapes::finish_removals;

impl Workers for ParksJobs {
    fn worker(kind: JobKind) -> Box<dyn AnyWorker<Self>> {
        match kind {
            JobKind::Import => Box::new(Import::default()),
            JobKind::Delete => Box::new(Deletion),
            JobKind::Restore => Box::new(Restoration),
            JobKind::Hide | JobKind::Show => Box::new(Showing),
        }
    }
}

/// The handler `runJobs`, every minute: works on the jobs that are due, and resumes unfinished removals of shapes.
pub async fn run_jobs(event: Event) -> Result<Bytes, EventFailure> {
    let (access, until) = (event.access(), event.deadline);
    let (jobs, removals) = futures::join!(jobs::run::<ParksJobs>(access, until), finish_removals(access, until));
    event.finish(jobs? + removals.map_err(EventFailure::new)?)
}

/// The handler `startImport`: starts the imports whose files have arrived.
pub async fn start_import(event: Event) -> Result<Bytes, EventFailure> {
    jobs::start_uploaded::<ParksJobs>(event).await
}
