//! One step of an import: it validates some records, or writes them.

use table::{Access, Error};
use web::Problem;

use super::ahead::{Ahead, end};
use super::records::GONE;
use super::{ImportParams, PREFIX, Phase, WAIT_FOR_FILE, check, write};
use crate::access::READ_IMPORT;
use crate::project::{Consistency, Schema};
use crate::schema::BUCKET;
use crate::work::{Held, Step, Then, WorkState};

/// How often the worker looks for the file. An upload that started while its link was valid may take long.
const MAX_LOOKS: u32 = 12;

pub async fn step(access: &Access, held: &Held, ahead: &mut Ahead) -> Result<Step, Problem> {
    if held.work.state == WorkState::Cancelling {
        return write::cancelled(access, held).await;
    }
    if held.work.state == WorkState::Waiting {
        return wait_for_file(access, held).await;
    }
    let params: ImportParams = serde_json::from_value(held.work.checkpoint.clone()).map_err(Problem::internal)?;
    let schema = match held.work.project {
        Some(project) => Schema::load(access, held.tenant, project, Consistency::Strong).await?,
        None => None,
    };
    let Some(schema) = schema else { return Ok(Step::stopped(held, "its project was deleted")) };
    // The stored results of the first pass expire after the file, so they are loaded only if the file exists.
    if !ahead.has_records() && !file_exists(access, held).await? {
        return match params.phase {
            Phase::Checking => {
                Ok(end(access, held, params, held.work.counts, Then::Rejected, Vec::new()).await?.because(GONE))
            }
            Phase::Writing => write::broken(access, held, params, GONE).await,
        };
    }
    match params.phase {
        Phase::Checking => check::step(access, held, ahead, params, &schema).await,
        Phase::Writing => write::step(access, held, ahead, params, &schema).await,
    }
}

/// Continues if the file has arrived without an event.
async fn wait_for_file(access: &Access, held: &Held) -> Result<Step, Problem> {
    if file_exists(access, held).await? {
        return Ok(Step::end(held, Then::More, Vec::new()));
    }
    let mut params: ImportParams = serde_json::from_value(held.work.checkpoint.clone()).map_err(Problem::internal)?;
    params.looks += 1;
    if params.looks < MAX_LOOKS {
        return Step::new(Vec::new(), &params, held.work.counts, Then::Wait(WAIT_FOR_FILE));
    }
    Ok(Step::stopped(held, "no file arrived"))
}

/// Whether the file has arrived.
async fn file_exists(access: &Access, held: &Held) -> Result<bool, Problem> {
    match access.objects(&READ_IMPORT, BUCKET, PREFIX).head(&held.id.id()).await {
        Ok(_) => Ok(true),
        Err(Error::NotFound) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
