//! An attribute that was deleted: its values go from the issues, with their rows, then those without one, then the
//! attribute itself, whose slot is free then.

use serde::{Deserialize, Serialize};
use table::{Access, Action, Changes, Condition, EntityKey, item};
use web::Problem;

use super::{Counts, Held, LAG, Step, Then, pages};
use crate::access::ATTRIBUTE_STEP;
use crate::items::Status;
use crate::keys::{AttributeKey, BlankRowKey, ValueRowKey};
use crate::project::{Consistency, Schema};
use crate::schema::TRACKER;

#[derive(Default, Deserialize, Serialize)]
struct Checkpoint {
    /// Whether nothing was there a while ago.
    empty: bool,
}

/// How many rows without a value go at once.
const BLANKS: u32 = 500;

pub async fn step(access: &Access, held: &Held) -> Result<Step, Problem> {
    let (Some(project), Some(id)) = (held.work.project, held.work.attribute) else {
        return Ok(Step::stopped(held, "its record names no attribute"));
    };
    let Some(schema) = Schema::load(access, held.tenant, project, Consistency::Strong).await? else {
        return Ok(Step::stopped(held, "its project was deleted"));
    };
    let deleting = |status| status == Status::Deleting;
    if !schema.attributes.iter().any(|attribute| attribute.id == id && deleting(attribute.item.status)) {
        return Ok(Step::stopped(held, "its attribute was deleted already"));
    }
    let mut counts = held.work.counts;
    let (ids, _) = pages::entries(access, &ATTRIBUTE_STEP, format!("value-{id}"), None, pages::ISSUES).await?;
    if !ids.is_empty() {
        let issues = pages::issues(access, &ATTRIBUTE_STEP, project, &ids).await?;
        // Of issues that are gone, or that were moved, only the rows are left.
        let there: Vec<_> = issues.iter().map(|(issue, ..)| *issue).collect();
        let left = ids.iter().filter(|id| !there.contains(id));
        let left: Vec<_> = left.map(|issue| ValueRowKey { issue: *issue, attribute: id }.key()).collect();
        access.table(&ATTRIBUTE_STEP, &TRACKER).batch_delete(&left).await?;
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
        return Step::new(actions, &Checkpoint::default(), counts, Then::More);
    }
    let (blank, _) = pages::entries(access, &ATTRIBUTE_STEP, format!("blank-{id}"), None, BLANKS).await?;
    if !blank.is_empty() {
        let keys: Vec<_> = blank.iter().map(|issue| BlankRowKey { issue: *issue, attribute: id }.key()).collect();
        access.table(&ATTRIBUTE_STEP, &TRACKER).batch_delete(&keys).await?;
        return Step::new(Vec::new(), &Checkpoint::default(), counts, Then::More);
    }
    let Checkpoint { empty } = serde_json::from_value(held.work.checkpoint.clone()).unwrap_or_default();
    if !empty {
        return Step::new(Vec::new(), &Checkpoint { empty: true }, counts, Then::Wait(LAG));
    }
    let project = Changes::new().set("AttribRev", item::number(schema.project.attrib_rev + 1));
    let actions = vec![
        Action::delete(&TRACKER, AttributeKey { project: schema.id, attribute: id }),
        Action::update(&TRACKER, schema.key(), project)
            .when(Condition::Equals("AttribRev", item::number(schema.project.attrib_rev))),
    ];
    Step::new(actions, &Checkpoint { empty: true }, Counts { total: counts.done, ..counts }, Then::Done)
}
