//! The phase `switching`: in one transaction readers see this run instead of the last, and the counts change.

use ::jobs::{Step, Then};
use table::{Access, Action, Changes, item};
use web::Problem;

use super::checkpoint::{Checkpoint, Retired};
use super::retire::mark_gone;
use super::run_step::{RunWork, step_with};
use crate::access::PUBLISH_STEP;
use crate::hidden::{self, Hidden};
use crate::item::Post;
use crate::keys::{CollectionUseKey, PostKey, PostRunKey};
use crate::names::PostStatus;
use crate::runs::{Phase, Run, RunStatus};
use crate::schema::ARCHIVE;

pub async fn step_switch(access: &Access, work: &RunWork<'_>, mut checkpoint: Checkpoint) -> Result<Step, Problem> {
    mark_gone(access, work, &checkpoint).await?;
    let archive = access.table(&PUBLISH_STEP, &ARCHIVE);
    let stored = archive.get_consistent(PostKey { post: work.post }).await?;
    let stored = stored.ok_or_else(|| Problem::internal("the post of a run is not there"))?;
    let before: Post = stored.read()?;
    let run = work.run.run;
    let after = Post {
        status: PostStatus::Published,
        published_run: Some(run),
        last_published: Some(run),
        first_id: checkpoint.first_id,
        last_id: checkpoint.id_of(checkpoint.totals.rows),
        record_count: checkpoint.totals.records.into(),
        household_count: checkpoint.totals.households.into(),
        last_error: None,
        search_lag: checkpoint.search_lag,
        updated_at: table::clock::rfc3339(access.engines().clock.now()),
        ..before.clone()
    };
    let more = i64::try_from(after.record_count).unwrap_or(i64::MAX) - i64::try_from(before.record_count).unwrap_or(0);
    let collection = CollectionUseKey { collection: before.collection_id };
    let mut actions = vec![
        Action::update(&ARCHIVE, stored.key.clone(), Changes::between(&before, &after)?).if_unchanged(&stored),
        Action::update(&ARCHIVE, collection, Changes::new().add("records", more)),
    ];
    checkpoint.last = None;
    let mut now_hidden = vec![(run, None)];
    if let Some(last) = before.published_run {
        let key = PostRunKey { post: work.post, run: last };
        let stored = archive.get_consistent(key).await?;
        let stored = stored.ok_or_else(|| Problem::internal("the last run of a post is not there"))?;
        let old: Run = stored.read()?;
        let was_in_search = !before.search_lag;
        checkpoint.last = Some(Retired { run: last, first_id: old.first_id, rows: old.totals.rows, was_in_search });
        let withdrawn = Changes::new().set("status", item::text("withdrawn"));
        actions.push(Action::update(&ARCHIVE, stored.key, withdrawn));
        now_hidden.push((last, Some(Hidden::Going)));
    }
    actions.push(hidden::update(work.post, &now_hidden));
    checkpoint.enter(Phase::Retiring);
    step_with(work, checkpoint, actions, Then::Continue, |run| run.status = RunStatus::Published)
}
