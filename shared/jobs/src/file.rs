//! The files that jobs wait for.

use table::{Access, Error};
use web::Problem;

use crate::{Jobs, Lease, Step, Then};

/// Looks for a file whose notification may be lost. The job fails if the file does not arrive in time.
pub(crate) async fn look<J: Jobs>(access: &Access, lease: &Lease<J>) -> Result<Step, Problem> {
    if lease.has_file(access).await? {
        return Ok(Step::unchanged(&lease.job, Then::Continue));
    }
    let looks = lease.job.looks.unwrap_or(0) + 1;
    match J::UPLOADS {
        Some(uploads) if looks < uploads.max_looks => {
            Ok(Step::unchanged(&lease.job, Then::Wait(uploads.wait)).after_looks(looks))
        }
        _ => Ok(Step::fail(&lease.job, "no file arrived")),
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
