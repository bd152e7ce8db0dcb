//! New issues of a batch's records: several a transaction, each worker through a gate of its own. Each transaction keeps
//! what it makes, so that a batch that is done again makes nothing twice.

use std::collections::HashMap;

use futures::stream::{self, StreamExt, TryStreamExt};
use table::{Access, Action, Changes, Error};
use web::Problem;

use super::made::{Made, OfWorker, worker_of};
use super::record::ParsedRow;
use crate::access::{IMPORT_ROWS, WRITE_ISSUE};
use crate::audit::Audit;
use crate::issues::{Write, check_size, cleaned, settle};
use crate::items::{Issue, State};
use crate::keys::{IssueKey, MadeKey};
use crate::names::{GATES, GateNumber, IssueId, WorkId};
use crate::project::Schema;
use crate::rows::{Rows, put, rows};
use crate::schema::TRACKER;
use crate::values::number_key;
use crate::work::{Held, RowFault};

/// The most actions of a transaction for issues and their rows: one of DynamoDB's 100 is the gate's, one keeps what is made.
const ROOM: usize = 98;

/// The most bytes of a transaction's issues.
const BYTES: usize = 2_000_000;

/// An issue that a record makes.
pub struct New {
    record: u64,
    id: IssueId,
    issue: Issue,
    rows: Rows,
    bytes: usize,
}

/// What is wrong with a record that makes an issue grow too much.
pub const TOO_LARGE: &str = "makes an issue of more than 380 KB";

/// The issue of a record, or why it can be none.
pub fn issue(held: &Held, schema: &Schema, parsed: &ParsedRow, num: u64) -> Result<Issue, RowFault> {
    let who = held.work.created_by.clone();
    let at = held.work.created_at.clone();
    let audit = Audit { created_at: at.clone(), created_by: who.clone(), updated_at: at, updated_by: who };
    let empty = Issue {
        data: number_key(num),
        name: String::new(),
        state: State::Open,
        num,
        tenant: held.tenant,
        values: Default::default(),
        import: Some(held.id),
        unsettled: None,
        audit,
    };
    let issue = cleaned(schema, parsed.apply(empty, schema));
    if check_size(&issue).is_err() {
        return Err(parsed.fault(TOO_LARGE));
    }
    Ok(issue)
}

/// An issue with its rows.
pub fn make(held: &Held, schema: &Schema, parsed: &ParsedRow, num: u64) -> Result<Result<New, RowFault>, Problem> {
    let issue = match issue(held, schema, parsed, num) {
        Ok(issue) => issue,
        Err(fault) => return Ok(Err(fault)),
    };
    let id = IssueId::of_record(held.id, parsed.record);
    let bytes = serde_json::to_vec(&issue).map_err(Problem::internal)?.len();
    let rows = rows(id, schema.id, &issue, &schema.attributes);
    Ok(Ok(New { record: parsed.record, id, issue, rows, bytes }))
}

/// Makes all of them, each worker its own. False if the schema was another by then.
pub async fn create_all(
    access: &Access,
    work: WorkId,
    schema: &Schema,
    made: &Made,
    new: Vec<New>,
) -> Result<bool, Problem> {
    let mut of_workers = HashMap::<GateNumber, Vec<New>>::new();
    for new in new {
        of_workers.entry(worker_of(new.record)).or_default().push(new);
    }
    let workers = of_workers.into_iter().map(|(worker, new)| async move {
        let (key, mut made) = (MadeKey { work, worker }, made.of(worker));
        for group in groups(new) {
            if !create(access, schema, &key, &mut made, group).await? {
                return Ok::<_, Problem>(false);
            }
        }
        Ok(true)
    });
    let made: Vec<bool> = stream::iter(workers).buffer_unordered(usize::from(GATES)).try_collect().await?;
    Ok(!made.contains(&false))
}

/// As many a transaction as fit.
fn groups(new: Vec<New>) -> Vec<Vec<New>> {
    let (mut groups, mut room, mut bytes) = (Vec::<Vec<New>>::new(), 0, 0);
    for made in new {
        let actions = made.rows.len() + 1;
        match groups.last_mut() {
            Some(group) if actions <= room && bytes + made.bytes <= BYTES => {
                (room, bytes) = (room - actions, bytes + made.bytes);
                group.push(made);
            }
            _ => {
                (room, bytes) = (ROOM.saturating_sub(actions), made.bytes);
                groups.push(vec![made]);
            }
        }
    }
    groups
}

/// Makes some issues at once, and keeps that they are made. False if the schema was another by then, or another run was at
/// work on them.
async fn create(
    access: &Access,
    schema: &Schema,
    key: &MadeKey,
    made: &mut OfWorker,
    group: Vec<New>,
) -> Result<bool, Problem> {
    let keep = made.keep(access, key, group.iter().map(|new| new.record))?;
    let (large, pattern, mut actions) = match group.as_slice() {
        [New { id, issue, rows, .. }] if rows.len() >= ROOM => {
            let prepared = Write::of(schema, None, *id, Some(issue.clone())).prepare(access)?;
            (Some(*id), &WRITE_ISSUE, prepared.actions)
        }
        _ => (None, &IMPORT_ROWS, create_together(schema, key.worker, &group)?),
    };
    let kept = actions.len();
    actions.push(keep);
    match access.transact(pattern, &actions).await {
        Ok(rev) => made.kept(rev),
        Err(error) if error.failed(0).is_some() || error.failed(kept).is_some() => return Ok(false),
        Err(error) => return Err(error.into()),
    }
    if let Some(id) = large {
        settle(access, id).await?;
    }
    Ok(true)
}

/// The worker's gate, then each issue with its rows.
fn create_together(schema: &Schema, worker: GateNumber, group: &[New]) -> Result<Vec<Action>, Error> {
    let open = group.iter().filter(|new| new.issue.state == State::Open).count();
    let count = |count: usize| i64::try_from(count).unwrap_or_default();
    let counted = Changes::new().add("Live", count(group.len()));
    let counted = if open > 0 { counted.add("Open", count(open)) } else { counted };
    let mut actions = vec![schema.pass(Action::update(&TRACKER, schema.gate(worker), counted))];
    for New { id, issue, rows, .. } in group {
        actions.push(Action::create(&TRACKER, IssueKey { issue: *id, project: schema.id }, issue)?);
        actions.extend(rows.iter().map(|(key, data)| put(key, data)));
    }
    Ok(actions)
}
