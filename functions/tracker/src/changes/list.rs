//! `GET /tracker/tenants/{tenantId}/projects/{projectId}/changes`: for clients that follow a project.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use table::{EntityKey, Key};
use utoipa::ToSchema;
use web::{Context, Json, Kind, Limit, Path, Problem, Query, Route, Sample, problem, response_bytes};

use super::{Change, ChangeKind, LastChange};
use crate::access::{CHANGED_ISSUES, CHANGES, MEMBERSHIP, PROJECT};
use crate::authorization::{SIGNED_IN, TenantAccess};
use crate::items::Issue;
use crate::jobs::issues_of;
use crate::keys::{ChangeKey, LastChangeKey};
use crate::names::{ChangeNumber, IssueId};
use crate::project::Consistency;
use crate::projects::ProjectPath;
use crate::schema::TRACKER;
use crate::views::GridRow;

/// A change after `since` was stored too long ago, or was never logged, or `since` is of a table before its restoration.
pub const CHANGES_EXPIRED: Kind = Kind::new(410, "changes-expired", "Changes are no longer stored");

const START_AGAIN: &str = "Send a request without `since`, then read the whole grid, a minute later, and go on with the \
                           `since` of that request.";

/// The bytes of the issues in a response. Lambda limits a response to 6 MB.
const MAX_BYTES: usize = 4_000_000;

/// The query string as sent.
#[derive(Debug, Deserialize, ToSchema)]
pub struct ChangesQuery {
    /// The `since` of an earlier response. Without it, the response has no changes, but the `since` of the next request.
    since: Option<u64>,
    #[serde(default)]
    limit: Limit,
}

/// Changes of issues in the order of their numbers.
#[derive(Debug, Serialize, ToSchema)]
pub struct ChangeList {
    items: Vec<ChangeView>,
    /// The `since` of the next request.
    since: u64,
    /// Whether the next request has changes already.
    more: bool,
}

/// The change of an issue.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangeView {
    /// The number of the change in its project, from 1.
    change: u64,
    #[serde(rename = "type")]
    kind: ChangeKind,
    issue_id: IssueId,
    /// The issue's number after the change, or before its deletion.
    number: u64,
    /// The time of the change, RFC 3339 in UTC. Changes of different issues may be numbered in another order.
    at: String,
    /// The issue as it is now, which may be after later changes. Absent if it is no longer in the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    issue: Option<GridRow>,
}

pub fn route() -> Route {
    Route::get("listChanges", "/tracker/tenants/{tenantId}/projects/{projectId}/changes", SIGNED_IN, list)
        .summary("List the changes of a project's issues since an earlier request, in the order of their numbers")
        .patterns(&[&MEMBERSHIP, &PROJECT, &CHANGES, &CHANGED_ISSUES])
        .problems(&[problem::NOT_FOUND, CHANGES_EXPIRED])
        .sample(Sample::new("/tracker/tenants/tenant-0807/projects/project-35e9/changes?since=0"))
}

async fn list(
    cx: Context,
    Path(path): Path<ProjectPath>,
    Query(query): Query<ChangesQuery>,
) -> Result<Json<ChangeList>, Problem> {
    TenantAccess::load(&cx, path.tenant_id).await?;
    let last = LastChange::load(cx.access(), &CHANGES, path.project_id).await?.unwrap_or_default().last;
    // Read after that number, it has the attributes of all values that came with these changes.
    let schema = path.load(&cx, Consistency::Strong).await?;
    let since = query.since.unwrap_or(last);
    if since > last {
        return Err(CHANGES_EXPIRED.because(START_AGAIN));
    }
    if since == last {
        return Ok(Json(ChangeList { items: Vec::new(), since, more: false }));
    }
    let changes = load(&cx, path, since, last, query.limit).await?;
    if changes.is_empty() {
        // A query may be too early for a transaction that the number of the last change belongs to.
        let next = ChangeKey { project: schema.id, change: ChangeNumber(since + 1) };
        let is_stored = cx.access().table(&CHANGES, &TRACKER).get_consistent(next.key()).await?.is_some();
        let early = Json(ChangeList { items: Vec::new(), since, more: true });
        return if is_stored { Ok(early) } else { Err(CHANGES_EXPIRED.because(START_AGAIN)) };
    }
    let mut ids: Vec<IssueId> = changes.iter().map(|(_, change)| change.issue).collect();
    ids.sort_unstable();
    ids.dedup();
    let found = issues_of(cx.access(), &CHANGED_ISSUES, schema.id, &ids).await?;
    let row = |id, rev, issue: &Issue| GridRow::new(id, rev, issue, schema.columns());
    let rows: BTreeMap<IssueId, GridRow> =
        found.iter().map(|(id, issue, stored)| (*id, row(*id, stored.rev, issue))).collect();
    let (mut items, mut bytes) = (Vec::new(), 0);
    for (number, change) in changes {
        let issue = rows.get(&change.issue).cloned();
        bytes += response_bytes(&issue)?;
        if bytes > MAX_BYTES && !items.is_empty() {
            break;
        }
        let Change { kind, issue: issue_id, num, at, .. } = change;
        items.push(ChangeView { change: number, kind, issue_id, number: num, at, issue });
    }
    let since = items.last().map_or(since, |change| change.change);
    Ok(Json(ChangeList { items, since, more: since < last }))
}

/// Loads changes after `since` up to the last one with their numbers, without a gap: the first that is missing has
/// expired.
async fn load(
    cx: &Context,
    path: ProjectPath,
    since: u64,
    last: u64,
    limit: Limit,
) -> Result<Vec<(u64, Change)>, Problem> {
    let project = path.project_id;
    let sk = |number| ChangeKey { project, change: ChangeNumber(number) }.key().sk.unwrap_or_default();
    let Key { pk, .. } = LastChangeKey { project }.key();
    let query = cx.access().table(&CHANGES, &TRACKER).query(pk).between(sk(since + 1), sk(last)).consistent();
    let mut changes = Vec::new();
    for (stored, expected) in query.page(limit.0).await?.items.iter().zip(since + 1..) {
        if ChangeKey::parse(&stored.key).is_none_or(|key| key.change != ChangeNumber(expected)) {
            break;
        }
        changes.push((expected, stored.read()?));
    }
    Ok(changes)
}
