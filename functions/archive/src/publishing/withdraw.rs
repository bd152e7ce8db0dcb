//! Withdrawing a post: readers lose its records at once, then a job deletes them. Deleting a post goes on to delete the
//! post with all that belongs to it.

use ::jobs::{Counts, Start, Step, Then, Worker, begin_now};
use serde::{Deserialize, Serialize};
use table::{Access, Action, Changes, EntityKey, Error, Key, Stored};
use web::{Context, Problem};

use super::checkpoint::{Retired, id_of};
use super::chunk::{RunFiles, corrections_name, file_name, kept_name, report_name, unresolved_name};
use super::last::Last;
use super::retire::{Retiring, retire};
use super::settle::pause;
use crate::access::{DELETE_POST_STEP, FILES, PUBLISH_STEP, REPORTS, WITHDRAW};
use crate::hidden::{self, Hidden};
use crate::item::Post;
use crate::jobs::{ArchiveJobs, Details, Job, Kind, Lease, NewJob};
use crate::keys::{CollectionUseKey, PostKey, PostRunKey, RUN_PREFIX, RecordAddressKey};
use crate::names::{PostId, PostStatus, RunNumber};
use crate::runs::Run;
use crate::schema::{ARCHIVE, BUCKET};

/// Records whose addresses one step deletes.
const ADDRESSES: u32 = 1_000;

/// Hides the published records of a post in one transaction, and begins the job that deletes them. Returns the post as it
/// is then; the job may have deleted it before another read.
pub async fn begin(cx: &Context, stored: &Stored, status: PostStatus) -> Result<Post, Problem> {
    let access = cx.access();
    let before: Post = stored.read()?;
    let at = crate::audit::now(cx);
    let after = Post {
        status,
        published_run: None,
        first_id: None,
        last_id: None,
        record_count: 0,
        household_count: 0,
        search_lag: false,
        updated_at: at,
        ..before.clone()
    };
    let kind = if status == PostStatus::Deleting { Kind::DeletePost } else { Kind::Unpublish };
    let mut actions =
        vec![Action::update(&ARCHIVE, stored.key.clone(), Changes::between(&before, &after)?).if_unchanged(stored)];
    let mut checkpoint = Withdrawing::default();
    if let Some(run) = before.published_run {
        let key = PostRunKey { post: before.id, run };
        let found = access.table(&WITHDRAW, &ARCHIVE).get_consistent(key).await?;
        let found = found.ok_or_else(|| Problem::internal("the run of a published post is not there"))?;
        let old: Run = found.read()?;
        let was_in_search = !before.search_lag;
        checkpoint.run = Some(Retired { run, first_id: old.first_id, rows: old.totals.rows, was_in_search });
        let records = i64::try_from(before.record_count).unwrap_or(i64::MAX);
        let counts = Changes::new().add("records", -records);
        actions.push(Action::update(&ARCHIVE, CollectionUseKey { collection: before.collection_id }, counts));
        actions.push(Action::update(&ARCHIVE, found.key, Changes::new().set("status", table::item::text("withdrawn"))));
        actions.push(hidden::update(before.id, &[(run, Some(Hidden::Going))]));
    }
    let run = before.published_run.unwrap_or(RunNumber(0));
    let job = Job::new(access, kind, Details { run }, None).at(&checkpoint)?;
    let new = NewJob::new(access, before.id, job, Start::After(0))?;
    actions.extend(new.actions);
    match access.transact(&WITHDRAW, &actions).await {
        Ok(_) => {
            begin_now::<ArchiveJobs>(access, new.id).await;
            Ok(after)
        }
        Err(Error::ConditionFailed(_)) => Err(Problem::lost_race()),
        Err(error) => Err(error.into()),
    }
}

/// How far the records of a post are deleted, and then what else belongs to it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Withdrawing {
    run: Option<Retired>,
    next: u32,
    looks: u32,
    /// Whether no other job works on the post.
    is_alone: bool,
    /// Whether the corrections of the run's records are kept for the next run.
    has_kept_corrections: bool,
    /// Whether search holds no record of the run any more.
    is_retired: bool,
}

impl Withdrawing {
    /// Waits for the job of the withdrawn run, which may still delete what that one has replaced. None if it has ended.
    async fn wait(&mut self, access: &Access, lease: &Lease) -> Result<Option<Then>, Problem> {
        if self.is_alone {
            return Ok(None);
        }
        if hidden::has_other(access, lease.group, lease.job.details.run).await? {
            self.looks += 1;
            return Ok(Some(Then::Wait(pause(self.looks))));
        }
        // No other job begins while the post is in transit.
        (self.is_alone, self.looks) = (true, 0);
        Ok(None)
    }

    /// Deletes more of the run. None if nothing of it is left.
    async fn retire(&mut self, access: &Access, post: PostId) -> Result<Option<Then>, Problem> {
        let Some(old) = self.run.filter(|_| !self.is_retired) else { return Ok(None) };
        match retire(access, post, old, self.next, self.looks).await? {
            Retiring::More(next) => {
                self.next = next;
                Ok(Some(Then::Continue))
            }
            Retiring::Wait(seconds) => {
                self.looks += 1;
                Ok(Some(Then::Wait(seconds)))
            }
            Retiring::Done => {
                (self.is_retired, self.next) = (true, 0);
                Ok(None)
            }
        }
    }

    fn counts(&self) -> Counts {
        let rows = self.run.map_or(0, |run| run.rows);
        Counts::new(rows.into(), if self.is_retired { rows } else { self.next }.into())
    }

    /// Returns the end of the run's being hidden.
    fn shown(&self, post: PostId) -> Option<Action> {
        Some(hidden::update(post, &[(self.run?.run, None)]))
    }
}

