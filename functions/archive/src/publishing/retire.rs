//! The phase `retiring`: deletes what is left of the run that readers saw before, and ends the job. A withdrawn run, and
//! one that is undone, go the same way.

use std::collections::{BTreeSet, HashMap};

use ::jobs::{Counts, Step, Then};
use futures::stream::{self, StreamExt, TryStreamExt};
use table::{Access, Action, Changes, EntityKey, Error, Key, Stored};
use web::Problem;

use super::checkpoint::{Checkpoint, Retired, id_of};
use super::chunk::{GoneDay, RunFiles, WorkFile};
use super::run_step::{RunWork, step};
use super::settle::{pause, records_in_search};
use crate::access::{DELETE_RECORDS, PUBLISH_STEP};
use crate::hidden;
use crate::item::Post;
use crate::keys::{HOUSEHOLD_PREFIX, PostKey, PostRunKey, RecordAddressKey, RecordKey};
use crate::names::{PostId, RecordId, RunNumber};
use crate::records::gone;
use crate::runs::{Phase, Run};
use crate::schema::ARCHIVE;

/// Records that one step deletes.
const RECORDS: u32 = 500;

/// Households that are read and rewritten at once.
const HOUSEHOLDS: u32 = 100;

/// Looks at search after which a run counts as gone from it. What search still has is hidden by its version from then on.
const MAX_LOOKS: u32 = 60;

/// Seconds between the later looks.
const LONG_PAUSE: u64 = 900;

/// Seconds before the first look at a run that search has not held completely. Search may receive the records only
/// after they were deleted, and then shows them until it receives the deletions. A mirror that is further behind raises
/// an alarm.
const CATCH_UP_SECONDS: u64 = 60;

/// Looks at search in about a day, after which a post says for good that search lags.
const MAX_LOOKS_OF_LAG: u32 = MAX_LOOKS + 96;

/// How far a run is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retiring {
    /// The next step goes on at this record.
    More(u32),
    /// Search still has records of it.
    Wait(u64),
    Done,
}

/// Deletes a part of a run: its households first, then its records. Then it waits until search has received the
/// deletions and holds no record of the run.
pub async fn retire(access: &Access, post: PostId, old: Retired, next: u32, looks: u32) -> Result<Retiring, Problem> {
    let Some(first) = old.first_id else { return Ok(Retiring::Done) };
    if next == 0 {
        delete_households(access, post, old.run).await?;
    }
    if next < old.rows {
        let to = next.saturating_add(RECORDS).min(old.rows);
        let ids = (next + 1..=to).filter_map(|row| id_of(first, row));
        let keys: Vec<Key> = ids.map(|record| RecordKey { record, post }.key()).collect();
        access.table(&DELETE_RECORDS, &ARCHIVE).batch_delete(&keys).await?;
        return Ok(Retiring::More(to));
    }
    if looks == 0 && !old.was_in_search {
        return Ok(Retiring::Wait(CATCH_UP_SECONDS));
    }
    match records_in_search(access, post, old.run).await {
        Some(0) => Ok(Retiring::Done),
        _ if looks >= MAX_LOOKS => {
            tracing::error!(post.id = %post, run = old.run.0, "search still has records of a deleted run");
            Ok(Retiring::Wait(LONG_PAUSE))
        }
        _ => Ok(Retiring::Wait(pause(looks))),
    }
}

