//! Undoes an import. The ids of its issues follow from the numbers of its records, so the job finds them without an index,
//! and a repeated step finds them deleted.

use futures::stream::{self, StreamExt, TryStreamExt};
use jobs::{Counts, JobId, Step, Then, Worker};
use serde::{Deserialize, Serialize};
use table::{Access, Backoff, EntityKey, Stored};
use web::Problem;

use super::written::Written;
use super::{ImportParams, Phase};
use crate::access::{DELETE_ISSUE, UNDO_STEP};
use crate::issues::{LoadedIssue, Refused, Write, forget, settle};
use crate::items::Issue;
use crate::jobs::{Job, Lease, TrackerJobs, issues_of};
use crate::keys::{IssueKey, JobKey};
use crate::names::{GATES, IssueId};
use crate::project::{Consistency, Schema};
use crate::schema::TRACKER;

/// The number of records of a step.
const BATCH: usize = 100;

/// The import that is undone, and the progress: the checkpoint of the job.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UndoParams {
    import: JobId,
    /// The next record.
    next: u64,
    /// The number of the import's last record that may have become an issue, after it was read.
    #[serde(default)]
    last: Option<u64>,
}

impl UndoParams {
    /// The checkpoint at the start.
    pub fn of(import: JobId) -> Self {
        Self { import, next: 1, last: None }
    }
}

/// The outcome for one issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Deleted,
    /// The issue was updated since the import.
    Kept,
    /// The schema was changed since it was read, or the project is being deleted.
    Outdated,
}

/// Undoes an import.
#[derive(Debug)]
pub struct UndoImport;

impl Worker<TrackerJobs> for UndoImport {
    async fn step(&mut self, access: &Access, lease: &Lease) -> Result<Step, Problem> {
        let params: UndoParams = lease.job.checkpoint()?;
        let schema = match lease.job.details.project {
            Some(project) => Schema::load(access, lease.group, project, Consistency::Strong).await?,
            None => None,
        };
        let Some(schema) = schema else { return Ok(Step::fail(&lease.job, "its project was deleted")) };
        let (last, ids) = next_issues(access, lease, &params).await?;
        let before = lease.job.counts;
        if ids.is_empty() {
            let counts = Counts { total: last, ..before };
            return Step::new(Vec::new(), &UndoParams { last: Some(last), ..params }, counts, Then::Succeed);
        }
        let issues = issues_of(access, &UNDO_STEP, schema.id, &ids).await?;
        let undone = issues.into_iter().map(|issue| undo(access, &schema, params.import, issue));
        let undone: Vec<Outcome> = stream::iter(undone).buffer_unordered(usize::from(GATES)).try_collect().await?;
        if undone.contains(&Outcome::Outdated) {
            // The next step repeats the batch. It fails if the project is being deleted.
            return Ok(Step::unchanged(&lease.job, Then::Continue));
        }
        let kept = undone.iter().filter(|outcome| **outcome == Outcome::Kept).count() as u64;
        let counts =
            Counts { total: last, done: before.done + ids.len() as u64 - kept, failed: before.failed + kept, ..before };
        let next = params.next + ids.len() as u64;
        let step = Step::new(Vec::new(), &UndoParams { next, last: Some(last), ..params }, counts, Then::Continue)?;
        Ok(step.that_only_counts())
    }

    /// Counts the issues that a step has deleted without being committed.
    async fn cancel(&mut self, access: &Access, lease: &Lease) -> Result<Step, Problem> {
        let params: UndoParams = lease.job.checkpoint()?;
        let (last, ids) = next_issues(access, lease, &params).await?;
        let left = match lease.job.details.project {
            Some(project) => issues_of(access, &UNDO_STEP, project, &ids).await?.len(),
            None => ids.len(),
        };
        let gone = ids.len().saturating_sub(left) as u64;
        let counts = Counts { total: last, done: lease.job.counts.done + gone, ..lease.job.counts };
        Step::new(Vec::new(), &UndoParams { last: Some(last), ..params }, counts, Then::Cancel)
    }
}

/// The number of the import's last record that may have become an issue, and the ids that the records of the next step have
/// as issues.
async fn next_issues(access: &Access, lease: &Lease, params: &UndoParams) -> Result<(u64, Vec<IssueId>), Problem> {
    let last = match params.last {
        Some(last) => last,
        None => last_record(access, lease, params.import).await?,
    };
    let records = (params.next..=last).take(BATCH);
    Ok((last, records.map(|record| IssueId::of_record(params.import, record)).collect()))
}

/// The number of the last record of an import that may have become an issue; 0 if none has.
async fn last_record(access: &Access, lease: &Lease, import: JobId) -> Result<u64, Problem> {
    let key = JobKey { tenant: lease.group, job: import }.key();
    let stored = access.table(&UNDO_STEP, &TRACKER).get_consistent(key).await?;
    let Some(job) = stored.map(|stored| stored.read::<Job>()).transpose()? else { return Ok(0) };
    let params: ImportParams = job.checkpoint()?;
    if params.phase == Phase::Checking {
        return Ok(0);
    }
    // A cancelled or failed import may have written records after its last checkpoint.
    let written = Written::load(access, import, &params).await?;
    Ok(params.offset.records.saturating_sub(1).max(written.last_created().unwrap_or_default()))
}

async fn undo(
    access: &Access,
    schema: &Schema,
    import: JobId,
    (id, mut issue, mut stored): (IssueId, Issue, Stored),
) -> Result<Outcome, Problem> {
    let mut backoff = Backoff::new();
    loop {
        if issue.import != Some(import) || issue.audit.updated_at != issue.audit.created_at {
            return Ok(Outcome::Kept);
        }
        if issue.unsettled.is_some() {
            if !settle(access, id).await? {
                return Ok(Outcome::Outdated);
            }
        } else {
            let prepared = Write::of(schema, Some(LoadedIssue { id, issue, stored }), id, None).prepare(access)?;
            match access.transact(&DELETE_ISSUE, &prepared.actions).await {
                Ok(_) => {
                    if !prepared.settled {
                        forget(access, id).await?;
                    }
                    return Ok(Outcome::Deleted);
                }
                Err(error) => match prepared.refused(&error) {
                    Some(Refused::Gate(_)) => return Ok(Outcome::Outdated),
                    Some(Refused::Issue) if backoff.wait().await => {}
                    _ => return Err(error.into()),
                },
            }
        }
        let key = IssueKey { issue: id, project: schema.id }.key();
        let Some(read) = access.table(&UNDO_STEP, &TRACKER).get_consistent(key).await? else {
            return Ok(Outcome::Deleted);
        };
        (issue, stored) = (read.read()?, read);
    }
}
