//! Pages of the index with their issues, as the steps of jobs read them.

use table::{Access, AccessPattern, EntityKey, Error, Position, Stored};

use crate::items::Issue;
use crate::keys::{IssueDueKey, IssueKey};
use crate::names::{IssueId, ProjectId};
use crate::schema::{INDEX, TRACKER};

/// The limit of issues in a step: each takes two actions, the gate one, and the job two.
pub const ISSUES: u32 = 48;

/// The limit of bytes that a step writes. A transaction has at most 4 MB.
const BYTES: usize = 2_500_000;

/// Returns a page of a partition of the index.
pub async fn entries(
    access: &Access,
    pattern: &'static AccessPattern,
    partition: String,
    after: Option<Position>,
    limit: u32,
) -> Result<(Vec<IssueId>, Option<Position>), Error> {
    let page = access.table(pattern, &TRACKER).query(partition).index(INDEX).after(after).page(limit).await?;
    Ok((page.items.iter().filter_map(|entry| issue_of(&entry.key.pk)).collect(), page.next))
}

/// Loads issues of a project. Issues that do not exist are left out.
pub async fn issues(
    access: &Access,
    pattern: &'static AccessPattern,
    project: ProjectId,
    ids: &[IssueId],
) -> Result<Vec<(IssueId, Issue, Stored)>, Error> {
    let keys: Vec<_> = ids.iter().map(|issue| IssueKey { issue: *issue, project }.key()).collect();
    let found = access.table(pattern, &TRACKER).batch_get_consistent(&keys).await?;
    let there = ids.iter().zip(found).filter_map(|(id, stored)| Some((*id, stored?)));
    there.map(|(id, stored)| Ok((id, stored.read()?, stored))).collect()
}

/// The approximate bytes of an issue.
pub fn size(issue: &Issue) -> usize {
    serde_json::to_vec(issue).map_or(0, |text| text.len())
}

/// The first of these issues, as many as one transaction can write, and whether these are all.
pub fn that_fit<T>(issues: Vec<T>, bytes: impl Fn(&T) -> usize) -> (Vec<T>, bool) {
    let mut left = BYTES;
    let (before, mut fitting) = (issues.len(), Vec::new());
    for issue in issues {
        let size = bytes(&issue);
        if size > left && !fitting.is_empty() {
            break;
        }
        left = left.saturating_sub(size);
        fitting.push(issue);
    }
    let all = fitting.len() == before;
    (fitting, all)
}

/// The issue of a partition.
pub fn issue_of(pk: &str) -> Option<IssueId> {
    IssueDueKey::parse(&table::Key::new(pk, "due")).map(|key| key.issue)
}
