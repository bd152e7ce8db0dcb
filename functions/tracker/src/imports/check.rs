//! The first pass validates every record and writes nothing. At the end of the file it allocates the numbers of all new
//! issues at once.

use std::sync::Arc;
use std::time::Instant;

use futures::stream::{self, StreamExt, TryStreamExt};
use jobs::{Counts, RowFault, Step, Then};
use table::{Access, Action, Condition, EntityKey, Key, item};
use web::Problem;

use super::ahead::{Ahead, MAX_STEP, end};
use super::column::{Target, columns};
use super::create::{self, TOO_LARGE};
use super::record::{self, ParsedRow};
use super::records::{Batch, FileOffset, Next, Record};
use super::seen::{MAX_INVALID, Seen};
use super::{ImportParams, MAX_HEADER, Mode, Numbers, OnError, Phase, faults, find, look_again};
use crate::access::IMPORT_ROWS;
use crate::issues::{MAX_JUMP, MAX_NUMBER, check_size, cleaned};
use crate::jobs::Lease;
use crate::keys::{CounterKey, IssueKey};
use crate::project::Schema;
use crate::projects::counter;
use crate::schema::TRACKER;

/// Records that are validated together.
const BATCH: usize = 500;

/// Faults after which a step ends.
const MAX_FOUND: usize = 10_000;

/// Bytes of all headers of a file. The job's item keeps them, and DynamoDB takes items of 400 KB.
const MAX_HEADER_BYTES: usize = 100_000;

/// Issues that are looked up at once.
const CONCURRENCY: usize = 16;

pub async fn step(
    access: &Access,
    lease: &Lease,
    ahead: &mut Ahead,
    mut params: ImportParams,
    schema: &Schema,
) -> Result<Step, Problem> {
    let start = Instant::now();
    // After a wait the last number stays, since the index may not list the issues of later numbers yet.
    if params.offset == FileOffset::default() && params.numbers.given == 0 {
        match last_given(access, schema).await? {
            Some(given) => params.numbers = Numbers { given, ..Numbers::default() },
            None => return Ok(Step::fail(&lease.job, "its project was deleted")),
        }
    }
    let numbers = params.numbers;
    let mut seen = Seen::clone(&*ahead.seen(access, &params).await?);
    let mut records = ahead.records(lease.id, &params, params.offset);
    let (mut found, mut counts) = (Vec::new(), lease.job.counts);
    while start.elapsed() < MAX_STEP && found.len() < MAX_FOUND {
        let (mut batch, mut is_last) = (Batch::of(BATCH), false);
        while batch.has_room() {
            match records.next(access).await? {
                Next::Record(record) if params.columns.is_empty() => match header(&mut params, schema, &record) {
                    Ok(()) => params.format = records.format(),
                    Err(faults) => return end(access, lease, params, counts, invalid_file(), faults).await,
                },
                Next::Record(record) => batch.push(record),
                Next::Broken(reason) => {
                    return end(access, lease, params, counts, Then::Fail(reason), found).await;
                }
                Next::End => {
                    is_last = true;
                    break;
                }
            }
        }
        counts.total += batch.records.len() as u64;
        let Some(invalid) = validate(access, lease, &mut params, schema, &mut seen, &batch.records).await? else {
            return look_again(lease, ImportParams { numbers, ..lease.job.checkpoint()? });
        };
        for record in invalid.iter().map(|fault| fault.record) {
            if !seen.add_invalid(record) {
                let reason = format!("more than {MAX_INVALID} of its records are invalid");
                return end(access, lease, params, counts, Then::Fail(reason), found).await;
            }
        }
        found.extend(invalid);
        if is_last {
            save(access, lease, ahead, &mut params, seen).await?;
            faults::keep(access, lease.id, &mut params, &found).await?;
            return Ok(finish(access, lease, params, schema, counts).await?.with_faults(found));
        }
        tokio::task::yield_now().await;
    }
    save(access, lease, ahead, &mut params, seen).await?;
    faults::keep(access, lease.id, &mut params, &found).await?;
    params.offset = records.offset();
    ahead.keep(records);
    Ok(Step::new(Vec::new(), &params, counts, Then::Continue)?.with_faults(found))
}

/// Stores what was seen so far, under the name in the checkpoint.
async fn save(
    access: &Access,
    lease: &Lease,
    ahead: &mut Ahead,
    params: &mut ImportParams,
    seen: Seen,
) -> Result<(), Problem> {
    params.seen = seen.save(access, lease.id).await?;
    if let Some(name) = &params.seen {
        ahead.remember(name, &Arc::new(seen));
    }
    Ok(())
}

