//! The second pass creates issues, or updates those with the records' numbers.

use std::collections::HashMap;
use std::time::Instant;

use futures::stream::{self, StreamExt, TryStreamExt};
use jobs::{Counts, RowFault, Step, Then};
use table::{Access, Backoff, EntityKey, Error};
use web::Problem;

use super::ahead::{Ahead, end};
use super::create::{New, TOO_LARGE, create_all, make};
use super::record::{self, ParsedRow};
use super::records::{Batch, Next};
use super::written::{WorkerRecords, Written, worker_of};

use super::{ImportParams, OnError, faults, find, look_again};
use crate::access::{IMPORT_ROWS, WRITE_ISSUE};
use crate::audit::Audit;
use crate::issues::{LoadedIssue, Write, check_size, cleaned, settle};
use crate::items::Issue;
use crate::jobs::Lease;
use crate::keys::{IssueKey, WrittenKey};
use crate::names::{GATES, GateNumber, IssueId};
use crate::project::Schema;
use crate::schema::TRACKER;

/// A record that updates an issue.
struct Known {
    number: u64,
    parsed: ParsedRow,
    /// The issue with the number, if the index lists one.
    id: Option<IssueId>,
}

/// The records of a batch that one worker writes.
#[derive(Default)]
struct Share {
    new: Vec<New>,
    known: Vec<Known>,
}

/// The outcome of the records that one worker writes.
#[derive(Default)]
struct Outcome {
    updated: u64,
    faults: Vec<RowFault>,
    /// Whether some are not written: the schema was changed since it was read, the project is being deleted, or another
    /// run works on them.
    outdated: bool,
}

pub async fn step(
    access: &Access,
    lease: &Lease,
    ahead: &mut Ahead,
    mut params: ImportParams,
    schema: &Schema,
) -> Result<Step, Problem> {
    let start = Instant::now();
    let seen = ahead.seen(access, &params).await?;
    let mut records = ahead.records(lease.id, &params, params.offset);
    let mut batch = Batch::of(ahead.pace.0);
    while batch.has_room() {
        match records.next(access).await? {
            // The header.
            Next::Record(record) if record.number == 0 => {}
            Next::Record(record) => batch.push(record),
            Next::End => break,
            Next::Broken(reason) => {
                return broken(access, lease, params, &reason).await;
            }
        }
    }
    let batch = batch.records;
    if batch.is_empty() {
        return end(access, lease, params, lease.job.counts, Then::Succeed, Vec::new()).await;
    }
    let written = Written::load(access, lease.id, &params).await?;
    let (mut new, mut known, mut found) = (Vec::new(), Vec::new(), Vec::new());
    let (mut created, mut updated, mut failed) = (0, 0, 0);
    let now = table::clock::rfc3339(access.engines().clock.now());
    for record in batch.iter().filter(|record| !seen.is_invalid(record.number)) {
        let next = params.numbers.next;
        params.numbers.next += u64::from(record::is_unnumbered(&params, record));
        if written.has_created(record.number) {
            created += 1;
            continue;
        }
        if written.has_updated(record.number) {
            updated += 1;
            continue;
        }
        match record::read(&params, schema, record) {
            Ok(parsed) => match parsed.number {
                Some(number) if number <= params.numbers.given => known.push((number, parsed)),
                number => match make(lease, schema, &parsed, number.unwrap_or(next), &now)? {
                    Ok(issue) => new.push(issue),
                    Err(fault) => {
                        found.push(fault);
                        failed += 1;
                    }
                },
            },
            Err(faults) => {
                found.extend(faults);
                failed += 1;
            }
        }
    }
    let known = look_up(access, schema, known).await?;
    if known.iter().any(|known| known.id.is_none() && known.number > params.waited_to) {
        return look_again(lease, lease.job.checkpoint()?);
    }
    failed += batch.iter().filter(|record| seen.is_invalid(record.number)).count() as u64;

    created += new.len() as u64;
    for outcome in write_all(access, lease, schema, &params, &written, (new, known)).await? {
        if outcome.outdated {
            // The next step repeats the batch, and finds what was written. It fails if the project is being deleted.
            return Ok(Step::unchanged(&lease.job, Then::Continue));
        }
        updated += outcome.updated;
        failed += outcome.faults.len() as u64;
        found.extend(outcome.faults);
    }
    found.sort_by_key(|fault| (fault.record, fault.line));
    let before = lease.job.counts;
    let counts = Counts {
        total: before.total,
        done: before.done + batch.len() as u64 - failed,
        created: Some(before.created.unwrap_or_default() + created),
        updated: Some(before.updated.unwrap_or_default() + updated),
        failed: before.failed + failed,
    };
    if !found.is_empty() && params.on_error == OnError::Stop {
        let reason = "a record could no longer be written; its fault says why".to_owned();
        return Ok(end(access, lease, params, counts, Then::Fail(reason), found).await?.that_only_counts());
    }
    faults::keep(access, lease.id, &mut params, &found).await?;
    params.offset = records.offset();
    ahead.keep(records);
    ahead.pace.adapt(start.elapsed());
    Ok(Step::new(Vec::new(), &params, counts, Then::Continue)?.with_faults(found).that_only_counts())
}

