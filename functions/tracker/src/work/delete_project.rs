//! The deletion of a project: its gates are closed first, so that nobody writes an issue any more and what they count is
//! exactly what is left; the issues go, then everything else, the project last.

use table::{Access, Action, Changes, Condition, EntityKey, Error, Key, item};
use web::Problem;

use super::{Begun, Counts, Held, Kind, Start, Step, Then, begin, pages};
use crate::access::{ISSUE_ROWS, PROJECT_STEP};
use crate::items::State;
use crate::keys::{AttributeKey, CounterKey, GateKey, IssueDueKey, ProjectKey, TenantKey};
use crate::names::IssueId;
use crate::project::{Consistency, Gates, Schema};
use crate::schema::TRACKER;

/// How many issues go at once.
const AT_ONCE: u32 = 25;

/// How long to wait for the index to show issues that are still there, in seconds.
const AGAIN: u64 = 10;

/// What begins the deletion of a project: closed gates, the project without its name in the index, the work. With `empty`
/// only if nothing was counted since the gates were read, with `unchanged` only if the project is as it was read.
pub fn mark(
    access: &Access,
    schema: &Schema,
    gates: &Gates,
    empty: bool,
    unchanged: bool,
    who: Option<String>,
    start: Start,
) -> Result<(Begun, Vec<Action>), Error> {
    let begun = begin(access, schema.tenant, Kind::DeleteProject, (Some(schema.id), None), who, start)?;
    let closed = gates.0.iter().map(|(key, gate)| {
        let close = Action::update(&TRACKER, key, Changes::new().set("Closed", item::flag(true)));
        if empty { close.when(Condition::Equals("Live", item::number(gate.live))) } else { close }
    });
    let project = Changes::new().remove("Data").set("Deleting", item::text(begun.id.id()));
    let project = Action::update(&TRACKER, schema.key(), project).when(Condition::Present("Data"));
    let project = if unchanged { project.if_unchanged(&schema.stored) } else { project };
    let actions = [project].into_iter().chain(closed).chain(begun.actions.clone()).collect();
    Ok((begun, actions))
}

pub async fn step(access: &Access, held: &Held) -> Result<Step, Problem> {
    let Some(project) = held.work.project else { return Ok(Step::stopped(held, "its record names no project")) };
    let Some(schema) = Schema::load_also_deleted(access, held.tenant, project, Consistency::Strong).await? else {
        return Ok(Step::end(held, Then::Done, Vec::new()));
    };
    let gates = Gates::load(access, project).await?;
    let live = u64::try_from(gates.live()).unwrap_or_default();
    let total = held.work.counts.total.max(held.work.counts.done + live);
    if live > 0 {
        let (ids, _) = pages::entries(access, &PROJECT_STEP, project.id(), None, AT_ONCE).await?;
        let issues = pages::issues(access, &PROJECT_STEP, project, &ids).await?;
        let (issues, _) = pages::that_fit(issues, |(_, issue, _)| pages::size(issue));
        for (issue, ..) in &issues {
            delete_rows(access, *issue).await?;
        }
        if issues.is_empty() {
            // Whatever the index shows is gone; the rest it shows later.
            return Step::new(Vec::new(), &(), Counts { total, ..held.work.counts }, Then::Wait(AGAIN));
        }
        let open = issues.iter().filter(|(_, issue, _)| issue.state == State::Open).count();
        let counted = i64::try_from(issues.len()).unwrap_or_default();
        let down = Changes::new().add("Live", -counted).add("Open", -i64::try_from(open).unwrap_or_default());
        let mut actions = vec![Action::update(&TRACKER, schema.any_gate(), down)];
        actions.extend(issues.iter().map(|(.., stored)| Action::delete(&TRACKER, stored.key.clone())));
        let counts = Counts::of(total, held.work.counts.done + issues.len() as u64);
        return Step::new(actions, &(), counts, Then::More);
    }
    let attributes = schema.attributes.iter().map(|attribute| AttributeKey { project, attribute: attribute.id }.key());
    let all: Vec<Key> = attributes.chain([CounterKey { project }.key()]).collect();
    access.table(&PROJECT_STEP, &TRACKER).batch_delete(&all).await?;
    let tenant = Action::update(&TRACKER, TenantKey { tenant: held.tenant }, Changes::new().add("Projects", -1));
    // What some of the gates count says nothing, so they go at once.
    let gates = gates.0.iter().map(|(key, _)| Action::delete(&TRACKER, GateKey::key(key)));
    let project = Action::delete(&TRACKER, ProjectKey { project, tenant: held.tenant });
    let actions = gates.chain([project, tenant]).collect();
    Step::new(actions, &(), Counts::of(total, total), Then::Done)
}

/// The rows of an issue, whatever they are, but for the issue itself.
async fn delete_rows(access: &Access, issue: IssueId) -> Result<(), Error> {
    let pk = IssueDueKey { issue }.key().pk;
    let found = access.table(&ISSUE_ROWS, &TRACKER).query(pk).consistent().all().await?;
    let rows = found.into_iter().map(|stored| stored.key);
    let rows: Vec<Key> = rows.filter(|key| crate::keys::IssueKey::parse(key).is_none()).collect();
    access.table(&PROJECT_STEP, &TRACKER).batch_delete(&rows).await
}
