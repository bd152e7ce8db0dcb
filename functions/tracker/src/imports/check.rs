//! The first pass: every record is looked at, and nothing is written. At the end of the file the numbers of all new
//! issues are taken at once.

use std::sync::Arc;
use std::time::Instant;

use futures::stream::{self, StreamExt, TryStreamExt};
use table::{Access, Action, Condition, EntityKey, Key, item};
use web::Problem;

use super::ahead::{Ahead, MAX_STEP, end};
use super::column::{Target, columns};
use super::create::{self, TOO_LARGE};
use super::record::{self, ParsedRow};
use super::records::{Batch, FileOffset, Next, Record};
use super::seen::{MAX_INVALID, Seen};
use super::{ImportParams, MAX_HEADER, Mode, Numbers, OnError, Phase, faults, find};
use crate::access::IMPORT_ROWS;
use crate::issues::{MAX_JUMP, MAX_NUMBER, check_size, cleaned};
use crate::keys::{CounterKey, IssueKey};
use crate::project::Schema;
use crate::projects::counter;
use crate::schema::TRACKER;
use crate::work::{Held, RowFault, Step, Then};

/// How many records are looked at together.
const TOGETHER: usize = 500;

/// How many faults a step finds, at about which it ends.
const MAX_FOUND: usize = 10_000;

/// How many numbers are looked for at once.
const AT_ONCE: usize = 16;

pub async fn step(
    access: &Access,
    held: &Held,
    ahead: &mut Ahead,
    mut params: ImportParams,
    schema: &Schema,
) -> Result<Step, Problem> {
    let began = Instant::now();
    if params.offset == FileOffset::default() {
        match last_given(access, schema).await? {
            Some(given) => params.numbers = Numbers { given, ..Numbers::default() },
            None => return Ok(Step::stopped(held, "its project is gone")),
        }
    }
    let mut seen = Seen::clone(&*ahead.seen(access, &params).await?);
    let mut records = ahead.records(held.id, &params, params.offset);
    let (mut found, mut counts) = (Vec::new(), held.work.counts);
    while began.elapsed() < MAX_STEP && found.len() < MAX_FOUND {
        let (mut batch, mut over) = (Batch::of(TOGETHER), false);
        while batch.has_room() {
            match records.next(access).await? {
                Next::Record(record) if params.columns.is_empty() => match header(&mut params, schema, &record) {
                    Ok(()) => {}
                    Err(faults) => return end(access, held, params, counts, Then::Rejected, faults).await,
                },
                Next::Record(record) => batch.push(record),
                Next::Broken(reason) => {
                    return Ok(end(access, held, params, counts, Then::Rejected, found).await?.because(reason));
                }
                Next::End => {
                    over = true;
                    break;
                }
            }
        }
        counts.total += batch.records.len() as u64;
        let unsound = look_at(access, held, &mut params, schema, &mut seen, &batch.records).await?;
        for record in unsound.iter().map(|fault| fault.record) {
            if !seen.condemn(record) {
                let reason = format!("more than {MAX_INVALID} of its records cannot be");
                return Ok(end(access, held, params, counts, Then::Rejected, found).await?.because(reason));
            }
        }
        found.extend(unsound);
        if over {
            note(access, held, ahead, &mut params, seen).await?;
            faults::keep(access, held.id, &mut params, &found).await?;
            return Ok(finish(access, held, params, schema, counts).await?.with_faults(found));
        }
        tokio::task::yield_now().await;
    }
    note(access, held, ahead, &mut params, seen).await?;
    faults::keep(access, held.id, &mut params, &found).await?;
    params.offset = records.offset();
    ahead.keep(records);
    Ok(Step::new(Vec::new(), &params, counts, Then::More)?.with_faults(found))
}

/// Keeps what was seen up to here, where the checkpoint will look for it.
async fn note(
    access: &Access,
    held: &Held,
    ahead: &mut Ahead,
    params: &mut ImportParams,
    seen: Seen,
) -> Result<(), Problem> {
    params.seen = seen.keep(access, held.id).await?;
    if let Some(name) = &params.seen {
        ahead.remember(name, &Arc::new(seen));
    }
    Ok(())
}

/// What the columns are.
fn header(params: &mut ImportParams, schema: &Schema, record: &Record) -> Result<(), Vec<RowFault>> {
    let fault =
        |column: Option<String>, detail: String| RowFault { record: record.number, line: record.line, column, detail };
    let cells = record.cells.as_ref().map_err(|reason| vec![fault(None, reason.clone())])?;
    let is_long = |cell: &&sheet::Cell| cell.text.chars().count() > MAX_HEADER;
    if let Some(long) = cells.iter().find(is_long) {
        let shown: String = long.text.chars().take(40).collect();
        return Err(vec![fault(None, format!("has the header `{shown}…` of more than {MAX_HEADER} characters"))]);
    }
    let headers: Vec<String> = cells.iter().map(|cell| sheet::unguarded(&cell.text).to_owned()).collect();
    let columns = columns(&headers, &params.mapping, params.mode, schema);
    let told = |faults: Vec<(Option<String>, String)>| faults.into_iter().map(|(column, detail)| fault(column, detail));
    params.columns = columns.map_err(|faults| told(faults).collect::<Vec<_>>())?;
    params.headers = headers;
    Ok(())
}

