//! The steps of an import. The first phase parses the whole file and counts its rows, so that nothing is written of an invalid
//! file. The second phase writes the rows batch by batch.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jobs::{Counts, Step, Then, Worker};
use table::{Access, EntityKey};
use web::Problem;

use super::faults::Entry;
use super::identity::Counted;
use super::refused_shape::RefusedShape;
use super::row::{ParsedRow, RowFault, RowParser};
use super::rows::{FilePosition, Next, Row, Rows};
use super::write::{self, Written};
use super::{MAX_ROWS, Phase, Plan, faults, hide};
use crate::access::IMPORT_ROWS;
use crate::item::Item;
use crate::jobs::{Lease, ParksJobs};
use crate::keys::CollectionKey;
use crate::names::CollectionId;
use crate::schema::PARKS;

/// The limits of a step of counting, in bytes and in time.
const COUNT_BYTES: u64 = 8 * 1024 * 1024;
const COUNT_TIME: Duration = Duration::from_millis(500);

/// The limit of rows with the external id of an earlier one, which the job's item has to hold.
const MAX_REPEATED: usize = 10_000;

/// The limits of a batch in rows and in bytes, unless one row alone is larger: a transaction has at most 4 MB.
const BATCH_ROWS: usize = 30;
const BATCH_BYTES: usize = 1024 * 1024;

/// Works on an import.
#[derive(Debug, Default)]
pub struct Import(Option<Run>);

/// The state of a run: the checkpoint, and what was read beyond it.
#[derive(Debug)]
struct Run {
    plan: Plan,
    collection: CollectionId,
    /// Whether the collection existed and was not deleted when this run started.
    live: bool,
    rows: Rows,
    reading: Arc<RowParser>,
    /// It is only in memory: a run that resumes counts from the start.
    counted: Counted,
    /// Rows that were read and belong to a later batch, with their positions.
    ahead: VecDeque<(FilePosition, Row)>,
}

impl Worker<ParksJobs> for Import {
    async fn step(&mut self, access: &Access, lease: &Lease) -> Result<Step, Problem> {
        let run = match &mut self.0 {
            Some(run) => run,
            None => self.0.insert(Run::resume(access, lease).await?),
        };
        match run.plan.phase {
            _ if !run.live => run.end(access, lease, Then::Fail("its collection is deleted".to_owned())).await,
            Phase::Counting => run.count(access, lease).await,
            Phase::Writing => run.write(access, lease).await,
            // A run that resumes reads the file again.
            Phase::Hiding if !run.counted.whole => run.count(access, lease).await,
            Phase::Hiding => run.hide(access, lease).await,
        }
    }

    /// Gathers the faults of the rows that were counted. A batch that was not written left faults that do not count.
    async fn cancel(&mut self, access: &Access, lease: &Lease) -> Result<Step, Problem> {
        let mut plan: Plan = lease.job.checkpoint()?;
        faults::gather(access, lease.id, &mut plan).await?;
        Step::new(Vec::new(), &plan, lease.job.counts, Then::Cancel)
    }

    fn discard(&mut self) {
        self.0 = None;
    }
}

impl Run {
    async fn resume(access: &Access, lease: &Lease) -> Result<Self, Problem> {
        let plan: Plan = lease.job.checkpoint()?;
        let collection = lease.group.clone();
        let key = CollectionKey { collection: collection.clone() }.key();
        let stored = access.table(&IMPORT_ROWS, &PARKS).get_consistent(key).await?;
        let live = stored.map(|stored| stored.read::<Item>()).transpose()?.is_some_and(|item| !item.deleted());
        let at = if plan.phase == Phase::Writing { plan.at.clone() } else { FilePosition::default() };
        let rows = Rows::new(lease.id.to_string(), &plan, &at);
        let (format, layer, schema) = (plan.format, plan.layer, plan.layer.schema()?);
        let reading = Arc::new(RowParser { format, layer, options: plan.options.clone(), schema });
        let (counted, ahead) = (Counted::new(&reading), VecDeque::new());
        Ok(Self { plan, collection, live, rows, reading, counted, ahead })
    }

