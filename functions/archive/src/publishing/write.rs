//! The phase `writing`: the records of one chunk, beside those that readers see. A record that exists with this run was
//! written by an earlier attempt at the step.

use ::jobs::{Step, Then};
use futures::stream::{self, StreamExt, TryStreamExt};
use table::{Access, Action, Changes, Error, item};
use web::Problem;

use super::checkpoint::Checkpoint;
use super::chunk::{ChunkRow, RunFiles, WorkFile};
use super::matching::Decided;
use super::resolver::Resolver;
use super::run_step::{RunWork, step};
use crate::access::WRITE_RECORDS;
use crate::keys::{RecordAddressKey, RecordKey};
use crate::names::RecordId;
use crate::record::{BoundMapping, CorrectionsPolicy, Event, Record, apply};
use crate::runs::Phase;
use crate::schema::ARCHIVE;

/// The limit of records that are written at once, at first.
const CONCURRENCY: usize = 64;

pub async fn step_write(access: &Access, work: &RunWork<'_>, mut checkpoint: Checkpoint) -> Result<Step, Problem> {
    let files = RunFiles::new(access, work.post, work.run.run);
    let rows: Vec<ChunkRow> = files.load(WorkFile::Rows, checkpoint.next).await?;
    let decided: Vec<Decided> = files.load(WorkFile::Decided, checkpoint.next).await?;
    let mut records = Vec::with_capacity(rows.len());
    let resolver = match decided.iter().any(|decided| !decided.corrections.is_empty()) {
        true => Some(Resolver::load(access, work.within()).await?),
        false => None,
    };
    for (row, decided) in rows.into_iter().zip(decided).filter(|(_, decided)| decided.has_record()) {
        let id = checkpoint.id_of(row.row).ok_or_else(|| Problem::internal("a run has no ids"))?;
        let row = match &resolver {
            Some(resolver) if !decided.corrections.is_empty() => {
                corrected(access, work, resolver, row, &decided).await?
            }
            _ => row,
        };
        records.push(record(work, id, row, decided));
    }
    put_all(access, work, &records).await?;
    checkpoint.next += 1;
    if checkpoint.next >= checkpoint.chunks {
        checkpoint.enter(Phase::Grouping);
    }
    step(work, checkpoint, Vec::new(), Then::Continue)
}

/// Writes records, half as many at once whenever the table still throttles after the retries of a write. Those that are
/// written already are found then.
async fn put_all(access: &Access, work: &RunWork<'_>, records: &[Record]) -> Result<(), Problem> {
    let mut at_once = CONCURRENCY;
    loop {
        let puts: Vec<_> = records.iter().map(|record| put(access, work, record)).collect();
        match stream::iter(puts).buffer_unordered(at_once).try_collect::<Vec<()>>().await {
            Ok(_) => return Ok(()),
            Err(Error::Throttled) if at_once > 1 => at_once /= 2,
            Err(error) => return Err(error.into()),
        }
    }
}

/// Writes a record, and the address by which readers find it under its permanent id.
async fn put(access: &Access, work: &RunWork<'_>, record: &Record) -> Result<(), Error> {
    let (id, permanent) = (record.id, record.permanent_id);
    let create = Action::create(&ARCHIVE, RecordKey { record: id, post: work.post }, record)?;
    match access.write(&WRITE_RECORDS, create).await {
        Ok(_) | Err(Error::Exists) => {}
        Err(error) => return Err(error),
    }
    if id == permanent {
        return Ok(());
    }
    let changes = Changes::new()
        .set("postId", item::text(work.post.to_string()))
        .set(&work.run.run.attribute(), item::text(id.to_string()))
        .remove("goneIn")
        .remove("visibleFrom");
    let address = Action::update(&ARCHIVE, RecordAddressKey { record: permanent }, changes).or_absent();
    access.write(&WRITE_RECORDS, address).await.map(drop)
}

/// Returns a row with its corrections by hand, and what it means with them.
async fn corrected(
    access: &Access,
    work: &RunWork<'_>,
    resolver: &Resolver,
    row: ChunkRow,
    decided: &Decided,
) -> Result<ChunkRow, Problem> {
    let run = work.run;
    let ChunkRow { row: number, values, events: before, household, .. } = row;
    let values = apply(&decided.corrections, &run.headers, values, CorrectionsPolicy::Keep).values;
    let mapping = BoundMapping::new(&run.mapping, &run.headers);
    let mut content = mapping.map_err(|_| Problem::internal("a run lacks a column of its mapping"))?.read(&values);
    place(access, resolver, &before, &mut content.events).await?;
    Ok(ChunkRow {
        row: number,
        values,
        people: content.people,
        events: content.events,
        keywords: content.keywords,
        household,
        relation: content.relation,
    })
}

/// Sets the places of corrected events. Those whose text has not changed have the place that they had.
pub async fn place(
    access: &Access,
    resolver: &Resolver,
    before: &[Event],
    events: &mut [Event],
) -> Result<(), Problem> {
    for event in events.iter_mut().filter(|event| !event.place_text.is_empty()) {
        if let Some(same) = before.iter().find(|same| same.place_text == event.place_text) {
            event.place_id = same.place_id;
            event.place_path.clone_from(&same.place_path);
            event.lat.clone_from(&same.lat);
            event.lon.clone_from(&same.lon);
            continue;
        }
        for (_, found) in resolver.resolve_all(access, &[event.place_text.clone().as_str()]).await? {
            if let Some(found) = found {
                found.apply(event);
            }
        }
    }
    Ok(())
}

/// Returns the record of a row.
fn record(work: &RunWork<'_>, id: RecordId, row: ChunkRow, decided: Decided) -> Record {
    let run = work.run;
    let mut record = Record {
        id,
        listed_by: id,
        run: run.run,
        row: row.row,
        collection_id: run.collection_id,
        permanent_id: decided.permanent_id.unwrap_or(id),
        values: row.values,
        people: row.people,
        events: row.events,
        relatives: Vec::new(),
        keywords: row.keywords,
        household: row.household,
        relation: row.relation,
        visible_from: None,
        corrections: decided.corrections,
        created_at: run.created_at.clone(),
        updated_at: run.created_at.clone(),
        created_by: run.created_by,
    };
    record.visible_from = work.visible_from(&record.events);
    record.set_relatives(decided.relatives);
    record
}
