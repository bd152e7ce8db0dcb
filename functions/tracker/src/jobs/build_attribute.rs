//! Builds an attribute: writes, for each issue that is older than it, the row that lists the issue among those without a
//! value.

use jobs::{Counts, Step, Then, Worker};
use serde::{Deserialize, Serialize};
use table::{Access, Action, Changes, Condition, EntityKey, Key, Position, Stored, item};
use web::Problem;

use super::every_issue::EveryIssue;
use super::{LAG, Lease, TrackerJobs, pages};
use crate::access::ATTRIBUTE_STEP;
use crate::issues::gate;
use crate::items::{Issue, Status};
use crate::keys::{AttributeKey, BlankRowKey};
use crate::names::{AttributeId, IssueId, ProjectId};
use crate::project::{Consistency, Gates, Schema};
use crate::rows;
use crate::schema::TRACKER;
use crate::values::number_key;

#[derive(Default, Deserialize, Serialize)]
#[serde(default)]
struct Checkpoint {
    after: Option<Position>,
    /// Whether this pass has found an issue without a row.
    found: bool,
    /// Whether the previous pass has found none.
    clean: bool,
}

#[derive(Debug)]
pub struct BuildAttribute;

impl Worker<TrackerJobs> for BuildAttribute {
    async fn step(&mut self, access: &Access, lease: &Lease) -> Result<Step, Problem> {
        let (Some(project), Some(id)) = (lease.job.details.project, lease.job.details.attribute) else {
            return Ok(Step::fail(&lease.job, "its record names no attribute"));
        };
        let Some(schema) = Schema::load(access, lease.group, project, Consistency::Strong).await? else {
            return Ok(Step::fail(&lease.job, "its project was deleted"));
        };
        if !schema.column(id).is_some_and(|attribute| attribute.item.status == Status::Building) {
            return Ok(Step::fail(&lease.job, "its attribute was deleted or is built already"));
        }
        let Checkpoint { after, found, clean } = lease.job.checkpoint::<Option<_>>()?.unwrap_or_default();
        let (ids, next) = pages::entries(access, &ATTRIBUTE_STEP, project.id(), after.clone(), pages::ISSUES).await?;
        let issues = pages::issues(access, &ATTRIBUTE_STEP, project, &ids).await?;
        let missing = without_row(access, id, &issues).await?;
        let (missing, all) = pages::that_fit(missing, |(_, issue, _)| pages::size(issue));
        let mut actions = Vec::new();
        for (row, issue, stored) in missing {
            actions.push(Action::check(&TRACKER, stored.key.clone()).if_unchanged(stored));
            actions.push(rows::put(&row, &number_key(issue.num)));
        }
        if !actions.is_empty() {
            // The gate refuses rows once the project is being deleted.
            actions.push(gate(&schema, 0, 0));
        }
        let live = u64::try_from(Gates::load(access, project).await?.live()).unwrap_or_default();
        let found = found || !actions.is_empty();
        if !all {
            let counts = Counts::new(live, lease.job.counts.done);
            return Step::new(actions, &Checkpoint { after, found, clean }, counts, Then::Continue);
        }
        let done = lease.job.counts.done + ids.len() as u64;
        if next.is_some() {
            let checkpoint = Checkpoint { after: next, found, clean };
            return Step::new(actions, &checkpoint, Counts::new(live, done), Then::Continue);
        }
        let counts = Counts::new(live, live);
        if !found && (clean || is_complete(access, project, id).await?) {
            actions.extend(ready(&schema, id));
            return Step::new(actions, &Checkpoint::default(), counts, Then::Succeed);
        }
        // A pass that finds none is repeated when the index has caught up. Then the index also lists all rows. The
        // number of rows that it lists proves nothing, since some may be those of issues that were deleted meanwhile.
        let then = if found { Then::Continue } else { Then::Wait(LAG) };
        Step::new(actions, &Checkpoint { after: None, found: false, clean: !found }, Counts::new(live, 0), then)
    }
}

/// The issues that have neither a value nor the row of issues without one, each with that row's key.
async fn without_row<'a>(
    access: &Access,
    id: AttributeId,
    issues: &'a [(IssueId, Issue, Stored)],
) -> Result<Vec<(Key, &'a Issue, &'a Stored)>, Problem> {
    // The request that sets a value writes the row of that value, so such issues are complete.
    let blank = issues.iter().filter(|(_, issue, _)| issue.value(id).is_none());
    let rows: Vec<_> = blank.clone().map(|(issue, ..)| BlankRowKey { issue: *issue, attribute: id }.key()).collect();
    let there = access.table(&ATTRIBUTE_STEP, &TRACKER).batch_get_consistent(&rows).await?;
    let missing = rows.into_iter().zip(there).zip(blank).filter(|((_, there), _)| there.is_none());
    Ok(missing.map(|((row, _), (_, issue, stored))| (row, issue, stored)).collect())
}

/// Whether every issue of a small project has a row of the attribute.
async fn is_complete(access: &Access, project: ProjectId, id: AttributeId) -> Result<bool, Problem> {
    let Some(mut every) = EveryIssue::of(access, &ATTRIBUTE_STEP, project).await? else { return Ok(false) };
    while let Some(issues) = every.page(access).await? {
        if !without_row(access, id, &issues).await?.is_empty() {
            return Ok(false);
        }
    }
    every.is_complete(access).await
}

/// The actions that make the attribute ready. The schema revision stays, since the rows of issues stay the same.
pub fn ready(schema: &Schema, id: AttributeId) -> [Action; 2] {
    let ready = Changes::new().set("Status", item::text("ready"));
    let project = Changes::new().set("AttribRev", item::number(schema.project.attrib_rev + 1));
    [
        Action::update(&TRACKER, AttributeKey { project: schema.id, attribute: id }, ready),
        Action::update(&TRACKER, schema.key(), project)
            .when(Condition::Equals("AttribRev", item::number(schema.project.attrib_rev))),
    ]
}
