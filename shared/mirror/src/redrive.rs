//! The redrive of records that Lambda gave up and of items in quarantine. A redrive repairs the key of each record in
//! every generation. It never applies the images of a record, since they may be older than the documents.
//!
//! Its state is what it works on: the objects and the markers. An object is deleted only after all its keys are
//! repaired or in quarantine, so a redrive that was interrupted is resumed by the next one.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use futures::stream::{self, StreamExt, TryStreamExt};
use table::schema::{System, Table};
use table::{Engines, Key};

use crate::context::MAX_READ_AGE;
use crate::documents::{Documents, Shapes};
use crate::engines::{ObjectFailures, Production};
use crate::generation::Generation;
use crate::given_up::{GivenUpObject, REDRIVE_AGE, is_of_function, may_redrive};
use crate::group::{Group, GroupKey, group_key};
use crate::ports::{Failures, Fault, GivenUp, Ports, State, Time};
use crate::quarantine::{Marker, Subject};
use crate::record::{RecordError, Tables, records};
use crate::repair::{item_to_repair, keep_reason, repair_groups, writable_generations};
use crate::report::RepairOutcome;

/// The number of objects that one request lists.
const LIST_PAGE: usize = 1000;

/// The number of keys that one batch repairs.
const BATCH_KEYS: usize = 100;

/// The number of objects that are in memory at a time, and of batches of one page of markers that run concurrently.
const CONCURRENCY: usize = 4;

/// A redrive starts when no invocation uses what it received before a record was given up.
const _: () = assert!(REDRIVE_AGE.as_secs() > MAX_READ_AGE.as_secs());

/// The result of a redrive so far. A dry run counts what a redrive would do as `objects`, `records` and `keys`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Redriven {
    /// The number of objects whose records are redriven, and which are deleted.
    pub objects: usize,
    /// The number of records in these objects.
    pub records: usize,
    /// The number of keys of these records, and of items in quarantine.
    pub keys: usize,
    /// The number of objects that are too young. They can be redriven 20 minutes after Lambda stored them.
    pub waiting: usize,
    /// The number of objects that are not of the mirror. They are left as they are.
    pub others: usize,
    /// The number of objects of the mirror whose records cannot be read, and of objects that are no JSON. They are left as
    /// they are.
    pub unreadable: usize,
    /// The name of one of them.
    pub unreadable_object: Option<String>,
    /// The number of entries of the quarantine that no repair clears, but only their dismissal or the delete of the item.
    pub unrepairable: usize,
    /// The results of repairs, one for each key and generation.
    pub repairs: Repairs,
    /// Reasons of repairs that failed, at most ten.
    pub reasons: Vec<String>,
}

/// The numbers of repairs by their outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repairs {
    pub written: usize,
    pub hidden: usize,
    pub deleted: usize,
    pub stamped: usize,
    pub nothing: usize,
    /// Items that still cannot be indexed.
    pub quarantined: usize,
    /// Keys that could not be repaired now. The next redrive tries them again.
    pub failed: usize,
}

/// The settings of a redrive.
#[derive(Clone, Copy)]
pub struct Redrive<'n> {
    /// Whether nothing is changed.
    pub dry_run: bool,
    /// Is called after each batch, with the result so far.
    pub on_batch: &'n (dyn Fn(&Redriven) + Sync),
}

/// Redrives the records of a system that this handler gave up, and its items in quarantine.
pub async fn redrive_records(
    documents: &impl Documents,
    shapes: &impl Shapes,
    engines: &Engines,
    handler: &str,
    redrive: Redrive<'_>,
) -> Result<Redriven, Fault> {
    let system = documents.tables();
    let ports = Production::new(engines, system, shapes, None)?;
    let failures = ObjectFailures::new(engines, system);
    let tables = Tables::new(system, &engines.config);
    let function = engines.config.function(system.name, handler);
    let run = Run { ports: &ports, failures: &failures, documents, tables: &tables, function: &function, redrive };
    run.all().await
}

/// The objects of the records that a handler gave up, and those that are no JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedGivenUp {
    pub objects: usize,
    /// When the newest was stored, in milliseconds since 1970-01-01T00:00:00Z.
    pub newest: Option<i64>,
}

