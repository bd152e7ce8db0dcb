//! Jobs that begin when their file has arrived in the bucket.

use bytes::Bytes;
use table::{Access, Error};
use web::notification::arrived;
use web::{Event, EventFailure, Problem};

use crate::turn::carry_on;
use crate::{Jobs, Lease, Step, Then};

/// Handles the notification of uploaded files: starts their jobs, and works on each until the deadline. A repeated
/// notification changes nothing.
pub async fn start_uploaded<J: Jobs>(event: Event) -> Result<Bytes, EventFailure> {
    let prefix = J::UPLOADS.map_or("", |uploads| uploads.prefix);
    for object in arrived(&event.payload).map_err(EventFailure::new)? {
        let Some(id) = object.strip_prefix(prefix).and_then(|name| name.parse().ok()) else { continue };
        let lease = Lease::<J>::acquire_uploaded(event.access(), id).await.map_err(EventFailure::new)?;
        if let Some(lease) = lease {
            carry_on(event.access(), lease, event.deadline).await.map_err(EventFailure::new)?;
        }
    }
    Ok(Bytes::from_static(b"{}"))
}

/// Looks for a file whose notification may be lost. The job fails if the file does not arrive in time.
pub(crate) async fn look<J: Jobs>(access: &Access, lease: &Lease<J>) -> Result<Step, Problem> {
    if lease.has_file(access).await? {
        return Ok(Step::end(lease, Then::Continue));
    }
    let looks = lease.job.looks.unwrap_or(0) + 1;
    match J::UPLOADS {
        Some(uploads) if looks < uploads.max_looks => Ok(Step::end(lease, Then::Wait(uploads.wait)).after_looks(looks)),
        _ => Ok(Step::fail(lease, "no file arrived")),
    }
}

impl<J: Jobs> Lease<J> {
    /// Whether the file of the job is in the bucket.
    pub async fn has_file(&self, access: &Access) -> Result<bool, Problem> {
        let Some(uploads) = J::UPLOADS else { return Ok(false) };
        match access.objects(uploads.pattern, uploads.bucket, uploads.prefix).head(&self.id.to_string()).await {
            Ok(_) => Ok(true),
            Err(Error::NotFound) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}
