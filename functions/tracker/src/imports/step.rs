//! One step of an import: it validates some records, or writes them.

use jobs::{Step, Then, Worker};
use table::Access;
use web::Problem;

use super::ahead::{Ahead, end};
use super::records::{FileOffset, GONE};
use super::{ImportParams, Phase, check, write};
use crate::authorization::role_of;
use crate::items::Role;
use crate::jobs::{Lease, TrackerJobs};
use crate::project::{Consistency, Schema};

/// The reason of an import whose creator was removed from the tenant, or is a viewer now.
const NO_EDITOR: &str = "the person who created it is no longer an editor or an administrator of the tenant";

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
        if let Some(reason) = self.obstacle(access, lease, &params).await? {
            return fail(access, lease, params, reason).await;
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

impl Import {
    /// Why the import cannot begin or resume.
    async fn obstacle(
        &self,
        access: &Access,
        lease: &Lease,
        params: &ImportParams,
    ) -> Result<Option<&'static str>, Problem> {
        // The link takes the file even if its creator has lost the role, and the first pass may take long.
        if params.offset == FileOffset::default() && !creator_is_editor(access, lease).await? {
            return Ok(Some(NO_EDITOR));
        }
        // The stored results of the first pass expire after the file, so they are loaded only if the file exists.
        if !self.0.has_records() && !lease.has_file(access).await? {
            return Ok(Some(GONE));
        }
        Ok(None)
    }
}

/// Whether the person who created the import may write issues.
async fn creator_is_editor(access: &Access, lease: &Lease) -> Result<bool, Problem> {
    let Some(creator) = lease.job.created_by.as_ref().and_then(|creator| creator.parse().ok()) else {
        return Ok(false);
    };
    Ok(role_of(access, lease.group, creator).await?.is_some_and(|role| role >= Role::Editor))
}

/// The step that ends the import for this reason.
async fn fail(access: &Access, lease: &Lease, params: ImportParams, reason: &str) -> Result<Step, Problem> {
    match params.phase {
        Phase::Checking => {
            end(access, lease, params, lease.job.counts, Then::Fail(reason.to_owned()), Vec::new()).await
        }
        Phase::Writing => write::broken(access, lease, params, reason).await,
    }
}