/// Counts the objects of the records that this handler gave up, to at most this number.
pub async fn count_given_up(
    system: &'static System,
    engines: &Engines,
    handler: &str,
    at_most: usize,
) -> Result<CountedGivenUp, Fault> {
    let failures = ObjectFailures::new(engines, system);
    let function = engines.config.function(system.name, handler);
    let (mut count, mut newest, mut after) = (0, None, None::<String>);
    while count < at_most {
        let page = failures.list(after.as_deref(), at_most).await?;
        let Some(last) = page.last() else { break };
        after = Some(last.name.clone());
        // A body may have 6 MB, so few are in memory at a time.
        let time = async |object: &GivenUp| {
            let is_own = is_given_up_by(&failures, &object.name, &function).await?;
            Ok::<_, Fault>(is_own.then_some(object.since / 1000))
        };
        let times: Vec<_> = page.iter().map(time).collect();
        let times: Vec<Option<i64>> = stream::iter(times).buffer_unordered(CONCURRENCY).try_collect().await?;
        count += times.iter().flatten().count();
        newest = times.into_iter().flatten().max().max(newest);
    }
    Ok(CountedGivenUp { objects: count.min(at_most), newest })
}

/// Whether an object is of this function, or cannot be read. The start of an object, where Lambda writes the function,
/// usually suffices.
async fn is_given_up_by(failures: &ObjectFailures<'_>, name: &str, function: &str) -> Result<bool, Fault> {
    // It may have been redriven since it was listed.
    let Some(start) = failures.read_start(name).await? else { return Ok(false) };
    if let Some(is_own) = is_of_function(&start, function) {
        return Ok(is_own);
    }
    let body = failures.read(name).await?;
    Ok(body.is_some_and(|body| GivenUpObject::of(&body, function) != GivenUpObject::Other))
}

/// One redrive.
pub(crate) struct Run<'r, P, F, D> {
    pub(crate) ports: &'r P,
    pub(crate) failures: &'r F,
    pub(crate) documents: &'r D,
    pub(crate) tables: &'r Tables,
    /// The name of the mirror's function.
    pub(crate) function: &'r str,
    pub(crate) redrive: Redrive<'r>,
}

