//! The handler `startImport`: a file has arrived, and its job begins. A job that has begun is left alone, so an event
//! that comes twice changes nothing.

use bytes::Bytes;
use table::{Access, EntityKey, Error};
use tokio::time::Instant;
use web::notification::arrived;
use web::{Event, EventFailure, Problem};

use super::PREFIX;
use crate::access;
use crate::jobs::{Held, Job, JobStatus, carry_on};
use crate::keys::JobKey;
use crate::names::JobId;
use crate::schema::PARKS;

pub async fn start_import(event: Event) -> Result<Bytes, EventFailure> {
    for object in arrived(&event.payload).map_err(EventFailure::new)? {
        let Some(id) = object.strip_prefix(PREFIX).and_then(|name| name.parse().ok()) else { continue };
        begin(event.access(), id, event.deadline).await.map_err(EventFailure::new)?;
    }
    Ok(Bytes::from_static(b"{}"))
}

/// Works on the job for as long as there is time; the rest is left to `runWork`.
async fn begin(access: &Access, id: JobId, until: Instant) -> Result<(), Problem> {
    let stored = access.table(&access::WORK, &PARKS).get_consistent(JobKey { job: id }.key()).await?;
    let Some(stored) = stored else { return Ok(()) };
    let mut job: Job = stored.read()?;
    if job.status != JobStatus::Waiting {
        return Ok(());
    }
    (job.status, job.expires) = (JobStatus::Running, None);
    match Held::begin(access, id, stored, job).await {
        Ok(held) => carry_on(access, held, until).await.map(|_| ()),
        // Another delivery of the same event is at it.
        Err(Error::Stale { .. } | Error::NotFound) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