    async fn count(&mut self, access: &Access, lease: &Lease) -> Result<Step, Problem> {
        let (began, from) = (Instant::now(), self.rows.offset());
        while began.elapsed() < COUNT_TIME && self.rows.offset() - from < COUNT_BYTES {
            match self.rows.next(access).await? {
                Next::Row(_) if self.counted.rows == MAX_ROWS => {
                    let reason = format!("it has more than {MAX_ROWS} rows; split it into several files");
                    return Ok(Step::fail(&lease.job, reason));
                }
                Next::Row(row) => {
                    let identity = self.reading.identify(&row, self.rows.columns(), &mut self.counted.unseen);
                    // One more than the limit shows that there are too many.
                    self.counted.add(&row, identity, MAX_REPEATED + 1);
                }
                Next::Broken(reason) => {
                    let reason = match self.rows.offset() {
                        0 => reason,
                        offset => format!("{reason} (after byte {offset})"),
                    };
                    return Ok(Step::fail(&lease.job, reason));
                }
                Next::Refused(pointer, detail) => {
                    let fault = Entry::File { pointer, detail };
                    faults::keep(access, lease.id, &mut self.plan, &[fault]).await?;
                    return self.end(access, lease, Then::Fail(format!("`{pointer}`: {detail}"))).await;
                }
                Next::End if self.counted.repeated.len() > MAX_REPEATED => {
                    let reason = format!(
                        "more than {MAX_REPEATED} of its rows have the externalId of an earlier row; each needs its own"
                    );
                    return Ok(Step::fail(&lease.job, reason));
                }
                Next::End => {
                    if let Some(unseen) = self.counted.unseen.first() {
                        let reason = format!("no feature has the property `{unseen}`, which the mapping names");
                        return Ok(Step::fail(&lease.job, reason));
                    }
                    self.counted.whole = true;
                    let counts = Counts { total: self.counted.rows, ..lease.job.counts };
                    if self.plan.phase == Phase::Counting {
                        self.plan.phase = Phase::Writing;
                        self.plan.repeated = std::mem::take(&mut self.counted.repeated);
                        self.rows = Rows::new(lease.id.to_string(), &self.plan, &self.plan.at);
                        if !self.plan.options.hides() {
                            self.counted = Counted::default();
                        }
                    }
                    return Step::new(Vec::new(), &self.plan, counts, Then::Continue);
                }
            }
        }
        let total = self.counted.rows.max(lease.job.counts.total);
        Step::new(Vec::new(), &self.plan, Counts { total, ..lease.job.counts }, Then::Continue)
    }

    async fn write(&mut self, access: &Access, lease: &Lease) -> Result<Step, Problem> {
        let rows = match self.batch(access).await? {
            Ok(rows) => rows,
            Err(reason) => return self.end(access, lease, Then::Fail(reason)).await,
        };
        if rows.is_empty() && self.plan.options.hides() {
            self.plan.phase = Phase::Hiding;
            if !self.counted.whole {
                // This run has not counted the rows.
                self.rows = Rows::new(lease.id.to_string(), &self.plan, &FilePosition::default());
            }
            return Step::new(Vec::new(), &self.plan, lease.job.counts, Then::Continue);
        }
        if rows.is_empty() {
            return self.end(access, lease, Then::Succeed).await;
        }
        let (reading, columns) = (Arc::clone(&self.reading), self.rows.columns().to_vec());
        let earlier: Vec<Option<u64>> = rows.iter().map(|(_, row)| self.plan.repeats(row.number)).collect();
        let read = move || {
            let read = |((at, row), earlier): ((FilePosition, Row), Option<u64>)| {
                let mut draft = reading.read(&row, &columns);
                if let Some(earlier) = earlier {
                    let mut faults = reading.repeats(&row, &columns, earlier);
                    faults.extend(draft.err().into_iter().flatten());
                    draft = Err(faults);
                }
                (at, draft, row)
            };
            rows.into_iter().zip(earlier).map(read).collect::<Vec<_>>()
        };
        let read = tokio::task::spawn_blocking(read).await.map_err(Problem::internal)?;

        let (mut parsed, mut told, mut failed) = (Vec::<ParsedRow>::new(), Vec::<RowFault>::new(), Vec::new());
        let mut shapes = Vec::<(u64, String, RefusedShape)>::new();
        let (layer, mut room) = (self.plan.layer, write::ROOM);
        let (mut taken, mut later) = (VecDeque::<(FilePosition, Row)>::new(), VecDeque::new());
        for (at, row, text) in read {
            match row {
                Ok(mut draft) if later.is_empty() && write::cost(layer, &draft) <= room => {
                    room -= write::cost(layer, &draft);
                    let refused = draft.refused.take();
                    shapes.extend(refused.map(|refused| (draft.number, draft.external_id.clone(), refused)));
                    parsed.push(draft);
                }
                Err(faults) if later.is_empty() => {
                    failed.push(text.number);
                    told.extend(faults);
                }
                _ => {
                    later.push_back((at, text));
                    continue;
                }
            }
            taken.push_back((at, text));
        }
        if let [(_, only)] = taken.make_contiguous() {
            // It belongs to this batch in any case, and may be large.
            only.text = None;
        }

        let who = lease.job.created_by.clone();
        let Written { actions, faults: found, failed: refused, next } =
            write::rows(access, &self.reading, &self.collection, who, parsed).await?;
        told.extend(found);
        if let Some(next) = next {
            told.retain(|fault| fault.number < next);
            shapes.retain(|(number, ..)| *number < next);
            failed.retain(|number| *number < next);
            let mut rest = taken.split_off(taken.partition_point(|(_, row)| row.number < next));
            rest.append(&mut later);
            later = rest;
        }
        later.append(&mut self.ahead);
        self.ahead = later;
        told.sort_by_key(|fault| fault.number);
        // A row that is not imported has faults only.
        shapes.retain(|(number, ..)| told.iter().all(|fault| fault.number != *number));
        let entries =
            told.iter().map(Entry::Row).chain(shapes.iter().map(|(number, external_id, refused)| Entry::Shape {
                number: *number,
                external_id,
                refused,
            }));
        faults::keep(access, lease.id, &mut self.plan, &entries.collect::<Vec<_>>()).await?;
        self.plan.at = self.ahead.front().map_or_else(|| self.rows.at(), |(at, _)| at.clone());
        let done = self.plan.at.number();
        self.plan.repeated.retain(|(later, _)| *later > done);
        let mut counts = lease.job.counts;
        let failed = failed.len() + refused;
        counts.done += (taken.len() - failed) as u64;
        counts.failed += failed as u64;
        Step::new(actions, &self.plan, counts, Then::Continue)
    }

