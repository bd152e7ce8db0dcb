//! Deletes an attribute: its values with their rows, then the rows of issues without a value, then the attribute itself,
//! which frees its slot.

use jobs::{Counts, Step, Then, Worker};
use serde::{Deserialize, Serialize};
use table::{Access, Action, Changes, Condition, EntityKey, item};
use web::Problem;

use super::every_issue::EveryIssue;
use super::{LAG, Lease, TrackerJobs, pages};
use crate::access::DELETE_ATTRIBUTE_STEP;
use crate::items::Status;
use crate::keys::{AttributeKey, BlankRowKey, ValueRowKey};
use crate::names::{AttributeId, ProjectId};
use crate::project::{Consistency, Schema};
use crate::schema::TRACKER;

#[derive(Default, Deserialize, Serialize)]
struct Checkpoint {
    /// Whether the index has shown no row before the last wait.
    empty: bool,
}

/// Rows of issues without a value that are deleted at once.
const BLANKS: u32 = 500;

#[derive(Debug)]
pub struct DeleteAttribute;

impl Worker<TrackerJobs> for DeleteAttribute {
    async fn step(&mut self, access: &Access, lease: &Lease) -> Result<Step, Problem> {
        let (Some(project), Some(id)) = (lease.job.details.project, lease.job.details.attribute) else {
            return Ok(Step::fail(&lease.job, "its record names no attribute"));
        };
        let Some(schema) = Schema::load(access, lease.group, project, Consistency::Strong).await? else {
            return Ok(Step::fail(&lease.job, "its project was deleted"));
        };
        let deleting = |status| status == Status::Deleting;
        if !schema.attributes.iter().any(|attribute| attribute.id == id && deleting(attribute.item.status)) {
            return Ok(Step::fail(&lease.job, "its attribute was deleted already"));
        }
        let mut counts = lease.job.counts;
        let (ids, _) =
            pages::entries(access, &DELETE_ATTRIBUTE_STEP, format!("value-{id}"), None, pages::ISSUES).await?;
        if !ids.is_empty() {
            let issues = pages::issues(access, &DELETE_ATTRIBUTE_STEP, project, &ids).await?;
            // Issues that were deleted or moved have left only their rows.
            let there: Vec<_> = issues.iter().map(|(issue, ..)| *issue).collect();
            let left = ids.iter().filter(|id| !there.contains(id));
            let left: Vec<_> = left.map(|issue| ValueRowKey { issue: *issue, attribute: id }.key()).collect();
            access.table(&DELETE_ATTRIBUTE_STEP, &TRACKER).batch_delete(&left).await?;
            let (issues, _) = pages::that_fit(issues, |(_, issue, _)| pages::size(issue));
            let mut actions = Vec::new();
            for (issue, before, stored) in &issues {
                let mut after = before.clone();
                after.set(id, None);
                let change = Action::update(&TRACKER, stored.key.clone(), Changes::between(before, &after)?);
                actions.push(change.if_unchanged(stored));
                actions.push(Action::delete(&TRACKER, ValueRowKey { issue: *issue, attribute: id }).or_absent());
            }
            counts.done += issues.len() as u64;
            counts.total = counts.total.max(counts.done);
            return Step::new(actions, &Checkpoint::default(), counts, Then::Continue);
        }
        let (blank, _) = pages::entries(access, &DELETE_ATTRIBUTE_STEP, format!("blank-{id}"), None, BLANKS).await?;
        if !blank.is_empty() {
            let keys: Vec<_> = blank.iter().map(|issue| BlankRowKey { issue: *issue, attribute: id }.key()).collect();
            access.table(&DELETE_ATTRIBUTE_STEP, &TRACKER).batch_delete(&keys).await?;
            return Step::new(Vec::new(), &Checkpoint::default(), counts, Then::Continue);
        }
        let Checkpoint { empty } = lease.job.checkpoint::<Option<_>>()?.unwrap_or_default();
        if !empty && !is_deleted(access, project, id).await? {
            return Step::new(Vec::new(), &Checkpoint { empty: true }, counts, Then::Wait(LAG));
        }
        let project = Changes::new().set("AttribRev", item::number(schema.project.attrib_rev + 1));
        let actions = vec![
            Action::delete(&TRACKER, AttributeKey { project: schema.id, attribute: id }),
            Action::update(&TRACKER, schema.key(), project)
                .when(Condition::Equals("AttribRev", item::number(schema.project.attrib_rev))),
        ];
        Step::new(actions, &Checkpoint { empty: true }, Counts { total: counts.done, ..counts }, Then::Succeed)
    }
}

/// Whether no issue of a small project has a value of the attribute, or a row.
async fn is_deleted(access: &Access, project: ProjectId, attribute: AttributeId) -> Result<bool, Problem> {
    let Some(mut every) = EveryIssue::of(access, &DELETE_ATTRIBUTE_STEP, project).await? else { return Ok(false) };
    while let Some(issues) = every.page(access).await? {
        let rows = issues.iter().flat_map(|(issue, ..)| {
            let issue = *issue;
            [ValueRowKey { issue, attribute }.key(), BlankRowKey { issue, attribute }.key()]
        });
        let rows: Vec<_> = rows.collect();
        let found = access.table(&DELETE_ATTRIBUTE_STEP, &TRACKER).batch_get_consistent(&rows).await?;
        if found.iter().any(Option::is_some) || issues.iter().any(|(_, issue, _)| issue.value(attribute).is_some()) {
            return Ok(false);
        }
    }
    every.is_complete(access).await
}
