//! An attribute whose values become text: each issue is rewritten with its row, in the order of numbers, which stays.

use serde::{Deserialize, Serialize};
use table::{Access, Action, Changes, EntityKey, Position};
use web::Problem;

use super::build::settled;
use super::{Counts, Held, LAG, Step, Then, pages};
use crate::access::ATTRIBUTE_STEP;
use crate::issues::gate;
use crate::items::{Status, Value};
use crate::keys::ValueRowKey;
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
    /// Whether a pass has found none before.
    clean: bool,
}

pub async fn step(access: &Access, held: &Held) -> Result<Step, Problem> {
    let (Some(project), Some(id)) = (held.work.project, held.work.attribute) else {
        return Ok(Step::stopped(held, "its record names no attribute"));
    };
    let Some(schema) = Schema::load(access, held.tenant, project, Consistency::Strong).await? else {
        return Ok(Step::stopped(held, "its project was deleted"));
    };
    let Some(attribute) = schema.column(id).filter(|attribute| attribute.item.status == Status::Retyping) else {
        return Ok(Step::stopped(held, "its attribute was deleted or is converted already"));
    };
    let Checkpoint { after, found, clean } = serde_json::from_value(held.work.checkpoint.clone()).unwrap_or_default();
    let (ids, next) = pages::entries(access, &ATTRIBUTE_STEP, project.id(), after.clone(), pages::ISSUES).await?;
    let mut issues = pages::issues(access, &ATTRIBUTE_STEP, project, &ids).await?;
    issues.retain(|(_, issue, _)| issue.value(id).is_some_and(|value| value.of != attribute.item.of));
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
        // Nothing is entered once the project is being deleted.
        actions.push(gate(&schema, 0, 0));
    }
    let live = u64::try_from(Gates::load(access, project).await?.live()).unwrap_or_default();
    let counts = Counts::of(live, (held.work.counts.done + ids.len() as u64).min(live));
    let found = found || !actions.is_empty();
    if !all {
        return Step::new(actions, &Checkpoint { after, found, clean }, held.work.counts, Then::More);
    }
    if next.is_some() {
        return Step::new(actions, &Checkpoint { after: next, found, clean }, counts, Then::More);
    }
    if !found && clean {
        actions.extend(settled(&schema, id));
        return Step::new(actions, &Checkpoint::default(), counts, Then::Done);
    }
    // A pass that finds none is done again when the index must show what it did not.
    let then = if found { Then::More } else { Then::Wait(LAG) };
    Step::new(actions, &Checkpoint { after: None, found: false, clean: !found }, Counts { done: 0, ..counts }, then)
}

/// A value as the text that it was shown as.
pub fn as_text(attribute: &Attribute, value: &Value) -> Value {
    let text = match ValueView::new(attribute, value) {
        ValueView::Text(text) => text,
        ValueView::Choice { label, .. } => label,
    };
    Value { slot: value.slot, of: Type::Text, value: text }
}
