//! The new issues of a batch: several in a transaction, each worker through a gate of its own. Each transaction also stores
//! which records it has written, so that a repeated batch creates nothing twice.

use jobs::RowFault;
use table::{Access, Action, Changes, Error};
use web::Problem;

use super::record::ParsedRow;
use super::written::WorkerRecords;
use crate::access::{IMPORT_ROWS, WRITE_ISSUE};
use crate::audit::Audit;
use crate::issues::{Write, check_size, cleaned, settle};
use crate::items::{Issue, State};
use crate::jobs::Lease;
use crate::keys::{IssueKey, WrittenKey};
use crate::names::{GateNumber, IssueId};
use crate::project::Schema;
use crate::rows::{Rows, put, rows};
use crate::schema::TRACKER;
use crate::values::number_key;

/// Actions of a transaction for issues and their rows. DynamoDB takes 100; one is for the gate, one stores the records.
const MAX_ACTIONS: usize = 98;

/// Bytes of the issues of a transaction.
const MAX_BYTES: usize = 2_000_000;

/// A new issue of a record.
pub struct New {
    pub record: u64,
    id: IssueId,
    issue: Issue,
    rows: Rows,
    bytes: usize,
}

/// The fault of a record whose issue would be too large.
pub const TOO_LARGE: &str = "would make an issue of more than 380 KB";

/// The new issue of a record, created at this time, or its fault.
pub fn issue(lease: &Lease, schema: &Schema, parsed: &ParsedRow, num: u64, at: String) -> Result<Issue, RowFault> {
    let audit = Audit::created(at, lease.job.created_by.clone());
    let empty = Issue {
        data: number_key(num),
        name: String::new(),
        state: State::Open,
        num,
        tenant: lease.group,
        values: Default::default(),
        import: Some(lease.id),
        unsettled: None,
        audit,
    };
    let issue = cleaned(schema, parsed.apply(empty, schema));
    if check_size(&issue).is_err() {
        return Err(parsed.fault(TOO_LARGE));
    }
    Ok(issue)
}

/// The new issue of a record, created at this time, with its rows.
pub fn make(
    lease: &Lease,
    schema: &Schema,
    parsed: &ParsedRow,
    num: u64,
    at: &str,
) -> Result<Result<New, RowFault>, Problem> {
    let issue = match issue(lease, schema, parsed, num, at.to_owned()) {
        Ok(issue) => issue,
        Err(fault) => return Ok(Err(fault)),
    };
    let id = IssueId::of_record(lease.id, parsed.record);
    let bytes = serde_json::to_vec(&issue).map_err(Problem::internal)?.len();
    let rows = rows(id, schema.id, &issue, &schema.attributes);
    Ok(Ok(New { record: parsed.record, id, issue, rows, bytes }))
}

/// Creates the new issues of a worker. False if the schema was changed since it was read, or another run works on them.
pub async fn create_all(
    access: &Access,
    schema: &Schema,
    key: &WrittenKey,
    written: &mut WorkerRecords,
    new: Vec<New>,
) -> Result<bool, Problem> {
    for group in groups(new) {
        if !create(access, schema, key, written, group).await? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Groups of issues that fit into a transaction.
fn groups(new: Vec<New>) -> Vec<Vec<New>> {
    let (mut groups, mut room, mut bytes) = (Vec::<Vec<New>>::new(), 0, 0);
    for issue in new {
        let actions = issue.rows.len() + 1;
        match groups.last_mut() {
            Some(group) if actions <= room && bytes + issue.bytes <= MAX_BYTES => {
                (room, bytes) = (room - actions, bytes + issue.bytes);
                group.push(issue);
            }
            _ => {
                (room, bytes) = (MAX_ACTIONS.saturating_sub(actions), issue.bytes);
                groups.push(vec![issue]);
            }
        }
    }
    groups
}

/// Creates some issues in one transaction, which also stores their records. False if the schema was changed since it was
/// read, or another run works on them.
async fn create(
    access: &Access,
    schema: &Schema,
    key: &WrittenKey,
    written: &mut WorkerRecords,
    group: Vec<New>,
) -> Result<bool, Problem> {
    let after = written.with_created(group.iter().map(|new| new.record));
    let (large, pattern, mut actions) = match group.as_slice() {
        [New { id, issue, rows, .. }] if rows.len() >= MAX_ACTIONS => {
            let prepared = Write::of(schema, None, *id, Some(issue.clone())).prepare(access)?;
            (Some(*id), &WRITE_ISSUE, prepared.actions)
        }
        _ => (None, &IMPORT_ROWS, create_together(schema, key.worker, &group)?),
    };
    let stored = actions.len();
    actions.push(after.store(access, key)?);
    match access.transact(pattern, &actions).await {
        Ok(rev) => *written = after.at(rev),
        Err(error) if error.failed(0).is_some() || error.failed(stored).is_some() => return Ok(false),
        Err(error) => return Err(error.into()),
    }
    if let Some(id) = large {
        settle(access, id).await?;
    }
    Ok(true)
}

/// The actions on the worker's gate, and on each issue with its rows.
fn create_together(schema: &Schema, worker: GateNumber, group: &[New]) -> Result<Vec<Action>, Error> {
    let open = group.iter().filter(|new| new.issue.state == State::Open).count();
    let count =
        |count: usize| i64::try_from(count).map_err(|_| Error::Misfit(format!("{count} issues in a transaction")));
    let counted = Changes::new().add("Live", count(group.len())?);
    let counted = if open > 0 { counted.add("Open", count(open)?) } else { counted };
    let mut actions = vec![schema.pass(Action::update(&TRACKER, schema.gate(worker), counted))];
    for New { id, issue, rows, .. } in group {
        actions.push(Action::create(&TRACKER, IssueKey { issue: *id, project: schema.id }, issue)?);
        actions.extend(rows.iter().map(|(key, data)| put(key, data)));
    }
    Ok(actions)
}
