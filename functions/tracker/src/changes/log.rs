//! `logChanges` logs the changes of issues from the records of the table's stream.
//!
//! One transaction gives the changes of a project their numbers, so each reader sees them in one order without a gap. A
//! record that is delivered again is logged again: a change is listed at least once.

use std::time::Duration;

use bytes::Bytes;
use jiff::Timestamp;
use table::{Access, Action, Backoff, Changes, Condition, EntityKey, Error, item};
use web::{Event, EventFailure, EventHandler, Record, records, respond_to_records};

use super::{Change, ChangeCount, ChangeKind};
use crate::access::LOG_CHANGES;
use crate::items::Issue;
use crate::keys::{ChangeCountKey, ChangeKey, IssueKey, ProjectKey};
use crate::names::ChangeNumber;
use crate::schema::{SYSTEM, TRACKER};

/// How long a change is stored.
pub const KEPT: Duration = Duration::from_secs(30 * 24 * 3600);

/// The maximum number of changes in a transaction, which also checks the project and counts them.
const BATCH: usize = 90;

pub fn handler() -> EventHandler {
    EventHandler::new(crate::schema::LOG_CHANGES, log).patterns(&[&LOG_CHANGES])
}

/// A change with its project and the record that it comes from.
struct Logged<'a> {
    record: &'a Record,
    project: ProjectKey,
    change: Change,
}

async fn log(event: Event) -> Result<Bytes, EventFailure> {
    let access = event.access();
    let records = records(&event.payload, &SYSTEM, &access.engines().config)?;
    let expires = access.engines().clock.now().as_second() + KEPT.as_secs() as i64;
    let changes: Vec<Logged<'_>> = records.iter().filter_map(|record| change(record, expires)).collect();
    if changes.is_empty() {
        event.found_nothing();
    }
    for same in changes.chunk_by(|one, next| one.project == next.project) {
        for batch in same.chunks(BATCH) {
            if let Err(error) = append(access, batch).await {
                tracing::warn!(%error, "logging changes failed; their records will be delivered again");
                return Ok(respond_to_records(batch.first().map(|logged| logged.record)));
            }
        }
    }
    Ok(respond_to_records(None))
}

/// Returns the change of a record. Other items, and the completion of an issue's rows, have none.
fn change(record: &Record, expires: i64) -> Option<Logged<'_>> {
    let IssueKey { issue: id, project } = IssueKey::parse(&record.key)?;
    let (old, new) = (read(record, record.read_old()), read(record, record.read_new()));
    let kind = match (&record.old, &record.new) {
        (None, Some(_)) => ChangeKind::Created,
        (Some(_), None) => ChangeKind::Deleted,
        _ if old == new => return None,
        _ => ChangeKind::Updated,
    };
    let issue = new.or(old)?;
    let micros = i64::try_from(record.time().as_micros()).unwrap_or(i64::MAX);
    let at = table::clock::rfc3339(Timestamp::from_microsecond(micros).unwrap_or(Timestamp::MAX));
    let change = Change { kind, issue: id, num: issue.num, at, expires };
    Some(Logged { record, project: ProjectKey { project, tenant: issue.tenant }, change })
}

/// The image of an issue. None if there is none, or if it does not fit its type, which only a foreign write stores: another
/// delivery would fail alike, and delay the records after it.
fn read(record: &Record, image: Result<Option<Issue>, Error>) -> Option<Issue> {
    match image {
        Ok(issue) => issue.map(|issue| Issue { unsettled: None, ..issue }),
        Err(error) => {
            tracing::error!(sequence = record.sequence, %error, "an image of an issue does not fit its type");
            None
        }
    }
}

/// Appends changes to those of their project, unless it is being deleted.
async fn append(access: &Access, changes: &[Logged<'_>]) -> Result<(), Error> {
    let Some(Logged { project: key, .. }) = changes.first() else { return Ok(()) };
    let mut backoff = Backoff::new();
    loop {
        let (ChangeCount { last }, stored) = ChangeCount::load(access, &LOG_CHANGES, key.project).await?;
        let count = ChangeCount { last: last + changes.len() as u64 };
        let count_key = ChangeCountKey { project: key.project };
        let counted = match &stored {
            Some(stored) => {
                let changes = Changes::new().set("Last", item::number(count.last));
                Action::update(&TRACKER, count_key, changes).if_unchanged(stored)
            }
            None => Action::create(&TRACKER, count_key, &count)?,
        };
        let mut actions = vec![Action::check(&TRACKER, key).when(Condition::Present("Data")), counted];
        for (Logged { change, .. }, number) in changes.iter().zip(last + 1..) {
            let key = ChangeKey { project: key.project, change: ChangeNumber(number) };
            actions.push(Action::create(&TRACKER, key, change)?);
        }
        match access.transact(&LOG_CHANGES, &actions).await {
            Ok(_) => return Ok(()),
            Err(error) if error.failed(0).is_some() => return Ok(()),
            Err(Error::ConditionFailed(_)) if backoff.wait().await => {}
            Err(error) => return Err(error),
        }
    }
}