/// What is wrong with these records; of the others the numbers are noted.
async fn look_at(
    access: &Access,
    held: &Held,
    params: &mut ImportParams,
    schema: &Schema,
    seen: &mut Seen,
    batch: &[Record],
) -> Result<Vec<RowFault>, Problem> {
    let (mut sound, mut faults) = (Vec::<ParsedRow>::new(), Vec::new());
    let header = params.header(Target::Number);
    let of_number = |record: u64, line: u64, detail: &str| RowFault {
        record,
        line,
        column: Some(header.clone()),
        detail: detail.to_owned(),
    };
    let greatest = params.numbers.given.saturating_add(MAX_JUMP);
    for record in batch {
        let number = record::number(params, record);
        let again = number.filter(|number| *number <= greatest && !seen.meet(*number));
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
            (Ok(parsed), None) => sound.push(parsed),
            (Ok(_), Some(again)) => faults.push(again),
            (Err(found), again) => faults.extend(found.into_iter().chain(again)),
        }
    }
    let given = params.numbers.given;
    let known = |parsed: &ParsedRow| parsed.number.filter(|number| *number <= given);
    let there: Vec<Existing> = match params.mode {
        Mode::Create => Vec::new(),
        Mode::Upsert => {
            let asked: Vec<_> =
                sound.iter().map(|parsed| there(access, params, schema, known(parsed), parsed)).collect();
            stream::iter(asked).buffered(AT_ONCE).try_collect().await?
        }
    };
    for (place, parsed) in sound.iter().enumerate() {
        let is_known = known(parsed).is_some();
        let fault = match there.get(place) {
            _ if !is_known => create::issue(held, schema, parsed, MAX_NUMBER).err(),
            None => {
                let detail = "is not above all numbers that the project has given";
                Some(of_number(parsed.record, parsed.number_line, detail))
            }
            Some(Existing::Not) => {
                let detail = "was given before, and no issue has it";
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
    Ok(faults)
}

/// The whole file was looked at.
async fn finish(
    access: &Access,
    held: &Held,
    mut params: ImportParams,
    schema: &Schema,
    counts: crate::work::Counts,
) -> Result<Step, Problem> {
    if params.columns.is_empty() {
        let rejected = end(access, held, params, counts, Then::Rejected, Vec::new()).await?;
        return Ok(rejected.because("it has no header with the names of its columns"));
    }
    if params.faults.entries > 0 && params.on_error == OnError::Stop {
        faults::gather(access, held.id, &mut params).await?;
        return Step::new(Vec::new(), &params, counts, Then::Rejected);
    }
    let Some(given) = last_given(access, schema).await? else {
        return Ok(Step::stopped(held, "its project is gone"));
    };
    let Numbers { given: before, least, greatest, without, .. } = params.numbers;
    if given > before && least.is_some_and(|least| least <= given) {
        // Others have taken numbers that the file names: what is wrong with it has to be found anew.
        let (columns, headers) = (Vec::new(), Vec::new());
        let anew = ImportParams {
            offset: FileOffset::default(),
            faults: Default::default(),
            columns,
            headers,
            seen: None,
            ..params
        };
        return Ok(Step::new(Vec::new(), &anew, Default::default(), Then::More)?.anew());
    }
    let named = greatest.unwrap_or_default().max(given);
    if named + without > MAX_NUMBER {
        let rejected = end(access, held, params, counts, Then::Rejected, Vec::new()).await?;
        return Ok(rejected.because(format!("its issues would have numbers above {MAX_NUMBER}")));
    }
    params.numbers.next = named + 1;
    (params.phase, params.offset) = (Phase::Writing, FileOffset::default());
    let mut actions = Vec::new();
    if named + without > given {
        let raised = Action::raise_sequence(&TRACKER, counter(schema.id), named + without);
        actions.push(raised.when(Condition::Equals("Last", item::number(given))));
    }
    let counts = crate::work::Counts { created: Some(0), changed: Some(0), failed: Some(0), ..counts };
    Step::new(actions, &params, counts, Then::More)
}

/// The issue that a record is to change.
enum Existing {
    Not,
    /// With what the record says it would be too large.
    TooLarge,
    Fits,
}

/// Sizes are looked at where one fault stops all; else each is found when it is written.
async fn there(
    access: &Access,
    params: &ImportParams,
    schema: &Schema,
    number: Option<u64>,
    parsed: &ParsedRow,
) -> Result<Existing, Problem> {
    let Some(number) = number else { return Ok(Existing::Not) };
    let Some(issue) = find(access, schema, number).await? else { return Ok(Existing::Not) };
    if params.on_error == OnError::Skip {
        return Ok(Existing::Fits);
    }
    let key = IssueKey { issue, project: schema.id }.key();
    let Some(stored) = access.table(&IMPORT_ROWS, &TRACKER).get_consistent(key).await? else {
        return Ok(Existing::Not);
    };
    let after = cleaned(schema, parsed.apply(stored.read()?, schema));
    Ok(if check_size(&after).is_ok() { Existing::Fits } else { Existing::TooLarge })
}

/// The last number that the project has given; nothing if it is gone.
async fn last_given(access: &Access, schema: &Schema) -> Result<Option<u64>, Problem> {
    let key: Key = CounterKey { project: schema.id }.key();
    let stored = access.table(&IMPORT_ROWS, &TRACKER).get_consistent(key).await?;
    Ok(stored.and_then(|stored| stored.item.get("Last")?.as_n().ok()?.parse().ok()))
}
