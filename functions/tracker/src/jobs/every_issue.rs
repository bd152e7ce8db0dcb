//! Looking at every issue of a small project, with the certainty that none was missed.

use std::collections::BTreeSet;

use table::{Access, AccessPattern, Position, Stored};
use web::Problem;

use super::pages;
use crate::items::Issue;
use crate::names::{IssueId, ProjectId};
use crate::project::Gates;

/// A reader of all issues of a small project, by pages.
pub struct EveryIssue {
    pattern: &'static AccessPattern,
    project: ProjectId,
    before: Gates,
    /// A renumbered issue can be listed twice.
    seen: BTreeSet<IssueId>,
    next: Next,
}

enum Next {
    Page(Option<Position>),
    End,
}

impl EveryIssue {
    /// None if the project is not small.
    pub async fn of(
        access: &Access,
        pattern: &'static AccessPattern,
        project: ProjectId,
    ) -> Result<Option<Self>, Problem> {
        let before = Gates::load(access, project).await?;
        let every = Self { pattern, project, before, seen: BTreeSet::new(), next: Next::Page(None) };
        Ok(every.before.is_small().then_some(every))
    }

    /// The next page of the issues that the index lists, as the table has them. None after the last.
    pub async fn page(&mut self, access: &Access) -> Result<Option<Vec<(IssueId, Issue, Stored)>>, Problem> {
        let Next::Page(after) = std::mem::replace(&mut self.next, Next::End) else { return Ok(None) };
        let (ids, next) = pages::entries(access, self.pattern, self.project.id(), after, pages::ISSUES).await?;
        if next.is_some() {
            self.next = Next::Page(next);
        }
        let issues = pages::issues(access, self.pattern, self.project, &ids).await?;
        self.seen.extend(issues.iter().map(|(id, ..)| *id));
        Ok(Some(issues))
    }

    /// Whether the pages had every issue, however far the index lags behind: they had as many as the gates count, and no
    /// issue was created or deleted meanwhile.
    pub async fn is_complete(&self, access: &Access) -> Result<bool, Problem> {
        let is_all = i64::try_from(self.seen.len()).is_ok_and(|seen| seen == self.before.live());
        Ok(is_all && Gates::load(access, self.project).await?.revs == self.before.revs)
    }
}