/// Reads the columns from the header.
fn header(params: &mut ImportParams, schema: &Schema, record: &Record) -> Result<(), Vec<RowFault>> {
    let fault =
        |column: Option<String>, detail: String| RowFault { record: record.number, line: record.line, column, detail };
    let cells = record.cells.as_ref().map_err(|reason| vec![fault(None, reason.clone())])?;
    let cells = without_empty_end(cells, &params.mapping);
    let is_long = |cell: &&sheet::Cell| cell.text.chars().count() > MAX_HEADER;
    if let Some(long) = cells.iter().find(is_long) {
        let shown: String = long.text.chars().take(40).collect();
        return Err(vec![fault(None, format!("has the header `{shown}…` of more than {MAX_HEADER} characters"))]);
    }
    if cells.iter().map(|cell| cell.text.len()).sum::<usize>() > MAX_HEADER_BYTES {
        return Err(vec![fault(None, format!("has headers of more than {MAX_HEADER_BYTES} bytes in all"))]);
    }
    let headers: Vec<String> = cells.iter().map(|cell| sheet::unguarded(cell.text.trim()).to_owned()).collect();
    let columns = columns(&headers, params, schema);
    let row_faults =
        |faults: Vec<(Option<String>, String)>| faults.into_iter().map(|(column, detail)| fault(column, detail));
    params.columns = columns.map_err(|faults| row_faults(faults).collect::<Vec<_>>())?;
    params.headers = headers;
    Ok(())
}

/// The headers without the empty ones that spreadsheets write after the last, unless the client has mapped them.
fn without_empty_end<'a>(cells: &'a [sheet::Cell], mapping: &[(String, Target)]) -> &'a [sheet::Cell] {
    if mapping.iter().any(|(header, _)| header.is_empty()) {
        return cells;
    }
    let last = cells.iter().rposition(|cell| !cell.text.trim().is_empty());
    last.and_then(|last| cells.get(..=last)).unwrap_or_default()
}

/// Returns the faults of these records, and notes the numbers of the others. None if the index lists no issue with the
/// number of one of them, and may only lag behind.
async fn validate(
    access: &Access,
    lease: &Lease,
    params: &mut ImportParams,
    schema: &Schema,
    seen: &mut Seen,
    batch: &[Record],
) -> Result<Option<Vec<RowFault>>, Problem> {
    let (mut valid, mut faults) = (Vec::<ParsedRow>::new(), Vec::new());
    let header = params.header(Target::Number);
    let of_number = |record: u64, line: u64, detail: &str| RowFault {
        record,
        line,
        column: header.clone(),
        detail: detail.to_owned(),
    };
    let greatest = params.numbers.given.saturating_add(MAX_JUMP);
    for record in batch {
        let number = record::number(params, record);
        let again = number.filter(|number| *number <= greatest && !seen.add_number(*number));
        let again = again.map(|_| {
            let line = record::line_of(params, record, Target::Number);
            of_number(record.number, line, "is the number of an earlier record")
        });
        let too_far = number.filter(|number| *number > greatest).map(|_| {
            let line = record::line_of(params, record, Target::Number);
            let detail =
                format!("is more than {MAX_JUMP} above {}, the last number of the project", params.numbers.given);
            of_number(record.number, line, &detail)
        });
        match (record::read(params, schema, record), again.or(too_far)) {
            (Ok(parsed), None) => valid.push(parsed),
            (Ok(_), Some(again)) => faults.push(again),
            (Err(found), again) => faults.extend(found.into_iter().chain(again)),
        }
    }
    let given = params.numbers.given;
    let known = |parsed: &ParsedRow| parsed.number.filter(|number| *number <= given);
    let existing: Vec<Existing> = match params.mode {
        Mode::Create => Vec::new(),
        Mode::Upsert => {
            let lookups: Vec<_> =
                valid.iter().map(|parsed| look_up(access, params, schema, known(parsed), parsed)).collect();
            stream::iter(lookups).buffered(CONCURRENCY).try_collect().await?
        }
    };
    let is_missing = |(parsed, existing): (&ParsedRow, &Existing)| {
        known(parsed).is_some_and(|number| number > params.waited_to) && matches!(existing, Existing::None)
    };
    if valid.iter().zip(&existing).any(is_missing) {
        return Ok(None);
    }
    for (index, parsed) in valid.iter().enumerate() {
        let is_known = known(parsed).is_some();
        let fault = match existing.get(index) {
            _ if !is_known => create::issue(lease, schema, parsed, MAX_NUMBER, lease.job.created_at.clone()).err(),
            None => {
                let detail = "is not above the last number of the project";
                Some(of_number(parsed.record, parsed.number_line, detail))
            }
            Some(Existing::None) => {
                let detail = "is a former number, and no issue has it";
                Some(of_number(parsed.record, parsed.number_line, detail))
            }
            Some(Existing::TooLarge) => Some(parsed.fault(TOO_LARGE)),
            Some(Existing::Fits) => None,
        };
        if let Some(fault) = fault {
            faults.push(fault);
            continue;
        }
        let numbers = &mut params.numbers;
        match parsed.number {
            None => numbers.without += 1,
            Some(number) if number > numbers.given => {
                numbers.least = Some(numbers.least.map_or(number, |least| least.min(number)));
                numbers.greatest = Some(numbers.greatest.map_or(number, |greatest| greatest.max(number)));
            }
            Some(_) => {}
        }
    }
    faults.sort_by_key(|fault| (fault.record, fault.line));
    Ok(Some(faults))
}

