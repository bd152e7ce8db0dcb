//! The phase `grouping`: the households of one chunk. Each item has the members for each run of its post, so that
//! readers of the last run still see its households.

use std::collections::BTreeMap;

use ::jobs::{Step, Then};
use futures::stream::{self, StreamExt, TryStreamExt};
use serde::{Deserialize, Serialize};
use table::{Access, Action, Changes};
use web::Problem;

use super::checkpoint::Checkpoint;
use super::chunk::{RunFiles, WorkFile};
use super::run_step::{RunWork, step};
use crate::access::WRITE_RECORDS;
use crate::households::Member;
use crate::keys::RecordHouseholdKey;
use crate::names::{Household, RecordId};
use crate::runs::Phase;
use crate::schema::ARCHIVE;

/// Households of one chunk.
pub const HOUSEHOLDS: usize = 200;

/// Households that are written at once.
const CONCURRENCY: usize = 32;

/// A household of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Grouped {
    pub household: String,
    /// In the order of the rows.
    pub members: Vec<GroupedMember>,
}

/// A member of a household, before its record has an id.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GroupedMember {
    pub row: u32,
    /// The record of its first publication, if that was an earlier run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permanent_id: Option<RecordId>,
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relation: Option<String>,
    /// The first day on which the public may see the record.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visible_from: Option<u32>,
}

pub async fn step_group(access: &Access, work: &RunWork<'_>, mut checkpoint: Checkpoint) -> Result<Step, Problem> {
    if checkpoint.next < checkpoint.household_chunks {
        let files = RunFiles::new(access, work.post, work.run.run);
        let households: Vec<Grouped> = files.load(WorkFile::Households, checkpoint.next).await?;
        let writes = households.into_iter().map(|grouped| write(access, work, &checkpoint, grouped));
        stream::iter(writes).buffer_unordered(CONCURRENCY).try_collect::<Vec<()>>().await?;
        checkpoint.next += 1;
    }
    if checkpoint.next >= checkpoint.household_chunks {
        checkpoint.enter(Phase::Settling);
    }
    step(work, checkpoint, Vec::new(), Then::Continue)
}

async fn write(access: &Access, work: &RunWork<'_>, checkpoint: &Checkpoint, grouped: Grouped) -> Result<(), Problem> {
    let member = |member: GroupedMember| {
        let id = checkpoint.id_of(member.row).ok_or_else(|| Problem::internal("a run has no ids"))?;
        let GroupedMember { permanent_id, name, relation, visible_from, .. } = member;
        Ok(Member { id, permanent_id: permanent_id.unwrap_or(id), name, relation, visible_from })
    };
    let members = grouped.members.into_iter().map(member).collect::<Result<Vec<Member>, Problem>>()?;
    let household = Household::new(&grouped.household).map_err(Problem::internal)?;
    let key = RecordHouseholdKey { post: work.post, household };
    // One attribute of the household, whose name is the run's.
    let members = BTreeMap::from([(work.run.run.attribute(), members)]);
    let changes = Changes::between(&BTreeMap::new(), &members)?;
    let update = Action::update(&ARCHIVE, key, changes).or_absent();
    access.write(&WRITE_RECORDS, update).await?;
    Ok(())
}
