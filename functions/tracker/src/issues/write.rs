//! One write of an issue as a transaction: gates, the issue, and its rows, as many as fit. What does not fit makes the issue
//! unsettled, and a due row says so.

use table::{Access, Action, Changes, EntityKey, Error};

use super::Known;
use crate::items::{Issue, State};
use crate::keys::{IssueDueKey, IssueKey};
use crate::names::IssueId;
use crate::project::Schema;
use crate::rows::{Rows, difference, rows};
use crate::schema::TRACKER;
use crate::work::{Due, lease};

/// DynamoDB takes 100 actions; one is left for the answer to a request with an idempotency key.
const MOST: usize = 99;

/// A write in the making.
#[derive(Debug)]
pub struct Write {
    pub id: IssueId,
    /// Gates and counters, first of all.
    pub gates: Vec<Action>,
    /// The issue as it was read, with its rows.
    pub before: Option<(Known, Rows)>,
    /// Where and what it will be, with its rows.
    pub after: Option<(IssueKey, Issue, Rows)>,
}

/// A write as DynamoDB takes it.
#[derive(Debug)]
pub struct Prepared {
    pub actions: Vec<Action>,
    /// Whether all rows are among them.
    pub settled: bool,
    gates: usize,
}

/// Why a write was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// This gate or counter: another schema, or a project that is being deleted.
    Gate(usize),
    /// The issue is not as it was read.
    Issue,
}

impl Write {
    /// A write of an issue that stays in its project: counted at one gate if its state changes.
    pub fn of(schema: &Schema, before: Option<Known>, id: IssueId, after: Option<Issue>) -> Self {
        let live = |there: bool| i64::from(there);
        let open = |issue: Option<&Issue>| i64::from(issue.is_some_and(|issue| issue.state == State::Open));
        let live = live(after.is_some()) - live(before.is_some());
        let open = open(after.as_ref()) - open(before.as_ref().map(|known| &known.issue));
        let rows_of = |issue: &Issue| rows(id, schema.id, issue, &schema.attributes);
        let key = IssueKey { issue: id, project: schema.id };
        Self {
            id,
            gates: vec![gate(schema, live, open)],
            before: before.map(|known| {
                let rows = rows_of(&known.issue);
                (known, rows)
            }),
            after: after.map(|issue| {
                let rows = rows_of(&issue);
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
        // A move deletes one item and makes another.
        let settled = gates + 2 + differing.len() <= MOST;
        let mut actions = self.gates;
        let known = self.before.as_ref().map(|(known, _)| known.issue.tenant);
        let tenant = self.after.as_ref().map(|(_, issue, _)| issue.tenant).or(known);
        let owner = self.after.as_ref().map(|(key, ..)| key.key());
        let owner = owner.or_else(|| self.before.as_ref().map(|(known, _)| known.stored.key.clone()));
        let after = self.after.map(|(key, issue, _)| (key, Issue { unsettled: (!settled).then_some(true), ..issue }));
        match (&self.before, after) {
            (Some((known, _)), Some((key, issue))) if known.stored.key == key.key() => {
                let changes = Changes::between(&known.issue, &issue)?;
                actions.push(Action::update(&TRACKER, key, changes).if_unchanged(&known.stored));
            }
            (before, after) => {
                if let Some((known, _)) = before {
                    actions.push(Action::delete(&TRACKER, known.stored.key.clone()).if_unchanged(&known.stored));
                }
                if let Some((key, issue)) = after {
                    actions.push(Action::create(&TRACKER, key, &issue)?);
                }
            }
        }
        if !settled {
            let owner = owner.unwrap_or_else(|| IssueDueKey { issue: self.id }.key());
            let due = Due::of(tenant, &lease(access), owner);
            actions.push(Action::create(&TRACKER, IssueDueKey { issue: self.id }, &due)?);
            differing.truncate(MOST.saturating_sub(actions.len()));
        }
        actions.extend(differing);
        Ok(Prepared { actions, settled, gates })
    }
}

impl Prepared {
    /// What an error says of this write, if it is about the write at all.
    pub fn refused(&self, error: &Error) -> Option<Refused> {
        let Error::ConditionFailed(failed) = error else { return None };
        let first = failed.iter().map(|failed| failed.index).min()?;
        Some(if first < self.gates { Refused::Gate(first) } else { Refused::Issue })
    }
}

/// One gate of a project, which counts what changes.
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
