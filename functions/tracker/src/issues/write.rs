//! One write of an issue as a transaction: gates, the issue, and as many of its rows as fit. Rows that do not fit make the
//! issue unsettled, and a due row leaves them to the worker.

use jobs::{Due, lease_end};
use table::{Access, Action, Changes, EntityKey, Error};
use web::{IfMatch, Problem};

use super::LoadedIssue;
use crate::items::{Issue, State};
use crate::jobs::TrackerJobs;
use crate::keys::{IssueDueKey, IssueKey};
use crate::names::IssueId;
use crate::project::Schema;
use crate::rows::{Rows, difference, rows, rows_to_delete};
use crate::schema::TRACKER;

/// DynamoDB takes 100 actions. One is left for the stored response of an `Idempotency-Key`.
const MAX_ACTIONS: usize = 99;

/// The builder of a transaction that writes an issue.
#[derive(Debug)]
pub struct Write {
    pub id: IssueId,
    /// The first actions: gates and counters.
    pub gates: Vec<Action>,
    /// The issue as it was read, with its rows.
    pub before: Option<(LoadedIssue, Rows)>,
    /// The issue after the write, with its rows.
    pub after: Option<(IssueKey, Issue, Rows)>,
}

/// The transaction of a write.
#[derive(Debug)]
pub struct Prepared {
    pub actions: Vec<Action>,
    /// Whether the actions write all rows.
    pub settled: bool,
    gates: usize,
}

/// The reason why a write was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The action with this index, a gate or a counter: the schema was changed, or the project is being deleted.
    Gate(usize),
    /// The issue was changed since it was read.
    Issue,
}

impl Write {
    /// The write of an issue in one project. A random gate counts it.
    pub fn of(schema: &Schema, before: Option<LoadedIssue>, id: IssueId, after: Option<Issue>) -> Self {
        let open = |issue: Option<&Issue>| i64::from(issue.is_some_and(|issue| issue.state == State::Open));
        let live = i64::from(after.is_some()) - i64::from(before.is_some());
        let open = open(after.as_ref()) - open(before.as_ref().map(|loaded| &loaded.issue));
        let rows_before = if after.is_some() { rows } else { rows_to_delete };
        let key = IssueKey { issue: id, project: schema.id };
        Self {
            id,
            gates: vec![gate(schema, live, open)],
            before: before.map(|loaded| {
                let rows = rows_before(id, schema.id, &loaded.issue, &schema.attributes);
                (loaded, rows)
            }),
            after: after.map(|issue| {
                let rows = rows(id, schema.id, &issue, &schema.attributes);
                (key, issue, rows)
            }),
        }
    }

    pub fn prepare(self, access: &Access) -> Result<Prepared, Error> {
        let none = Rows::new();
        let before_rows = self.before.as_ref().map_or(&none, |(_, rows)| rows);
        let after_rows = self.after.as_ref().map_or(&none, |(.., rows)| rows);
        let mut differing = difference(before_rows, after_rows);
        let gates = self.gates.len();
        // A move deletes one item and creates another.
        let settled = gates + 2 + differing.len() <= MAX_ACTIONS;
        let due = if settled { None } else { Some(self.due(access)?) };
        let mut actions = self.gates;
        let after = self.after.map(|(key, issue, _)| (key, Issue { unsettled: (!settled).then_some(true), ..issue }));
        match (&self.before, after) {
            (Some((loaded, _)), Some((key, issue))) if loaded.stored.key == key.key() => {
                let changes = Changes::between(&loaded.issue, &issue)?;
                actions.push(Action::update(&TRACKER, key, changes).if_unchanged(&loaded.stored));
            }
            (before, after) => {
                if let Some((loaded, _)) = before {
                    actions.push(Action::delete(&TRACKER, loaded.stored.key.clone()).if_unchanged(&loaded.stored));
                }
                if let Some((key, issue)) = after {
                    actions.push(Action::create(&TRACKER, key, &issue)?);
                }
            }
        }
        if let Some(due) = due {
            actions.push(due);
            differing.truncate(MAX_ACTIONS.saturating_sub(actions.len()));
        }
        actions.extend(differing);
        Ok(Prepared { actions, settled, gates })
    }

    /// The due row of an issue that is left unsettled.
    fn due(&self, access: &Access) -> Result<Action, Error> {
        let after = self.after.as_ref().map(|(key, issue, _)| (issue.tenant, key.key()));
        let before = || self.before.as_ref().map(|(loaded, _)| (loaded.issue.tenant, loaded.stored.key.clone()));
        let (tenant, owner) = after.or_else(before).ok_or_else(|| {
            table::never!("a write of rows without an issue");
            Error::Misfit("a write of rows without an issue".to_owned())
        })?;
        Due::new::<TrackerJobs>(&tenant, &lease_end(access), owner)
            .create::<TrackerJobs>(IssueDueKey { issue: self.id }.key())
    }
}

impl Prepared {
    /// The reason why the transaction was refused. None for any other error.
    pub fn refused(&self, error: &Error) -> Option<Refused> {
        let Error::ConditionFailed(failed) = error else { return None };
        let first = failed.iter().map(|failed| failed.index).min()?;
        Some(if first < self.gates { Refused::Gate(first) } else { Refused::Issue })
    }

    /// The outcome of an attempt that has failed: none if the issue is not the one that the client of `If-Match` has seen,
    /// 412, which retries, for any other lost race.
    pub fn lost<T>(&self, error: Error, tag: &IfMatch) -> Result<Option<T>, Problem> {
        match self.refused(&error) {
            Some(Refused::Issue) if tag.names_tags() => Ok(None),
            Some(_) => Err(Problem::stale()),
            None => Err(error.into()),
        }
    }
}

/// A random gate of a project, which counts the change or is only checked.
pub fn gate(schema: &Schema, live: i64, open: i64) -> Action {
    let key = schema.any_gate();
    schema.pass(if live == 0 && open == 0 {
        Action::check(&TRACKER, key)
    } else {
        let mut changes = Changes::new();
        for (name, by) in [("Live", live), ("Open", open)] {
            if by != 0 {
                changes = changes.add(name, by);
            }
        }
        Action::update(&TRACKER, key, changes)
    })
}
