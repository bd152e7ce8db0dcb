//! The phase `numbering`: one block of ids for all rows of the file, in one transaction with the checkpoint. So a run that
//! dies takes none or one block, and ids are never taken twice.

use ::jobs::{Step, Then};
use serde::Deserialize;
use table::{Access, Action, Condition, Key, item};
use web::Problem;

use super::checkpoint::Checkpoint;
use super::run_step::{RunWork, step};
use crate::access::PUBLISH_STEP;
use crate::keys::SequenceKey;
use crate::names::{LAST_OF_SEQUENCE, RecordId};
use crate::runs::Phase;
use crate::schema::ARCHIVE;

#[derive(Deserialize)]
struct Sequence {
    value: u64,
}

pub async fn step_number(access: &Access, work: &RunWork<'_>, mut checkpoint: Checkpoint) -> Result<Step, Problem> {
    let key = Key::from(SequenceKey {});
    let stored = access.table(&PUBLISH_STEP, &ARCHIVE).get_consistent(key.clone()).await?;
    // The post has an id of the sequence.
    let stored = stored.ok_or_else(|| Problem::internal("there is no sequence"))?;
    let Sequence { value: last } = stored.read()?;
    let to = last + u64::from(checkpoint.totals.rows);
    let first = RecordId::new(last + 1).filter(|_| to <= LAST_OF_SEQUENCE);
    let first = first.ok_or_else(|| Problem::internal(format!("the sequence is used up at {LAST_OF_SEQUENCE}")))?;
    checkpoint.first_id = Some(first);
    checkpoint.enter(Phase::Writing);
    let take = Action::raise_sequence(&ARCHIVE, key, to).when(Condition::Equals("value", item::number(last)));
    step(work, checkpoint, vec![take], Then::Continue)
}