/// The end of an import that cannot write the rest of its file. It counts what was written since the checkpoint.
pub async fn broken(access: &Access, lease: &Lease, params: ImportParams, reason: &str) -> Result<Step, Problem> {
    let counts = with_written(lease.job.counts, &Written::load(access, lease.id, &params).await?);
    end(access, lease, params, counts, Then::Fail(reason.to_owned()), Vec::new()).await
}

/// The end of a cancelled import. Its counts are exact, since a run that has lost its lease writes nothing after it.
pub async fn cancelled(access: &Access, lease: &Lease) -> Result<Step, Problem> {
    let params: ImportParams = lease.job.checkpoint()?;
    let counts = with_written(lease.job.counts, &Written::close(access, lease.id, &params).await?);
    Step::new(Vec::new(), &params, counts, Then::Cancel)
}

/// The counts of a checkpoint with what was written since.
fn with_written(before: Counts, written: &Written) -> Counts {
    let (created, updated) = (written.created(), written.updated());
    if created + updated == 0 {
        return before;
    }
    Counts {
        done: before.done + created + updated,
        created: Some(before.created.unwrap_or_default() + created),
        updated: Some(before.updated.unwrap_or_default() + updated),
        ..before
    }
}

/// Looks up the issues with these numbers.
async fn look_up(access: &Access, schema: &Schema, known: Vec<(u64, ParsedRow)>) -> Result<Vec<Known>, Problem> {
    let lookups: Vec<_> = known.iter().map(|(number, _)| find(access, schema, *number)).collect();
    let found: Vec<Option<IssueId>> = stream::iter(lookups).buffered(usize::from(GATES)).try_collect().await?;
    let found = known.into_iter().zip(found);
    Ok(found.map(|((number, parsed), id)| Known { number, parsed, id }).collect())
}

/// Writes the records of a batch, each worker its own, one transaction after the other.
async fn write_all(
    access: &Access,
    lease: &Lease,
    schema: &Schema,
    params: &ImportParams,
    written: &Written,
    (new, known): (Vec<New>, Vec<Known>),
) -> Result<Vec<Outcome>, Problem> {
    let mut shares = HashMap::<GateNumber, Share>::new();
    for new in new {
        shares.entry(worker_of(new.record)).or_default().new.push(new);
    }
    for known in known {
        shares.entry(worker_of(known.parsed.record)).or_default().known.push(known);
    }
    let workers = shares.into_iter().map(|(worker, Share { new, known })| async move {
        let (key, mut written) = (WrittenKey { job: lease.id, worker }, written.of(worker));
        if !create_all(access, schema, &key, &mut written, new).await? {
            return Ok::<_, Problem>(Outcome { outdated: true, ..Outcome::default() });
        }
        update_all(access, lease, schema, params, (&key, &mut written), known).await
    });
    stream::iter(workers).buffer_unordered(usize::from(GATES)).try_collect().await
}

