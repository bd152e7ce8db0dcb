//! Completing the rows of an issue: **rows := f(issue)**, whatever a writer that died has left.

use table::{Access, Action, Changes, EntityKey, Error, Key, Stored};
use web::Problem;

use super::{Known, cleaned};
use crate::access::{CHANGE_ISSUE, DELETE_ISSUE, ISSUE_ROWS};
use crate::items::Issue;
use crate::keys::{IssueDueKey, IssueKey};
use crate::names::IssueId;
use crate::project::{Read, Schema};
use crate::rows::{Rows, difference, rows};
use crate::schema::{DATA, TRACKER};
use crate::work::take_due;

use super::write::gate;

/// How many rows one transaction completes, beside the gate, the issue and the due row.
const AT_ONCE: usize = 90;

/// How often it is begun anew, because others write the issue, before it is left to the next run.
const TRIES: usize = 10;

/// An issue whose due row has come.
pub async fn settle_due(access: &Access, id: IssueId) -> Result<(), Problem> {
    let due = IssueDueKey { issue: id }.key();
    // What cannot be done now makes way for what waits behind it.
    if take_due(access, due.clone()).await?.is_none() {
        return Ok(());
    }
    let found = access.table(&ISSUE_ROWS, &TRACKER).query(due.pk.as_str()).consistent().all().await?;
    let issue = found.iter().find_map(|stored| Some((IssueKey::parse(&stored.key)?, stored)));
    let Some((IssueKey { project, .. }, stored)) = issue else { return forget(access, id).await };
    let issue: Issue = stored.read()?;
    if Schema::read(access, issue.tenant, project, Read::Strong).await?.is_none() {
        // The issue goes with its project, and until then would stand before all other work.
        return Ok(access.table(&DELETE_ISSUE, &TRACKER).batch_delete(&[due]).await?);
    }
    settle(access, id).await
}

/// Takes away what an issue that is gone has left.
pub async fn forget(access: &Access, id: IssueId) -> Result<(), Problem> {
    let due = IssueDueKey { issue: id }.key();
    let found = access.table(&ISSUE_ROWS, &TRACKER).query(due.pk.as_str()).consistent().all().await?;
    // It was moved while it was looked for: its rows are those of an issue that is there.
    if found.iter().any(|stored| IssueKey::parse(&stored.key).is_some()) {
        return Ok(());
    }
    let rows: Vec<Key> = found.iter().filter_map(row).map(|(key, _)| key).collect();
    let table = access.table(&DELETE_ISSUE, &TRACKER);
    table.batch_delete(&rows).await?;
    // The worker finds what is left by this, so it outlives the rows: a batch that dies may have done any part.
    Ok(table.batch_delete(&[due]).await?)
}

/// Makes the rows of an issue what they must be.
pub async fn settle(access: &Access, id: IssueId) -> Result<(), Problem> {
    for _ in 0..TRIES {
        match attempt(access, id).await {
            Ok(()) => return Ok(()),
            Err(Error::ConditionFailed(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(Problem::conflict())
}

/// The same for an issue whose write is done: what remains is the worker's, so that the answer stands.
pub async fn settle_or_leave(access: &Access, id: IssueId) {
    if let Err(problem) = settle(access, id).await {
        tracing::warn!(issue = id.id(), %problem, "an issue's rows are left to the next run");
    }
}

async fn attempt(access: &Access, id: IssueId) -> Result<(), Error> {
    let due = IssueDueKey { issue: id }.key();
    let found = access.table(&ISSUE_ROWS, &TRACKER).query(due.pk.as_str()).consistent().all().await?;
    let issue = found.iter().find_map(|stored| Some((IssueKey::parse(&stored.key)?, stored.clone())));
    let there: Rows = found.iter().filter_map(row).collect();
    // What an issue that is gone has left is the worker's to take away.
    let Some((IssueKey { project, .. }, stored)) = issue else { return Ok(()) };
    let issue: Issue = stored.read()?;
    let schema = Schema::read(access, issue.tenant, project, Read::Strong).await?;
    // With its project goes the issue.
    let Some(schema) = schema else { return Ok(()) };
    let wanted = rows(id, project, &issue, &schema.attributes);
    let differing = difference(&there, &wanted);
    let known = Known { id, issue, stored };
    let mut rest = differing.as_slice();
    while let (now, Some(later)) = (rest.get(..AT_ONCE).unwrap_or(rest), rest.get(AT_ONCE..)) {
        let check = Action::check(&TRACKER, known.stored.key.clone()).if_unchanged(&known.stored);
        let actions: Vec<Action> = [gate(&schema, 0, 0), check].into_iter().chain(now.iter().cloned()).collect();
        access.transact(&CHANGE_ISSUE, &actions).await?;
        rest = later;
    }
    let after = cleaned(&schema, Issue { unsettled: None, ..known.issue.clone() });
    let changes = Changes::between(&known.issue, &after)?;
    let issue = Action::update(&TRACKER, known.stored.key.clone(), changes).if_unchanged(&known.stored);
    let mut actions = vec![gate(&schema, 0, 0), issue, Action::delete(&TRACKER, due).or_absent()];
    actions.extend(rest.iter().cloned());
    access.transact(&CHANGE_ISSUE, &actions).await.map(|_| ())
}

/// A row that is there; nothing for the issue itself and its due row.
fn row(stored: &Stored) -> Option<(Key, String)> {
    let other = IssueKey::parse(&stored.key).is_some() || IssueDueKey::parse(&stored.key).is_some();
    let data = stored.item.get(DATA)?.as_s().ok()?;
    (!other).then(|| (stored.key.clone(), data.clone()))
}