/// The key of an item, or a record without one.
enum Lost<'p> {
    Item(&'static Table, Key),
    Record(&'p str, RecordError),
}

impl<P: Ports, F: Failures, D: Documents> Run<'_, P, F, D> {
    pub(crate) async fn all(&self) -> Result<Redriven, Fault> {
        let redriven = Mutex::default();
        self.given_up(&redriven).await?;
        self.quarantined(&redriven).await?;
        Ok(redriven.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    async fn given_up(&self, redriven: &Mutex<Redriven>) -> Result<(), Fault> {
        let mut after = None::<String>;
        loop {
            let page = self.failures.list(after.as_deref(), LIST_PAGE).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = Some(last.name.clone());
            let now = self.ports.time().micros();
            let (old, young): (Vec<_>, Vec<_>) = page.into_iter().partition(|object| may_redrive(object.since, now));
            self.note(redriven, |redriven| redriven.waiting += young.len());
            let objects: Vec<_> = old.iter().map(|object| self.object(object, redriven)).collect();
            stream::iter(objects).buffer_unordered(CONCURRENCY).try_collect::<()>().await?;
        }
    }

    /// Redrives the records of an object, and deletes it if none of its keys failed.
    async fn object(&self, object: &GivenUp, redriven: &Mutex<Redriven>) -> Result<(), Fault> {
        // Another redrive may have deleted it.
        let Some(body) = self.failures.read(&object.name).await? else { return Ok(()) };
        let event = match GivenUpObject::of(&body, self.function) {
            GivenUpObject::Event(event) => event,
            GivenUpObject::Other => {
                self.note(redriven, |redriven| redriven.others += 1);
                return Ok(());
            }
            GivenUpObject::Unreadable => {
                self.note_unreadable(redriven, object);
                return Ok(());
            }
        };
        let Ok(records) = records(&event) else {
            self.note_unreadable(redriven, object);
            return Ok(());
        };
        let mut lost = Vec::new();
        let mut known = BTreeSet::new();
        for record in &records {
            match record.table(self.tables, None).and_then(|table| Ok((table, record.key(table)?))) {
                Ok((table, key)) if known.insert((table.name, key.clone())) => lost.push(Lost::Item(table, key)),
                Ok(_) => {}
                Err(error) => lost.push(Lost::Record(record.text, error)),
            }
        }
        let mut failed = 0;
        for some in lost.chunks(BATCH_KEYS) {
            failed += self.repair(some, None, redriven).await?;
        }
        if failed == 0 {
            if !self.redrive.dry_run {
                self.failures.delete(&object.name).await?;
            }
            self.note(redriven, |redriven| {
                redriven.objects += 1;
                redriven.records += records.len();
            });
        }
        Ok(())
    }

    async fn quarantined(&self, redriven: &Mutex<Redriven>) -> Result<(), Fault> {
        for generation in writable_generations(self.ports, self.documents).await? {
            let mut after = None::<String>;
            loop {
                let page = self.ports.state().markers_after(&generation.index, after.as_deref()).await?;
                let Some(last) = page.last() else { break };
                after = Some(last.subject.name());
                let lost: Vec<_> = page.iter().filter_map(|marker| self.item_of(marker)).collect();
                self.note(redriven, |redriven| redriven.unrepairable += page.len() - lost.len());
                let batches: Vec<_> =
                    lost.chunks(BATCH_KEYS).map(|some| self.repair(some, Some(&generation.index), redriven)).collect();
                stream::iter(batches).buffer_unordered(CONCURRENCY).try_collect::<Vec<_>>().await?;
            }
        }
        Ok(())
    }

    /// Returns the item of a marker whose key may have a document.
    fn item_of(&self, marker: &Marker) -> Option<Lost<'static>> {
        let Subject::Item { table, key } = &marker.subject else { return None };
        let table = self.documents.tables().tables.iter().find(|known| known.name == table)?;
        let is_item = matches!(group_key(table, key.clone()), Some(GroupKey::Item { .. }));
        is_item.then(|| Lost::Item(table, key.clone()))
    }

    /// Repairs keys in every generation, or only in one. Returns the number of those that failed.
    async fn repair(&self, lost: &[Lost<'_>], only: Option<&str>, redriven: &Mutex<Redriven>) -> Result<usize, Fault> {
        self.note(redriven, |redriven| redriven.keys += lost.len());
        if self.redrive.dry_run {
            return Ok(0);
        }
        let mut failed = 0;
        let is_asked = |generation: &Generation| only.is_none_or(|only| generation.index == only);
        // The generations are read for every batch, since a redrive may take longer than a rebuild.
        let generations = writable_generations(self.ports, self.documents).await?;
        for generation in generations.into_iter().filter(is_asked) {
            let groups = lost.iter().filter_map(Lost::group).collect();
            let repaired = repair_groups(self.ports, self.documents, &generation, groups).await;
            self.note(redriven, |redriven| {
                for outcome in repaired {
                    failed += usize::from(outcome.is_err());
                    redriven.count(outcome);
                }
            });
        }
        Ok(failed)
    }

    fn note_unreadable(&self, redriven: &Mutex<Redriven>, object: &GivenUp) {
        self.note(redriven, |redriven| {
            redriven.unreadable += 1;
            redriven.unreadable_object.get_or_insert_with(|| object.name.clone());
        });
    }

    fn note(&self, redriven: &Mutex<Redriven>, change: impl FnOnce(&mut Redriven)) {
        let mut redriven = redriven.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut redriven);
        (self.redrive.on_batch)(&redriven);
    }
}

impl<'p> Lost<'p> {
    /// Returns the group that repairs it. Returns `None` if the key's items have no documents.
    fn group(&self) -> Option<Group<'p>> {
        match self {
            Self::Item(table, key) => item_to_repair(table, key),
            Self::Record(text, error) => Some(Group {
                record_error: Some(*error),
                repaired: Some(RepairOutcome::Nothing),
                ..Group::new(GroupKey::Record, *text, 0)
            }),
        }
    }
}

impl Redriven {
    fn count(&mut self, outcome: Result<RepairOutcome, String>) {
        let Repairs { written, hidden, deleted, stamped, nothing, quarantined, failed } = &mut self.repairs;
        let counted = match outcome {
            Ok(RepairOutcome::Written(_)) => written,
            Ok(RepairOutcome::Hidden(_)) => hidden,
            Ok(RepairOutcome::Deleted(_)) => deleted,
            Ok(RepairOutcome::Stamped) => stamped,
            Ok(RepairOutcome::Nothing) => nothing,
            Ok(RepairOutcome::Quarantined { .. }) => quarantined,
            Err(reason) => {
                keep_reason(&mut self.reasons, reason);
                failed
            }
        };
        *counted += 1;
    }
}