/// Updates the issues with these numbers. A number that no issue has any more is a fault.
async fn update_all(
    access: &Access,
    lease: &Lease,
    schema: &Schema,
    params: &ImportParams,
    (key, written): (&WrittenKey, &mut WorkerRecords),
    known: Vec<Known>,
) -> Result<Outcome, Problem> {
    let mut outcome = Outcome::default();
    for known in known {
        let parsed = &known.parsed;
        match update(access, lease, schema, (key, &mut *written), &known).await? {
            Update::Written => outcome.updated += 1,
            Update::Unchanged => {}
            Update::Outdated => {
                outcome.outdated = true;
                break;
            }
            Update::Gone => {
                let fault = parsed.fault("no issue has its number any more");
                let column = params.header(super::column::Target::Number);
                outcome.faults.push(RowFault { line: parsed.number_line, column, ..fault });
            }
            Update::TooLarge => outcome.faults.push(parsed.fault(TOO_LARGE)),
        }
    }
    Ok(outcome)
}

enum Update {
    Written,
    Unchanged,
    Outdated,
    Gone,
    TooLarge,
}

/// Updates an issue in one transaction, which also stores the record.
async fn update(
    access: &Access,
    lease: &Lease,
    schema: &Schema,
    (key, written): (&WrittenKey, &mut WorkerRecords),
    known: &Known,
) -> Result<Update, Problem> {
    let Some(id) = known.id else { return Ok(Update::Gone) };
    let issue_key = IssueKey { issue: id, project: schema.id }.key();
    let after_update = written.with_updated(known.parsed.record);
    let mut backoff = Backoff::new();
    loop {
        let Some(stored) = access.table(&IMPORT_ROWS, &TRACKER).get_consistent(issue_key.clone()).await? else {
            return Ok(Update::Gone);
        };
        let issue: Issue = stored.read()?;
        if issue.num != known.number {
            return Ok(Update::Gone);
        }
        if issue.unsettled.is_some() {
            if !settle(access, id).await? {
                return Ok(Update::Outdated);
            }
            continue;
        }
        let after = known.parsed.apply(issue.clone(), schema);
        if after == issue {
            return Ok(Update::Unchanged);
        }
        let now = table::clock::rfc3339(access.engines().clock.now());
        let audit = Audit { updated_at: now, updated_by: lease.job.created_by.clone(), ..issue.audit.clone() };
        let after = cleaned(schema, Issue { audit, ..after });
        if check_size(&after).is_err() {
            return Ok(Update::TooLarge);
        }
        let prepared = Write::of(schema, Some(LoadedIssue { id, issue, stored }), id, Some(after)).prepare(access)?;
        let (settled, mut actions) = (prepared.settled, prepared.actions);
        let recorded = actions.len();
        actions.push(after_update.store(access, key)?);
        match access.transact(&WRITE_ISSUE, &actions).await {
            Ok(rev) => {
                *written = after_update.at(rev);
                if !settled {
                    settle(access, id).await?;
                }
                return Ok(Update::Written);
            }
            Err(error) if error.failed(0).is_some() || error.failed(recorded).is_some() => return Ok(Update::Outdated),
            Err(Error::ConditionFailed(_)) if backoff.wait().await => {}
            Err(error) => return Err(error.into()),
        }
    }
}

impl ParsedRow {
    /// A fault of the record as a whole.
    pub fn fault(&self, detail: &str) -> RowFault {
        RowFault { record: self.record, line: self.line, column: None, detail: detail.to_owned() }
    }
}