/// The step after the last record: rejects the file, or allocates the numbers and starts the second pass.
async fn finish(
    access: &Access,
    lease: &Lease,
    mut params: ImportParams,
    schema: &Schema,
    counts: Counts,
) -> Result<Step, Problem> {
    if params.columns.is_empty() {
        let no_header = Then::Fail("it has no header with the names of its columns".to_owned());
        return end(access, lease, params, counts, no_header, Vec::new()).await;
    }
    if params.faults.entries > 0 && params.on_error == OnError::Stop {
        faults::gather(access, lease.id, &mut params).await?;
        return Step::new(Vec::new(), &params, counts, invalid_file());
    }
    let Some(given) = last_given(access, schema).await? else {
        return Ok(Step::fail(&lease.job, "its project was deleted"));
    };
    let Numbers { given: before, least, greatest, without, .. } = params.numbers;
    if given > before && least.is_some_and(|least| least <= given) {
        // Numbers of the file were allocated to other issues, which the index may not list yet. So the file is validated
        // again.
        let (columns, headers) = (Vec::new(), Vec::new());
        let again = ImportParams {
            offset: FileOffset::default(),
            faults: Default::default(),
            columns,
            headers,
            numbers: Numbers::default(),
            seen: None,
            ..params
        };
        return Ok(Step::new(Vec::new(), &again, Default::default(), Then::Continue)?.without_earlier_faults());
    }
    let named = greatest.map_or(given, |greatest| greatest.max(given));
    if named + without > MAX_NUMBER {
        let too_high = Then::Fail(format!("its issues would have numbers above {MAX_NUMBER}"));
        return end(access, lease, params, counts, too_high, Vec::new()).await;
    }
    params.numbers.next = named + 1;
    (params.phase, params.offset) = (Phase::Writing, FileOffset::default());
    let mut actions = Vec::new();
    if named + without > given {
        let raised = Action::raise_sequence(&TRACKER, counter(schema.id), named + without);
        actions.push(raised.when(Condition::Equals("Last", item::number(given))));
    }
    let counts = Counts { created: Some(0), updated: Some(0), failed: 0, ..counts };
    Step::new(actions, &params, counts, Then::Continue)
}

/// The end of an import that has written nothing, because of the faults that were found.
fn invalid_file() -> Then {
    Then::Fail("the file has faults, so nothing was written".to_owned())
}

/// The issue that a record updates.
enum Existing {
    None,
    /// It would be too large with the record's values.
    TooLarge,
    Fits,
}

/// Looks up the issue that a record updates. Its size is checked only if one fault stops all; otherwise the second pass finds
/// it.
async fn look_up(
    access: &Access,
    params: &ImportParams,
    schema: &Schema,
    number: Option<u64>,
    parsed: &ParsedRow,
) -> Result<Existing, Problem> {
    let Some(number) = number else { return Ok(Existing::None) };
    let Some(issue) = find(access, schema, number).await? else { return Ok(Existing::None) };
    if params.on_error == OnError::Skip {
        return Ok(Existing::Fits);
    }
    let key = IssueKey { issue, project: schema.id }.key();
    let Some(stored) = access.table(&IMPORT_ROWS, &TRACKER).get_consistent(key).await? else {
        return Ok(Existing::None);
    };
    let after = cleaned(schema, parsed.apply(stored.read()?, schema));
    Ok(if check_size(&after).is_ok() { Existing::Fits } else { Existing::TooLarge })
}

/// The last number of the project. None if the project is gone.
async fn last_given(access: &Access, schema: &Schema) -> Result<Option<u64>, Problem> {
    let key: Key = CounterKey { project: schema.id }.key();
    let stored = access.table(&IMPORT_ROWS, &TRACKER).get_consistent(key).await?;
    Ok(stored.and_then(|stored| stored.item.get("Last")?.as_n().ok()?.parse().ok()))
}
