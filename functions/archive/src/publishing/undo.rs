//! The phase `undoing`: deletes what a run has written that readers never saw, and sets the post back.

use ::jobs::{Step, Then};
use table::{Access, Action, Changes};
use web::Problem;

use super::checkpoint::{Checkpoint, End, Retired};
use super::chunk::RunFiles;
use super::retire::{Retiring, delete_work, retire};
use super::run_step::{RunWork, step, step_with};
use crate::access::PUBLISH_STEP;
use crate::hidden;
use crate::item::Post;
use crate::keys::PostKey;
use crate::names::PostStatus;
use crate::runs::{Phase, RunStatus};
use crate::schema::ARCHIVE;

pub async fn step_undo(access: &Access, work: &RunWork<'_>, mut checkpoint: Checkpoint) -> Result<Step, Problem> {
    let (run, first_id, rows) = (work.run.run, checkpoint.first_id, checkpoint.totals.rows);
    let own = Retired { run, first_id, rows, was_in_search: false };
    match retire(access, work.post, own, checkpoint.next, checkpoint.looks).await? {
        Retiring::More(next) => {
            checkpoint.next = next;
            return step(work, checkpoint, Vec::new(), Then::Continue);
        }
        Retiring::Wait(seconds) => {
            checkpoint.looks += 1;
            return step(work, checkpoint, Vec::new(), Then::Wait(seconds));
        }
        Retiring::Done => {}
    }
    delete_work(&RunFiles::new(access, work.post, own.run), &checkpoint).await?;
    let Some(end) = checkpoint.end.clone() else { return Err(Problem::internal("a run is undone without a reason")) };
    let at = table::clock::rfc3339(access.engines().clock.now());
    let mut actions = vec![set_back(access, work, &checkpoint, &end, &at).await?];
    if !work.run.dry_run {
        actions.push(hidden::update(work.post, &[(own.run, None)]));
    }
    let (status, reason, then) = match end {
        End::Checked => (RunStatus::Checked, None, Then::Succeed),
        End::Cancelled => (RunStatus::Cancelled, None, Then::Cancel),
        End::Failed(reason) => (RunStatus::Failed, Some(reason.clone()), Then::Fail(reason)),
    };
    checkpoint.enter(Phase::Ended);
    step_with(work, checkpoint, actions, then, |run| {
        (run.status, run.reason, run.ended_at) = (status, reason, Some(at));
    })
}

/// Returns the update that gives the post the status without this run.
async fn set_back(
    access: &Access,
    work: &RunWork<'_>,
    checkpoint: &Checkpoint,
    end: &End,
    at: &str,
) -> Result<Action, Problem> {
    let stored = access.table(&PUBLISH_STEP, &ARCHIVE).get_consistent(PostKey { post: work.post }).await?;
    let stored = stored.ok_or_else(|| Problem::internal("the post of a run is not there"))?;
    let before: Post = stored.read()?;
    let mut after = Post { updated_at: at.to_owned(), ..before.clone() };
    after.status = match (before.published_run, end) {
        (Some(_), _) => PostStatus::Published,
        // A run that only checks the file leaves the post as it was.
        (None, _) if work.run.dry_run => checkpoint.before.unwrap_or(PostStatus::Draft),
        (None, End::Failed(_)) => PostStatus::Error,
        (None, End::Checked | End::Cancelled) => PostStatus::Draft,
    };
    if let End::Failed(reason) = end
        && !work.run.dry_run
    {
        after.last_error = Some(reason.clone());
    }
    Ok(Action::update(&ARCHIVE, stored.key.clone(), Changes::between(&before, &after)?).if_unchanged(&stored))
}
