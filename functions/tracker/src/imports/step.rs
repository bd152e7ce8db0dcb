//! One step of an import: it validates some records, or writes them.

use jobs::{Step, Then, Worker};
use table::Access;
use web::Problem;

use super::ahead::{Ahead, end};
use super::records::GONE;
use super::{ImportParams, Phase, check, write};
use crate::jobs::{Lease, TrackerJobs};
use crate::project::{Consistency, Schema};

/// Works on an import.
#[derive(Debug, Default)]
pub struct Import(Ahead);

impl Worker<TrackerJobs> for Import {
    async fn step(&mut self, access: &Access, lease: &Lease) -> Result<Step, Problem> {
        let params: ImportParams = lease.job.checkpoint()?;
        let schema = match lease.job.details.project {
            Some(project) => Schema::load(access, lease.group, project, Consistency::Strong).await?,
            None => None,
        };
        let Some(schema) = schema else { return Ok(Step::fail(&lease.job, "its project was deleted")) };
        // The stored results of the first pass expire after the file, so they are loaded only if the file exists.
        if !self.0.has_records() && !lease.has_file(access).await? {
            return match params.phase {
                Phase::Checking => {
                    end(access, lease, params, lease.job.counts, Then::Fail(GONE.to_owned()), Vec::new()).await
                }
                Phase::Writing => write::broken(access, lease, params, GONE).await,
            };
        }
        match params.phase {
            Phase::Checking => check::step(access, lease, &mut self.0, params, &schema).await,
            Phase::Writing => write::step(access, lease, &mut self.0, params, &schema).await,
        }
    }

    /// Counts what was written since the checkpoint. No run that has lost its lease writes anything after it.
    async fn cancel(&mut self, access: &Access, lease: &Lease) -> Result<Step, Problem> {
        write::cancelled(access, lease).await
    }
}
