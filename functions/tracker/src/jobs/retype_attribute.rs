//! Converts the values of an attribute to text, issue by issue in the order of their numbers, which does not change.

use jobs::{Counts, Step, Then, Worker};
use serde::{Deserialize, Serialize};
use table::{Access, Action, Changes, EntityKey, Position};
use web::Problem;

use super::build_attribute::ready;
use super::every_issue::EveryIssue;
use super::{LAG, Lease, TrackerJobs, pages};
use crate::access::ATTRIBUTE_STEP;
use crate::issues::gate;
use crate::items::{Issue, Status, Value};
use crate::keys::ValueRowKey;
use crate::names::ProjectId;
use crate::project::{Attribute, Consistency, Gates, Schema};
use crate::rows;
use crate::schema::TRACKER;
use crate::values::Type;
use crate::views::ValueView;

#[derive(Default, Deserialize, Serialize)]
struct Checkpoint {
    after: Option<Position>,
    /// Whether this pass has found a value of the former type.
    found: bool,
    /// Whether the previous pass has found none.
    clean: bool,
}

#[derive(Debug)]
pub struct RetypeAttribute;

impl Worker<TrackerJobs> for RetypeAttribute {
    async fn step(&mut self, access: &Access, lease: &Lease) -> Result<Step, Problem> {
        let (Some(project), Some(id)) = (lease.job.details.project, lease.job.details.attribute) else {
            return Ok(Step::fail(&lease.job, "its record names no attribute"));
        };
        let Some(schema) = Schema::load(access, lease.group, project, Consistency::Strong).await? else {
            return Ok(Step::fail(&lease.job, "its project was deleted"));
        };
        let Some(attribute) = schema.column(id).filter(|attribute| attribute.item.status == Status::Retyping) else {
            return Ok(Step::fail(&lease.job, "its attribute was deleted or is converted already"));
        };
        let Checkpoint { after, found, clean } = lease.job.checkpoint::<Option<_>>()?.unwrap_or_default();
        let (ids, next) = pages::entries(access, &ATTRIBUTE_STEP, project.id(), after.clone(), pages::ISSUES).await?;
        let mut issues = pages::issues(access, &ATTRIBUTE_STEP, project, &ids).await?;
        issues.retain(|(_, issue, _)| has_former_type(attribute, issue));
        let (issues, all) = pages::that_fit(issues, |(_, issue, _)| pages::size(issue));
        let mut actions = Vec::new();
        for (issue, before, stored) in &issues {
            let Some(value) = before.value(id).map(|value| as_text(attribute, value)) else { continue };
            let row = ValueRowKey { issue: *issue, attribute: id }.key();
            actions.push(rows::put(&row, &value.key().data(before.num)));
            let mut after = before.clone();
            after.set(id, Some(value));
            let change = Action::update(&TRACKER, stored.key.clone(), Changes::between(before, &after)?);
            actions.push(change.if_unchanged(stored));
        }
        if !actions.is_empty() {
            // The gate refuses rows once the project is being deleted.
            actions.push(gate(&schema, 0, 0));
        }
        let live = u64::try_from(Gates::load(access, project).await?.live()).unwrap_or_default();
        let counts = Counts::new(live, (lease.job.counts.done + ids.len() as u64).min(live));
        let found = found || !actions.is_empty();
        if !all {
            return Step::new(actions, &Checkpoint { after, found, clean }, lease.job.counts, Then::Continue);
        }
        if next.is_some() {
            return Step::new(actions, &Checkpoint { after: next, found, clean }, counts, Then::Continue);
        }
        if !found && (clean || is_converted(access, project, attribute).await?) {
            actions.extend(ready(&schema, id));
            return Step::new(actions, &Checkpoint::default(), counts, Then::Succeed);
        }
        // A pass that finds none is repeated when the index has caught up.
        let then = if found { Then::Continue } else { Then::Wait(LAG) };
        Step::new(actions, &Checkpoint { after: None, found: false, clean: !found }, Counts { done: 0, ..counts }, then)
    }
}

/// Whether no issue of a small project has a value of the former type.
async fn is_converted(access: &Access, project: ProjectId, attribute: &Attribute) -> Result<bool, Problem> {
    let Some(mut every) = EveryIssue::of(access, &ATTRIBUTE_STEP, project).await? else { return Ok(false) };
    while let Some(issues) = every.page(access).await? {
        if issues.iter().any(|(_, issue, _)| has_former_type(attribute, issue)) {
            return Ok(false);
        }
    }
    every.is_complete(access).await
}

fn has_former_type(attribute: &Attribute, issue: &Issue) -> bool {
    issue.value(attribute.id).is_some_and(|value| value.of != attribute.item.of)
}

/// A value as text, in the form that responses have shown.
pub fn as_text(attribute: &Attribute, value: &Value) -> Value {
    let text = match ValueView::new(attribute, value) {
        ValueView::Text(text) => text,
        ValueView::Choice { label, .. } => label,
    };
    Value { slot: value.slot, of: Type::Text, value: text }
}
