//! One step of an import: so many records looked at, or written.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use table::{Access, Error};
use web::Problem;

use super::met::Met;
use super::records::{At, GONE, Records};
use super::{PREFIX, Phase, Plan, check, faults, write};
use crate::access::READ_IMPORT;
use crate::names::WorkId;
use crate::project::{Read, Schema};
use crate::schema::BUCKET;
use crate::work::{Counts, Held, RowFault, Step, Then, WorkState};

/// How long a step may take, so that whoever waits sees the counts move.
pub const AT_MOST: Duration = Duration::from_secs(1);

/// How long the link takes the file, and a while for it to be told of, in seconds: so often it is looked for.
pub const WAITS: u64 = 20 * 60;

/// How often it is looked for: what was begun to be sent while the link took it may be long on its way.
const LOOKS: u32 = 12;

/// What a run knows of the file beyond the checkpoint.
#[derive(Debug, Default)]
pub struct Ahead {
    /// The file, read up to the checkpoint.
    records: Option<Records>,
    /// What was met before the checkpoint, and before the one that may follow it, under their names.
    met: VecDeque<(String, Arc<Met>)>,
    pub pace: write::Pace,
}

impl Ahead {
    /// The records from a place on.
    pub(super) fn records(&mut self, id: WorkId, plan: &Plan, at: At) -> Records {
        match self.records.take() {
            Some(records) if records.at() == at => records,
            _ => Records::new(id.id(), plan.bytes, at),
        }
    }

    /// Keeps the records for the next step.
    pub fn keep(&mut self, records: Records) {
        self.records = Some(records);
    }

    /// What all records before the checkpoint have shown.
    pub(super) async fn met(&mut self, access: &Access, plan: &Plan) -> Result<Arc<Met>, Problem> {
        let Some(name) = &plan.met else { return Ok(Arc::default()) };
        if let Some((_, met)) = self.met.iter().find(|(known, _)| known == name) {
            return Ok(Arc::clone(met));
        }
        let met = Arc::new(Met::load(access, name).await?);
        self.remember(name, &met);
        Ok(met)
    }

    /// Keeps what was met for the next step; what was before it stays, for where the checkpoint is not written.
    pub fn remember(&mut self, name: &str, met: &Arc<Met>) {
        self.met.push_back((name.to_owned(), Arc::clone(met)));
        if self.met.len() > 2 {
            self.met.pop_front();
        }
    }
}

pub async fn step(access: &Access, held: &Held, ahead: &mut Ahead) -> Result<Step, Problem> {
    if held.work.state == WorkState::Cancelling {
        return write::cancelled(access, held).await;
    }
    if held.work.state == WorkState::Waiting {
        return come(access, held).await;
    }
    let plan: Plan = serde_json::from_value(held.work.checkpoint.clone()).map_err(Problem::internal)?;
    let schema = match held.work.project {
        Some(project) => Schema::read(access, held.tenant, project, Read::Strong).await?,
        None => None,
    };
    let Some(schema) = schema else { return Ok(Step::stopped(held, "its project is gone")) };
    // What the check has noted goes after the file, and is not asked for without it.
    if ahead.records.is_none() && !has_come(access, held).await? {
        return match plan.phase {
            Phase::Checking => {
                Ok(end(access, held, plan, held.work.counts, Then::Rejected, Vec::new()).await?.because(GONE))
            }
            Phase::Writing => write::broken(access, held, plan, GONE).await,
        };
    }
    match plan.phase {
        Phase::Checking => check::step(access, held, ahead, plan, &schema).await,
        Phase::Writing => write::step(access, held, ahead, plan, &schema).await,
    }
}

/// Goes on if the file has come though nobody was told.
async fn come(access: &Access, held: &Held) -> Result<Step, Problem> {
    if has_come(access, held).await? {
        return Ok(Step::end(held, Then::More, Vec::new()));
    }
    let mut plan: Plan = serde_json::from_value(held.work.checkpoint.clone()).map_err(Problem::internal)?;
    plan.looks += 1;
    if plan.looks < LOOKS {
        return Step::new(Vec::new(), &plan, held.work.counts, Then::Wait(WAITS));
    }
    Ok(Step::stopped(held, "no file came"))
}

/// Whether the file is there.
async fn has_come(access: &Access, held: &Held) -> Result<bool, Problem> {
    match access.objects(&READ_IMPORT, BUCKET, PREFIX).head(&held.id.id()).await {
        Ok(_) => Ok(true),
        Err(Error::NotFound) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// The end of an import, whose faults are where the work links to before it has ended.
pub async fn end(
    access: &Access,
    held: &Held,
    mut plan: Plan,
    counts: Counts,
    then: Then,
    found: Vec<RowFault>,
) -> Result<Step, Problem> {
    faults::keep(access, held.id, &mut plan, &found).await?;
    faults::gather(access, held.id, &mut plan).await?;
    Ok(Step::new(Vec::new(), &plan, counts, then)?.with_faults(found))
}