    /// Hides some of the items that the file does not have. None of them if a row may be about any item.
    async fn hide(&mut self, access: &Access, lease: &Lease) -> Result<Step, Problem> {
        if let Some(row) = self.counted.unreadable {
            let counted = self.plan.format.counted();
            let detail = format!(
                "no item was hidden, since {counted} {row} may be about any of them: its externalId cannot be read"
            );
            let fault = Entry::File { pointer: "", detail: &detail };
            faults::keep(access, lease.id, &mut self.plan, &[fault]).await?;
            return self.end(access, lease, Then::Succeed).await;
        }
        let (who, compared) = (lease.job.created_by.clone(), self.plan.compared.as_deref());
        let hidden = hide::step(access, &self.reading, &self.collection, who, &self.counted, compared).await?;
        let of_items = hidden.items.iter();
        let of_items = of_items.map(|(external_id, path)| Entry::Hidden { external_id, path: path.clone() });
        let entries: Vec<_> = of_items.chain(hidden.written.faults.iter().map(Entry::NotHidden)).collect();
        faults::keep(access, lease.id, &mut self.plan, &entries).await?;
        let is_last = hidden.compared.is_none();
        self.plan.compared = hidden.compared;
        let then = if is_last { Then::Succeed } else { Then::Continue };
        if is_last {
            faults::gather(access, lease.id, &mut self.plan).await?;
        }
        Step::new(hidden.written.actions, &self.plan, lease.job.counts, then)
    }

    /// The next rows with their positions; none at the end.
    async fn batch(&mut self, access: &Access) -> Result<Result<Vec<(FilePosition, Row)>, String>, Problem> {
        let (mut rows, mut bytes) = (Vec::new(), 0);
        while rows.len() < BATCH_ROWS {
            let (at, row) = match self.ahead.pop_front() {
                Some(ahead) => ahead,
                None => {
                    let at = self.rows.at();
                    match self.rows.next(access).await? {
                        Next::Row(row) => (at, row),
                        Next::End => break,
                        Next::Broken(reason) => return Ok(Err(reason)),
                        Next::Refused(pointer, detail) => return Ok(Err(format!("`{pointer}`: {detail}"))),
                    }
                }
            };
            bytes += row.text.as_ref().map_or(0, Vec::len);
            if !rows.is_empty() && bytes > BATCH_BYTES {
                self.ahead.push_front((at, row));
                break;
            }
            rows.push((at, row));
        }
        Ok(Ok(rows))
    }

    /// Ends the job. Its faults are stored first.
    async fn end(&mut self, access: &Access, lease: &Lease, then: Then) -> Result<Step, Problem> {
        faults::gather(access, lease.id, &mut self.plan).await?;
        Step::new(Vec::new(), &self.plan, lease.job.counts, then)
    }
}

impl Plan {
    /// The number of the earlier row whose external id this row has.
    fn repeats(&self, number: u64) -> Option<u64> {
        let at = self.repeated.binary_search_by_key(&number, |(later, _)| *later).ok()?;
        self.repeated.get(at).map(|(_, earlier)| *earlier)
    }
}
