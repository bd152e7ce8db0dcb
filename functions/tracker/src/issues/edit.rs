//! Updates of an issue, which read and decide again after another request has written the issue or changed the project's
//! attributes.

use table::{AccessPattern, Rev};
use web::{Context, EntityTag, IfMatch, Problem, Tagged, problem};

use super::settle::{settle, settle_or_leave};
use super::write::Write;
use super::{IssuePath, LoadedIssue, UNKNOWN_ATTRIBUTE, UNKNOWN_OPTION, WRONG_TYPE, check_size, cleaned};
use crate::items::Issue;
use crate::names::IssueId;
use crate::project::{Consistency, Schema};
use crate::views::IssueView;

/// Writes the issue that `edit` returns, by this pattern. With `If-Match` it writes only the issue that the client has
/// seen. The first attempt reads the project eventually consistent, and later attempts see every acknowledged write.
pub async fn edit(
    cx: &Context,
    path: IssuePath,
    tag: &IfMatch,
    pattern: &'static AccessPattern,
    edit: impl Fn(&Schema, &Issue) -> Result<Issue, Problem> + Sync,
) -> Result<Tagged<IssueView>, Problem> {
    let attempt = |consistency| attempt(cx, path, tag, pattern, &edit, consistency);
    let edited = match attempt(Consistency::Eventual).await {
        Err(problem) if may_be_outdated(&problem) => cx.retry(|| attempt(Consistency::Strong)).await,
        outcome => outcome,
    };
    edited?.ok_or_else(Problem::stale)
}

/// Whether a consistent read of the project may avoid this problem: it was refused by a gate, or for values that do not
/// fit the attributes.
pub fn may_be_outdated(problem: &Problem) -> bool {
    [problem::STALE, WRONG_TYPE, UNKNOWN_ATTRIBUTE, UNKNOWN_OPTION].contains(&problem.kind())
}

/// None if the issue is not the one that the client of `If-Match` has seen. 412, which retries, for any other lost race.
async fn attempt(
    cx: &Context,
    path: IssuePath,
    tag: &IfMatch,
    pattern: &'static AccessPattern,
    edit: &(impl Fn(&Schema, &Issue) -> Result<Issue, Problem> + Sync),
    consistency: Consistency,
) -> Result<Option<Tagged<IssueView>>, Problem> {
    let (access, id) = (cx.access(), path.issue_id);
    let schema = path.load_project(cx, consistency).await?;
    let loaded = path.load(cx).await?;
    if tag.check(loaded.stored.rev).is_err() {
        return Ok(None);
    }
    if loaded.issue.unsettled.is_some() {
        settle(access, id).await?;
        return if tag.names_tags() { Ok(None) } else { Err(Problem::stale()) };
    }
    let edited = edit(&schema, &loaded.issue)?;
    if edited == loaded.issue {
        let view = IssueView::new(id, &schema, &edited);
        return Ok(Some(Tagged::new(&view, loaded.stored.rev)));
    }
    let audit = loaded.issue.audit.updated(cx)?;
    let after = cleaned(&schema, Issue { audit, ..edited });
    check_size(&after)?;
    let prepared = Write::of(&schema, Some(loaded), id, Some(after.clone())).prepare(access)?;
    match access.transact(pattern, &prepared.actions).await {
        Ok(rev) => {
            let tag = if prepared.settled { rev.into() } else { complete(cx, &schema, id, rev, &after).await? };
            Ok(Some(Tagged::new(&IssueView::new(id, &schema, &after), tag)))
        }
        Err(error) => prepared.lost(error, tag),
    }
}

/// Loads an issue with all its rows. None if it is not the one that the client of `If-Match` has seen.
pub async fn load_settled(cx: &Context, path: IssuePath, tag: &IfMatch) -> Result<Option<LoadedIssue>, Problem> {
    let loaded = path.load(cx).await?;
    if tag.check(loaded.stored.rev).is_err() {
        return Ok(None);
    }
    if loaded.issue.unsettled.is_none() {
        return Ok(Some(loaded));
    }
    settle(cx.access(), path.issue_id).await?;
    path.load(cx).await.map(Some)
}

/// Completes the rows of an issue that was written. Returns its entity tag after that, or the one of the write if another
/// request has written the issue since.
pub async fn complete(
    cx: &Context,
    schema: &Schema,
    id: IssueId,
    rev: Rev,
    after: &Issue,
) -> Result<EntityTag, Problem> {
    Ok(completed(cx, schema, id, after).await?.unwrap_or_else(|| rev.into()))
}

/// [`complete`] without the entity tag of the write: None if another request has written the issue since.
pub async fn completed(
    cx: &Context,
    schema: &Schema,
    id: IssueId,
    after: &Issue,
) -> Result<Option<EntityTag>, Problem> {
    settle_or_leave(cx.access(), id).await;
    let loaded = LoadedIssue::load(cx.access(), schema.id, id).await?;
    Ok(loaded.filter(|loaded| loaded.issue == *after).map(|loaded| loaded.stored.rev.into()))
}
