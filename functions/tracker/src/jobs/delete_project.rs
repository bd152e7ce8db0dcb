//! Deletes a project. Its gates are closed first, so that no request writes an issue any more, and the gates count exactly
//! the issues that are left. The issues are deleted next, then everything else, and the project last.

use jobs::{Counts, Start, Step, Then, Worker};
use table::{Access, Action, Changes, Condition, EntityKey, Error, Key, item};
use web::Problem;

use super::{Details, Job, Kind, Lease, NewJob, TrackerJobs, pages};
use crate::access::{ISSUE_ROWS, PROJECT_STEP};
use crate::items::State;
use crate::keys::{AttributeKey, CounterKey, GateKey, IssueDueKey, LastChangeKey, ProjectKey, TenantKey};
use crate::names::{IssueId, ProjectId};
use crate::project::{Consistency, Gates, Schema};
use crate::schema::TRACKER;

/// Issues that are deleted at once.
const BATCH: u32 = 25;

/// Changes that are deleted at once.
const CHANGES: u32 = 500;

/// Seconds to wait until the index shows the issues that are left.
const WAIT: u64 = 10;

/// What must hold for the deletion of a project to begin.
#[derive(Clone, Copy, Debug, Default)]
pub struct Conditions {
    /// No issue was counted since the gates were read.
    pub is_empty: bool,
    /// The project was not changed since it was read.
    pub is_unchanged: bool,
}

/// The actions that begin the deletion of a project: they close its gates, take it out of the index, and create the job.
pub fn mark(
    access: &Access,
    schema: &Schema,
    gates: &Gates,
    conditions: Conditions,
    who: Option<String>,
    start: Start,
) -> Result<(NewJob, Vec<Action>), Error> {
    let job = Job::new(access, Kind::DeleteProject, Details::project(schema.id), who);
    let job = NewJob::new(access, schema.tenant, job, start)?;
    let closed = gates.all.iter().map(|(key, gate)| {
        let close = Action::update(&TRACKER, key, Changes::new().set("Closed", item::flag(true)));
        if conditions.is_empty { close.when(Condition::Equals("Live", item::number(gate.live))) } else { close }
    });
    let project = Changes::new().remove("Data").set("Deleting", item::text(job.id.to_string()));
    let project = Action::update(&TRACKER, schema.key(), project).when(Condition::Present("Data"));
    let project = if conditions.is_unchanged { project.if_unchanged(&schema.stored) } else { project };
    let actions = [project].into_iter().chain(closed).chain(job.actions.clone()).collect();
    Ok((job, actions))
}

#[derive(Debug)]
pub struct DeleteProject;

impl Worker<TrackerJobs> for DeleteProject {
    async fn step(&mut self, access: &Access, lease: &Lease) -> Result<Step, Problem> {
        let Some(project) = lease.job.details.project else {
            return Ok(Step::fail(&lease.job, "its record names no project"));
        };
        let Some(schema) = Schema::load_also_deleted(access, lease.group, project, Consistency::Strong).await? else {
            return Ok(Step::unchanged(&lease.job, Then::Succeed));
        };
        let gates = Gates::load(access, project).await?;
        let live = u64::try_from(gates.live()).unwrap_or_default();
        let total = lease.job.counts.total.max(lease.job.counts.done + live);
        if live > 0 {
            let (ids, _) = pages::entries(access, &PROJECT_STEP, project.id(), None, BATCH).await?;
            let issues = pages::issues(access, &PROJECT_STEP, project, &ids).await?;
            let (issues, _) = pages::that_fit(issues, |(_, issue, _)| pages::size(issue));
            for (issue, ..) in &issues {
                delete_rows(access, *issue).await?;
            }
            if issues.is_empty() {
                // The issues that the index shows are deleted already. It shows the rest later.
                return Step::new(Vec::new(), &(), Counts { total, ..lease.job.counts }, Then::Wait(WAIT));
            }
            let open = issues.iter().filter(|(_, issue, _)| issue.state == State::Open).count();
            let counted = i64::try_from(issues.len()).unwrap_or_default();
            let down = Changes::new().add("Live", -counted).add("Open", -i64::try_from(open).unwrap_or_default());
            let mut actions = vec![Action::update(&TRACKER, schema.any_gate(), down)];
            actions.extend(issues.iter().map(|(.., stored)| Action::delete(&TRACKER, stored.key.clone())));
            let counts = Counts::new(total, lease.job.counts.done + issues.len() as u64);
            return Step::new(actions, &(), counts, Then::Continue);
        }
        if delete_changes(access, project).await? {
            let counts = Counts { total, ..lease.job.counts };
            return Step::new(Vec::new(), &(), counts, Then::Continue);
        }
        let attributes =
            schema.attributes.iter().map(|attribute| AttributeKey { project, attribute: attribute.id }.key());
        let all: Vec<Key> = attributes.chain([CounterKey { project }.key()]).collect();
        access.table(&PROJECT_STEP, &TRACKER).batch_delete(&all).await?;
        let tenant = Action::update(&TRACKER, TenantKey { tenant: lease.group }, Changes::new().add("Projects", -1));
        // The counts of a part of the gates mean nothing, so one transaction deletes all of them.
        let gates = gates.all.iter().map(|(key, _)| Action::delete(&TRACKER, GateKey::key(key)));
        let project = Action::delete(&TRACKER, ProjectKey { project, tenant: lease.group });
        let actions = gates.chain([project, tenant]).collect();
        Step::new(actions, &(), Counts::new(total, total), Then::Succeed)
    }
}

/// Deletes the rows of an issue, but not the issue itself.
async fn delete_rows(access: &Access, issue: IssueId) -> Result<(), Error> {
    let pk = IssueDueKey { issue }.key().pk;
    let found = access.table(&ISSUE_ROWS, &TRACKER).query(pk).consistent().all().await?;
    let rows = found.into_iter().map(|stored| stored.key);
    let rows: Vec<Key> = rows.filter(|key| crate::keys::IssueKey::parse(key).is_none()).collect();
    access.table(&PROJECT_STEP, &TRACKER).batch_delete(&rows).await
}

/// Deletes a page of the project's changes, the oldest first. Returns whether there was one. After the mark none is added.
async fn delete_changes(access: &Access, project: ProjectId) -> Result<bool, Error> {
    let table = access.table(&PROJECT_STEP, &TRACKER);
    let page = table.query(LastChangeKey { project }.key().pk).consistent().page(CHANGES).await?;
    let keys: Vec<Key> = page.items.into_iter().map(|stored| stored.key).collect();
    table.batch_delete(&keys).await?;
    Ok(!keys.is_empty())
}