pub async fn step_retire(access: &Access, work: &RunWork<'_>, mut checkpoint: Checkpoint) -> Result<Step, Problem> {
    if let Some(old) = checkpoint.last {
        match retire(access, work.post, old, checkpoint.next, checkpoint.looks).await? {
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
    }
    let lagging = if checkpoint.search_lag { lagging_post(access, work).await? } else { None };
    let mut actions = Vec::new();
    if let Some((stored, post)) = lagging {
        let held = records_in_search(access, post.id, work.run.run).await;
        if held.is_some_and(|held| held >= post.record_count) {
            let after = Post { search_lag: false, ..post.clone() };
            let update = Action::update(&ARCHIVE, stored.key.clone(), Changes::between(&post, &after)?);
            actions.push(update.if_unchanged(&stored));
        } else if checkpoint.looks < MAX_LOOKS_OF_LAG {
            return wait_for_search(work, checkpoint);
        }
    }
    let files = RunFiles::new(access, work.post, work.run.run);
    delete_work(&files, &checkpoint).await?;
    let at = table::clock::rfc3339(access.engines().clock.now());
    checkpoint.enter(Phase::Ended);
    // Only these: since readers see the run, a record of it may have been taken down, or the run withdrawn.
    let ended = Run { phase: checkpoint.phase, ended_at: Some(at), ..work.run.clone() };
    let key = PostRunKey { post: work.post, run: ended.run };
    actions.push(Action::update(&ARCHIVE, key, Changes::between(work.run, &ended)?));
    actions.extend(checkpoint.last.map(|old| hidden::update(work.post, &[(old.run, None)])));
    let rows = checkpoint.totals.rows.into();
    Step::new(actions, &checkpoint, Counts::new(rows, rows), Then::Succeed)
}

/// Returns the post, if it still says that search lags behind this run.
async fn lagging_post(access: &Access, work: &RunWork<'_>) -> Result<Option<(Stored, Post)>, Problem> {
    let stored = access.table(&PUBLISH_STEP, &ARCHIVE).get_consistent(PostKey { post: work.post }).await?;
    let Some(stored) = stored else { return Ok(None) };
    let post: Post = stored.read()?;
    let is_lagging = post.published_run == Some(work.run.run) && post.search_lag;
    Ok(is_lagging.then_some((stored, post)))
}

/// Waits until search holds the run. The last run is deleted by then, and the next one need not wait any longer.
fn wait_for_search(work: &RunWork<'_>, mut checkpoint: Checkpoint) -> Result<Step, Problem> {
    let seconds = if checkpoint.looks < MAX_LOOKS { pause(checkpoint.looks) } else { LONG_PAUSE };
    checkpoint.looks += 1;
    let shown = checkpoint.last.take().map(|old| hidden::update(work.post, &[(old.run, None)]));
    step(work, checkpoint, shown.into_iter().collect(), Then::Wait(seconds))
}

/// Deletes the files that a run needs only while it works.
pub async fn delete_work(files: &RunFiles<'_>, checkpoint: &Checkpoint) -> Result<(), Problem> {
    let of_rows = [WorkFile::Rows, WorkFile::Index, WorkFile::Problems, WorkFile::Unresolved, WorkFile::Decided];
    // A step that died may have stored one chunk more.
    files.delete(&of_rows, checkpoint.chunks + 1).await?;
    files.delete(&[WorkFile::Households], checkpoint.household_chunks + 1).await?;
    files.delete(&[WorkFile::Gone, WorkFile::GoneDays], 1).await
}

/// Gives the records that the new file does not have an address that says so from the moment at which readers see the new
/// run. If that does not come, the address means nothing.
pub async fn mark_gone(access: &Access, work: &RunWork<'_>, checkpoint: &Checkpoint) -> Result<(), Problem> {
    let files = RunFiles::new(access, work.post, work.run.run);
    let all: Vec<RecordId> = files.load(WorkFile::Gone, 0).await?;
    let days: Vec<GoneDay> =
        if checkpoint.has_gone_days { files.load(WorkFile::GoneDays, 0).await? } else { Vec::new() };
    let days: HashMap<RecordId, u32> = days.into_iter().map(|day| (day.permanent_id, day.visible_from)).collect();
    let say = |record: RecordId| {
        let changes = gone(Changes::new(), work.post, work.run.run, days.get(&record).copied());
        let address = Action::update(&ARCHIVE, RecordAddressKey { record }, changes).or_absent();
        async move { access.write(&DELETE_RECORDS, address).await.map(drop) }
    };
    stream::iter(all.into_iter().map(say)).buffer_unordered(32).try_collect::<Vec<()>>().await?;
    Ok(())
}

/// Removes the members of a run from the households of its post. A household that is left without members is deleted.
async fn delete_households(access: &Access, post: PostId, run: RunNumber) -> Result<(), Problem> {
    let archive = access.table(&DELETE_RECORDS, &ARCHIVE);
    let (attribute, mut after) = (run.attribute(), None);
    loop {
        let query = archive.query(post.to_string()).begins_with(HOUSEHOLD_PREFIX).consistent().after(after);
        let page = query.page(HOUSEHOLDS).await?;
        let with_run = page.items.into_iter().filter(|stored| stored.item.contains_key(&attribute));
        let removals = with_run.map(|stored| remove(access, stored, &attribute));
        stream::iter(removals).buffer_unordered(32).try_collect::<Vec<()>>().await?;
        after = page.next;
        if after.is_none() {
            return Ok(());
        }
    }
}

async fn remove(access: &Access, stored: Stored, attribute: &str) -> Result<(), Error> {
    let runs: BTreeSet<&String> = stored.item.keys().filter(|name| name.starts_with("run_")).collect();
    let action = if runs.len() == 1 {
        Action::delete(&ARCHIVE, stored.key.clone()).if_unchanged(&stored)
    } else {
        Action::update(&ARCHIVE, stored.key.clone(), Changes::new().remove(attribute))
    };
    match access.write(&DELETE_RECORDS, action).await {
        Ok(_) | Err(Error::NotFound) => Ok(()),
        Err(error) => Err(error),
    }
}
