//! `logChanges` logs the changes of issues from the records of the table's stream.
//!
//! One transaction gives changes of a project their numbers, so each reader sees them in one order without a gap. A
//! record that is delivered again is logged again: a change is listed at least once.

use std::time::Duration;

use bytes::Bytes;
use table::{Access, Action, Backoff, Changes, Condition, EntityKey, Error, item};
use tokio::time::Instant;
use web::{Event, EventFailure, EventHandler, Record, records, respond_to_records};

use super::{Change, ChangeKind, LastChange};
use crate::access::LOG_CHANGES;
use crate::keys::{ChangeKey, IssueKey, LastChangeKey, ProjectKey};
use crate::names::ChangeNumber;
use crate::schema::{SYSTEM, TRACKER};

/// How long a change is stored.
const RETENTION: Duration = Duration::from_secs(30 * 24 * 3600);

/// The maximum number of changes in a transaction. DynamoDB takes 100 actions; the others check the project and count.
const MAX_CHANGES: usize = 98;

/// The time that a transaction and its retries may take.
const MAX_APPEND: Duration = Duration::from_secs(25);

pub fn handler() -> EventHandler {
    EventHandler::new(crate::schema::LOG_CHANGES, log).patterns(&[&LOG_CHANGES])
}

/// A change with its project, and its record with the place of that in the batch.
struct NewChange<'a> {
    place: usize,
    record: &'a Record,
    project: ProjectKey,
    change: Change,
}

async fn log(event: Event) -> Result<Bytes, EventFailure> {
    let access = event.access();
    let records = records(&event.payload, &SYSTEM, &access.engines().config)?;
    let expires = access.engines().clock.seconds() + RETENTION.as_secs() as i64;
    let places = records.iter().enumerate();
    let mut changes: Vec<NewChange<'_>> = places.filter_map(|(place, record)| change(place, record, expires)).collect();
    if changes.is_empty() {
        event.found_nothing();
    }
    // Projects that change at the same time share the records of a batch. The order within a project stays.
    changes.sort_by_key(|change| change.project.project);
    let mut failed: Option<&NewChange<'_>> = None;
    for of_project in changes.chunk_by(|one, next| one.project == next.project) {
        for batch in of_project.chunks(MAX_CHANGES) {
            let appended = if Instant::now() + MAX_APPEND < event.deadline {
                append(access, batch).await.map_err(|error| error.to_string())
            } else {
                Err("the invocation ends".to_owned())
            };
            match appended {
                Ok(Appended::All) => {}
                Ok(Appended::NoProject) => break,
                Err(error) => {
                    let Some(first) = batch.first() else { break };
                    let (project, sequence) = (first.project.project.id(), &first.record.sequence);
                    tracing::warn!(project, sequence, error, "logging changes failed; they will be delivered again");
                    failed = failed.filter(|failed| failed.place < first.place).or(Some(first));
                    break;
                }
            }
        }
    }
    Ok(respond_to_records(failed.map(|first| first.record)))
}

/// Returns the change of a record. Other items have none.
fn change(place: usize, record: &Record, expires: i64) -> Option<NewChange<'_>> {
    let IssueKey { issue, project } = IssueKey::parse(&record.key)?;
    let (kind, image) = match (&record.old, &record.new) {
        (None, Some(new)) => (ChangeKind::Created, new),
        (Some(_), Some(new)) => (ChangeKind::Updated, new),
        (Some(old), None) => (ChangeKind::Deleted, old),
        (None, None) => return None,
    };
    // Nothing else of the image is read, since it may be of another release, or of a foreign write.
    let tenant = image.get("Tenant").and_then(|tenant| tenant.as_s().ok()?.clone().try_into().ok());
    let num = image.get("Num").and_then(|num| num.as_n().ok()?.parse().ok());
    let (Some(tenant), Some(num)) = (tenant, num) else {
        let (project, sequence) = (project.id(), &record.sequence);
        tracing::error!(project, sequence, "a change is not logged: its item lacks the tenant or the number");
        return None;
    };
    let change = Change { kind, issue, num, at: record.at(), expires };
    Some(NewChange { place, record, project: ProjectKey { project, tenant }, change })
}

/// The outcome of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Appended {
    All,
    /// Nothing was written, since the project is being deleted.
    NoProject,
}

/// Appends changes to those of their project.
async fn append(access: &Access, changes: &[NewChange<'_>]) -> Result<Appended, Error> {
    let Some(NewChange { project: key, .. }) = changes.first() else { return Ok(Appended::All) };
    let mut backoff = Backoff::new();
    loop {
        let before = LastChange::load(access, &LOG_CHANGES, key.project).await?;
        let last = before.unwrap_or_default().last;
        let next = LastChange { last: last + changes.len() as u64 };
        let next_key = LastChangeKey { project: key.project };
        let next = match before {
            Some(_) => Action::update(&TRACKER, next_key, Changes::new().set("Last", item::number(next.last)))
                .when(Condition::Equals("Last", item::number(last))),
            None => Action::create(&TRACKER, next_key, &next)?,
        };
        let mut actions = vec![Action::check(&TRACKER, key).when(Condition::Present("Data")), next];
        for (NewChange { change, .. }, number) in changes.iter().zip(last + 1..) {
            let key = ChangeKey { project: key.project, change: ChangeNumber(number) };
            actions.push(Action::create(&TRACKER, key, change)?);
        }
        match access.transact(&LOG_CHANGES, &actions).await {
            Ok(_) => return Ok(Appended::All),
            Err(error) if error.failed(0).is_some() => return Ok(Appended::NoProject),
            Err(Error::ConditionFailed(_)) if backoff.wait().await => {}
            Err(error) => return Err(error),
        }
    }
}