/// Works on the end of a post's publication.
pub struct Unpublish;

impl Worker<ArchiveJobs> for Unpublish {
    async fn step(&mut self, access: &Access, lease: &Lease) -> Result<Step, Problem> {
        let mut at: Withdrawing = lease.job.checkpoint()?;
        if let Some(then) = at.wait(access, lease).await? {
            return Step::new(Vec::new(), &at, at.counts(), then);
        }
        if let Some(run) = at.run.filter(|_| !at.has_kept_corrections) {
            // In a step before the first deletion, so that they are whole.
            let kept = keep_corrections(access, lease.group, run.run).await?;
            at.has_kept_corrections = true;
            return Step::new(kept.into_iter().collect(), &at, at.counts(), Then::Continue);
        }
        if let Some(then) = at.retire(access, lease.group).await? {
            return Step::new(Vec::new(), &at, at.counts(), then);
        }
        let stored = access.table(&PUBLISH_STEP, &ARCHIVE).get_consistent(PostKey { post: lease.group }).await?;
        let stored = stored.ok_or_else(|| Problem::internal("the post of a job is not there"))?;
        let before: Post = stored.read()?;
        let after = Post { status: PostStatus::Draft, ..before.clone() };
        let post = Action::update(&ARCHIVE, stored.key.clone(), Changes::between(&before, &after)?);
        let actions = std::iter::once(post.if_unchanged(&stored)).chain(at.shown(lease.group)).collect();
        Step::new(actions, &at, at.counts(), Then::Succeed)
    }
}

/// Stores the corrections by hand of a withdrawn run. Returns the update of the run, if it has any.
async fn keep_corrections(access: &Access, post: PostId, run: RunNumber) -> Result<Option<Action>, Problem> {
    let last = Last::load(access, post, run).await?;
    if last.run.corrected.is_empty() {
        return Ok(None);
    }
    let corrections = last.corrections(access, post).await?;
    RunFiles::new(access, post, run).keep_corrections(&corrections).await?;
    let after = Run { has_kept_corrections: true, ..last.run.clone() };
    let changes = Changes::between(&last.run, &after)?;
    Ok(Some(Action::update(&ARCHIVE, PostRunKey { post, run }.key(), changes)))
}

/// Works on the deletion of a post: its records, then its runs with the addresses of their records, then the post.
pub struct DeletePost;

impl Worker<ArchiveJobs> for DeletePost {
    async fn step(&mut self, access: &Access, lease: &Lease) -> Result<Step, Problem> {
        let post = lease.group;
        let mut at: Withdrawing = lease.job.checkpoint()?;
        if let Some(then) = at.wait(access, lease).await? {
            return Step::new(Vec::new(), &at, at.counts(), then);
        }
        if let Some(then) = at.retire(access, post).await? {
            return Step::new(Vec::new(), &at, at.counts(), then);
        }
        let archive = access.table(&DELETE_POST_STEP, &ARCHIVE);
        let runs = archive.query(post.to_string()).begins_with(RUN_PREFIX).consistent();
        if let Some(stored) = runs.first().await? {
            let run: Run = stored.read()?;
            if let Some(next) = delete_addresses(access, &run, at.next).await? {
                at.next = next;
                return Step::new(Vec::new(), &at, at.counts(), Then::Continue);
            }
            delete_files(access, post, &run).await?;
            at.next = 0;
            let actions = vec![Action::delete(&ARCHIVE, stored.key).or_absent()];
            return Step::new(actions, &at, at.counts(), Then::Continue);
        }
        let stored = archive.get_consistent(PostKey { post }).await?;
        let stored = stored.ok_or_else(|| Problem::internal("the post of a job is not there"))?;
        let item: Post = stored.read()?;
        let files = access.objects(&DELETE_POST_STEP, BUCKET, FILES.prefix);
        for sha256 in item.file.iter().map(|file| &file.sha256).chain(&item.unused_files) {
            files.delete(&file_name(post, sha256)).await?;
        }
        let counted = Changes::new().add("posts", -1);
        let counted = Action::update(&ARCHIVE, CollectionUseKey { collection: item.collection_id }, counted);
        let actions = [Action::delete(&ARCHIVE, stored.key.clone()).if_unchanged(&stored), counted];
        let actions = actions.into_iter().chain(at.shown(post)).collect();
        Step::new(actions, &at, at.counts(), Then::Succeed)
    }
}

/// Deletes the addresses of the records that a run published first. None if none are left.
async fn delete_addresses(access: &Access, run: &Run, next: u32) -> Result<Option<u32>, Problem> {
    let Some(first) = run.first_id.filter(|_| next < run.totals.rows) else { return Ok(None) };
    let to = next.saturating_add(ADDRESSES).min(run.totals.rows);
    let ids = (next + 1..=to).filter_map(|row| id_of(first, row));
    let keys: Vec<Key> = ids.map(|record| RecordAddressKey { record }.key()).collect();
    access.table(&DELETE_POST_STEP, &ARCHIVE).batch_delete(&keys).await?;
    Ok(Some(to))
}

/// Deletes the objects of a run: its file, what later runs need of it, and its report.
async fn delete_files(access: &Access, post: PostId, run: &Run) -> Result<(), Problem> {
    let files = access.objects(&DELETE_POST_STEP, BUCKET, FILES.prefix);
    files.delete(&file_name(post, &run.file)).await?;
    files.delete(&kept_name(post, run.run)).await?;
    files.delete(&corrections_name(post, run.run)).await?;
    let reports = access.objects(&DELETE_POST_STEP, BUCKET, REPORTS.prefix);
    reports.delete(&report_name(post, run.run)).await?;
    reports.delete(&unresolved_name(post, run.run)).await?;
    Ok(())
}
