//! Completes the rows of an issue: **rows := f(issue)**, whatever a crashed writer has left.

use jobs::acquire_due;
use table::{Access, Action, Changes, EntityKey, Error, Key, Stored};
use web::Problem;

use super::write::gate;
use super::{LoadedIssue, cleaned};
use crate::access::{DELETE_ISSUE, ISSUE_ROWS, UPDATE_ISSUE};
use crate::items::Issue;
use crate::jobs::TrackerJobs;
use crate::keys::{IssueDueKey, IssueKey};
use crate::names::IssueId;
use crate::project::{Consistency, Schema};
use crate::rows::{Rows, difference, rows};
use crate::schema::{DATA, TRACKER};

/// The limit of rows that one transaction completes, in addition to the gate, the issue and the due row.
const BATCH: usize = 90;

/// Attempts while other requests write the issue, before it is left to the next run.
const MAX_ATTEMPTS: usize = 10;

/// Completes the rows of an issue whose due row has come.
pub async fn settle_due(access: &Access, id: IssueId) -> Result<(), Problem> {
    let due = IssueDueKey { issue: id }.key();
    // The lease moves the due row back, so an issue that fails does not block the others.
    if acquire_due::<TrackerJobs>(access, due.clone()).await?.is_none() {
        return Ok(());
    }
    let found = access.table(&ISSUE_ROWS, &TRACKER).query(due.pk.as_str()).consistent().all().await?;
    let issue = found.iter().find_map(|stored| Some((IssueKey::parse(&stored.key)?, stored)));
    let Some((IssueKey { project, .. }, stored)) = issue else { return forget(access, id).await };
    let issue: Issue = stored.read()?;
    if Schema::load(access, issue.tenant, project, Consistency::Strong).await?.is_none() {
        // The deletion of the project deletes the issue. Until then its due row would come before all jobs.
        return Ok(access.table(&DELETE_ISSUE, &TRACKER).batch_delete(&[due]).await?);
    }
    settle(access, id).await.map(|_| ())
}

/// Deletes the rows of a deleted issue.
pub async fn forget(access: &Access, id: IssueId) -> Result<(), Problem> {
    let due = IssueDueKey { issue: id }.key();
    let found = access.table(&ISSUE_ROWS, &TRACKER).query(due.pk.as_str()).consistent().all().await?;
    // An issue that was moved during the search for it has rows again.
    if found.iter().any(|stored| IssueKey::parse(&stored.key).is_some()) {
        return Ok(());
    }
    let rows: Vec<Key> = found.iter().filter_map(row).map(|(key, _)| key).collect();
    let table = access.table(&DELETE_ISSUE, &TRACKER);
    table.batch_delete(&rows).await?;
    // The worker finds remaining rows by the due row, so it is deleted last.
    Ok(table.batch_delete(&[due]).await?)
}

/// Completes the rows of an issue. False if its project is being deleted: then the issue stays unsettled until it is
/// deleted, too.
pub async fn settle(access: &Access, id: IssueId) -> Result<bool, Problem> {
    for _ in 0..MAX_ATTEMPTS {
        match attempt(access, id).await {
            Ok(settled) => return Ok(settled),
            Err(Error::ConditionFailed(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(Problem::conflict())
}

/// Completes the rows of an issue after its write. A failure is left to the worker, so it does not fail the request.
pub async fn settle_or_leave(access: &Access, id: IssueId) {
    if let Err(problem) = settle(access, id).await {
        tracing::warn!(issue = id.id(), %problem, "completing an issue's rows failed; the next run will retry");
    }
}

async fn attempt(access: &Access, id: IssueId) -> Result<bool, Error> {
    let due = IssueDueKey { issue: id }.key();
    let found = access.table(&ISSUE_ROWS, &TRACKER).query(due.pk.as_str()).consistent().all().await?;
    let issue = found.iter().find_map(|stored| Some((IssueKey::parse(&stored.key)?, stored.clone())));
    let stored_rows: Rows = found.iter().filter_map(row).collect();
    // The worker deletes the rows of a deleted issue.
    let Some((IssueKey { project, .. }, stored)) = issue else { return Ok(true) };
    let issue: Issue = stored.read()?;
    let schema = Schema::load(access, issue.tenant, project, Consistency::Strong).await?;
    // The deletion of the project deletes the issue.
    let Some(schema) = schema else { return Ok(false) };
    let wanted = rows(id, project, &issue, &schema.attributes);
    let differing = difference(&stored_rows, &wanted);
    let loaded = LoadedIssue { id, issue, stored };
    let mut rest = differing.as_slice();
    while let Some((batch, later)) = rest.split_at_checked(BATCH) {
        let check = Action::check(&TRACKER, loaded.stored.key.clone()).if_unchanged(&loaded.stored);
        let actions: Vec<Action> = [gate(&schema, 0, 0), check].into_iter().chain(batch.iter().cloned()).collect();
        access.transact(&UPDATE_ISSUE, &actions).await?;
        rest = later;
    }
    let after = cleaned(&schema, Issue { unsettled: None, ..loaded.issue.clone() });
    let changes = Changes::between(&loaded.issue, &after)?;
    let issue = Action::update(&TRACKER, loaded.stored.key.clone(), changes).if_unchanged(&loaded.stored);
    let mut actions = vec![gate(&schema, 0, 0), issue, Action::delete(&TRACKER, due).or_absent()];
    actions.extend(rest.iter().cloned());
    access.transact(&UPDATE_ISSUE, &actions).await.map(|_| true)
}

/// A row's key and its sort key in the index. None for the issue itself and its due row.
fn row(stored: &Stored) -> Option<(Key, String)> {
    let other = IssueKey::parse(&stored.key).is_some() || IssueDueKey::parse(&stored.key).is_some();
    let data = stored.item.get(DATA)?.as_s().ok()?;
    (!other).then(|| (stored.key.clone(), data.clone()))
}
