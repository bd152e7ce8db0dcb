//! One batch from payload to response: read records, fold, build documents, send bulk requests, classify, report.

use std::pin::pin;

use futures::future::{Either, select};

use crate::batch::{Batch, Tally};
use crate::context::Context;
use crate::documents::Documents;
use crate::generation::{Generations, Targets};
use crate::group::{Gathered, Group, GroupId, Groups, gather};
use crate::heartbeat::Heartbeat;
use crate::ports::{Fault, Ports, State, Time};
use crate::record::{NotAnEvent, Record, Tables, records};
use crate::report::{Ledger, Outcome, answer, report};

/// A batch after it was processed.
#[derive(Debug)]
pub(crate) struct ProcessedBatch {
    /// The response to Lambda, as JSON.
    pub(crate) answer: String,
    pub(crate) ledger: Ledger,
    pub(crate) tally: Tally,
    /// The age of the oldest record, in milliseconds.
    pub(crate) lag: i64,
    /// What the batch has done with its records. `None` if their table or their time is not known.
    pub(crate) heartbeat: Option<Heartbeat>,
}

/// The reason why an invocation fails as a whole. Lambda then delivers all its records again.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Failure {
    #[error("the payload is not UTF-8")]
    NotText,
    #[error(transparent)]
    NotAnEvent(#[from] NotAnEvent),
    #[error("a record without a sequence number could not be handled")]
    NoSequence,
    #[error(transparent)]
    Engine(#[from] Fault),
}

/// Applies a batch of stream records to every generation.
pub(crate) async fn process_batch<P: Ports, D: Documents>(
    ports: &P,
    documents: &D,
    tables: &Tables,
    payload: &str,
) -> Result<ProcessedBatch, Failure> {
    let received = ports.time().micros();
    let mut records = records(payload)?;
    // Sequence numbers are compared by length, then by text: they have no leading zeros.
    records.sort_by(|one, other| order(one).cmp(&order(other)));

    let Gathered { mut groups, group_of } = gather(&records, tables);
    // The config item is read for every batch, after the batch was received.
    let generations = with_deadline(ports, ports.state().generations()).await;
    let (groups, tally) = match targets(generations, documents) {
        Ok(targets) => {
            let mut batch = Batch::new(Context { ports, documents, targets, received }, groups);
            with_deadline(ports, batch.run()).await;
            (batch.groups, batch.tally)
        }
        Err(reason) => {
            groups.fail_all(&reason);
            (groups, Tally { first_error: Some(reason), ..Tally::default() })
        }
    };

    let checkpoint = report(groups.iter().filter(|group| !group.handled()).map(|group| group.places));
    let ledger = ledger(&groups, &group_of, checkpoint.unwrap_or(records.len()));
    let answer = answer(checkpoint.map(|place| sequence_at(&records, place)).transpose()?);
    let reported = checkpoint.and_then(|place| records.get(place..)).unwrap_or(&records);
    let heartbeat = oldest(reported).and_then(|oldest| {
        let table = records.first()?.table(tables, None).ok()?.name.to_owned();
        let (received, at) = (received / 1000, ports.time().micros() / 1000);
        let reason = checkpoint.map(|_| tally.first_error.clone().unwrap_or_else(|| "the time was up".to_owned()));
        let newest = newest(&groups);
        Some(Heartbeat { table, at, oldest, received: (received - oldest).max(0), took: at - received, newest, reason })
    });
    Ok(ProcessedBatch { answer, ledger, tally, lag: lag(&records, received), heartbeat })
}

/// Returns the generations that every record must reach, or the reason why none can be written now.
fn targets<D: Documents>(read: Option<Result<Option<Generations>, Fault>>, documents: &D) -> Result<Targets, String> {
    let read = read.ok_or("the time was up before the generations were read")?;
    let generations = read.map_err(|fault| fault.to_string())?;
    let written = generations.map(|generations| generations.written).unwrap_or_default();
    if written.is_empty() {
        return Err("no generation is published yet: create the first index".to_owned());
    }
    written.iter().try_for_each(|generation| generation.check_mapping(documents))?;
    Ok(Targets::new(&written))
}

/// Returns the output of the future, or `None` if the time of this run is up first.
pub(crate) async fn with_deadline<P: Ports, T>(ports: &P, work: impl Future<Output = T>) -> Option<T> {
    match select(pin!(work), pin!(ports.time().expired())).await {
        Either::Left((done, _)) => Some(done),
        Either::Right(_) => None,
    }
}

fn order<'r>(record: &'r Record<'_>) -> Option<(usize, &'r str)> {
    record.sequence.as_deref().map(|sequence| (sequence.len(), sequence))
}

fn ledger(groups: &Groups<'_>, group_of: &[Option<GroupId>], checkpoint: usize) -> Ledger {
    let mut ledger = Ledger { records: group_of.len(), reported: group_of.len() - checkpoint, ..Ledger::default() };
    for (place, group) in group_of.iter().enumerate().take(checkpoint) {
        match group.map(|group| &groups[group]) {
            None => ledger.ignored += 1,
            Some(group) if !group.handled() => {}
            Some(group) if group.places.last == place => ledger.count(group.outcome),
            Some(_) => ledger.count(Outcome::Superseded),
        }
    }
    ledger
}

/// Returns the sequence number of the record at this position, or of the nearest record before it that has one.
fn sequence_at<'r>(records: &'r [Record<'_>], place: usize) -> Result<&'r str, Failure> {
    records.iter().take(place + 1).rev().find_map(|record| record.sequence.as_deref()).ok_or(Failure::NoSequence)
}

fn lag(records: &[Record<'_>], now_micros: i64) -> i64 {
    oldest(records).map_or(0, |oldest| now_micros / 1000 - oldest).max(0)
}

/// Returns when the oldest record was written, in milliseconds.
fn oldest(records: &[Record<'_>]) -> Option<i64> {
    records.iter().filter_map(|record| record.created).min().map(|created| created.saturating_mul(1000))
}

/// Returns the highest revision that was written to the index, or 0.
fn newest(groups: &Groups<'_>) -> u64 {
    let written = groups.iter().filter(|group| group.handled() && group.outcome == Outcome::Applied);
    written.map(Group::highest).max().unwrap_or_default()
}
