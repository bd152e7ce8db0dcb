//! The first pass: every record is looked at, and nothing is written. At the end of the file the numbers of all new
//! issues are taken at once.

use std::sync::Arc;
use std::time::Instant;

use futures::stream::{self, StreamExt, TryStreamExt};
use table::{Access, Action, Condition, EntityKey, Key, item};
use web::Problem;

use super::column::{Target, columns};
use super::create::{self, TOO_LARGE};
use super::met::{MOST_UNSOUND, Met};
use super::record::{self, Draft};
use super::records::{At, Batch, Next, Record};
use super::step::{AT_MOST, Ahead, end};
use super::{LONGEST_HEADER, Mode, Numbers, OnError, Phase, Plan, faults};
use crate::access::IMPORT_ROWS;
use crate::issues::{LAST_NUMBER, MAX_JUMP, check_size, cleaned};
use crate::keys::{CounterKey, IssueKey};
use crate::names::IssueId;
use crate::project::Schema;
use crate::projects::counter;
use crate::schema::{INDEX, TRACKER};
use crate::values::number_key;
use crate::work::{Held, RowFault, Step, Then, issue_of};

/// How many records are looked at together.
const TOGETHER: usize = 500;

/// How many faults a step finds, at about which it ends.
const MOST_FOUND: usize = 10_000;

/// How many numbers are looked for at once.
const AT_ONCE: usize = 16;

pub async fn step(
    access: &Access,
    held: &Held,
    ahead: &mut Ahead,
    mut plan: Plan,
    schema: &Schema,
) -> Result<Step, Problem> {
    let began = Instant::now();
    if plan.at == At::default() {
        match last_given(access, schema).await? {
            Some(given) => plan.numbers = Numbers { given, ..Numbers::default() },
            None => return Ok(Step::stopped(held, "its project is gone")),
        }
    }
    let mut met = Met::clone(&*ahead.met(access, &plan).await?);
    let mut records = ahead.records(held.id, &plan, plan.at);
    let (mut found, mut counts) = (Vec::new(), held.work.counts);
    while began.elapsed() < AT_MOST && found.len() < MOST_FOUND {
        let (mut batch, mut over) = (Batch::of(TOGETHER), false);
        while batch.has_room() {
            match records.next(access).await? {
                Next::Record(record) if plan.columns.is_empty() => match header(&mut plan, schema, &record) {
                    Ok(()) => {}
                    Err(faults) => return end(access, held, plan, counts, Then::Rejected, faults).await,
                },
                Next::Record(record) => batch.push(record),
                Next::Broken(reason) => {
                    return Ok(end(access, held, plan, counts, Then::Rejected, found).await?.because(reason));
                }
                Next::End => {
                    over = true;
                    break;
                }
            }
        }
        counts.total += batch.records.len() as u64;
        let unsound = look_at(access, held, &mut plan, schema, &mut met, &batch.records).await?;
        for record in unsound.iter().map(|fault| fault.record) {
            if !met.condemn(record) {
                let reason = format!("more than {MOST_UNSOUND} of its records cannot be");
                return Ok(end(access, held, plan, counts, Then::Rejected, found).await?.because(reason));
            }
        }
        found.extend(unsound);
        if over {
            note(access, held, ahead, &mut plan, met).await?;
            faults::keep(access, held.id, &mut plan, &found).await?;
            return Ok(finish(access, held, plan, schema, counts).await?.with_faults(found));
        }
        tokio::task::yield_now().await;
    }
    note(access, held, ahead, &mut plan, met).await?;
    faults::keep(access, held.id, &mut plan, &found).await?;
    plan.at = records.at();
    ahead.keep(records);
    Ok(Step::new(Vec::new(), &plan, counts, Then::More)?.with_faults(found))
}

/// Keeps what was met up to here, where the checkpoint will look for it.
async fn note(access: &Access, held: &Held, ahead: &mut Ahead, plan: &mut Plan, met: Met) -> Result<(), Problem> {
    plan.met = met.keep(access, held.id).await?;
    if let Some(name) = &plan.met {
        ahead.remember(name, &Arc::new(met));
    }
    Ok(())
}

/// What the columns are.
fn header(plan: &mut Plan, schema: &Schema, record: &Record) -> Result<(), Vec<RowFault>> {
    let fault =
        |column: Option<String>, detail: String| RowFault { record: record.number, line: record.line, column, detail };
    let cells = record.cells.as_ref().map_err(|reason| vec![fault(None, reason.clone())])?;
    let is_long = |cell: &&sheet::Cell| cell.text.chars().count() > LONGEST_HEADER;
    if let Some(long) = cells.iter().find(is_long) {
        let shown: String = long.text.chars().take(40).collect();
        return Err(vec![fault(None, format!("has the header `{shown}…` of more than {LONGEST_HEADER} characters"))]);
    }
    let headers: Vec<String> = cells.iter().map(|cell| sheet::unguarded(&cell.text).to_owned()).collect();
    let columns = columns(&headers, &plan.mapping, plan.mode, schema);
    let told = |faults: Vec<(Option<String>, String)>| faults.into_iter().map(|(column, detail)| fault(column, detail));
    plan.columns = columns.map_err(|faults| told(faults).collect::<Vec<_>>())?;
    plan.headers = headers;
    Ok(())
}

/// What is wrong with these records; of the others the numbers are noted.
async fn look_at(
    access: &Access,
    held: &Held,
    plan: &mut Plan,
    schema: &Schema,
    met: &mut Met,
    batch: &[Record],
) -> Result<Vec<RowFault>, Problem> {
    let (mut sound, mut faults) = (Vec::<Draft>::new(), Vec::new());
    let header = plan.header(Target::Number);
    let of_number = |record: u64, line: u64, detail: &str| RowFault {
        record,
        line,
        column: Some(header.clone()),
        detail: detail.to_owned(),
    };
    let greatest = plan.numbers.given.saturating_add(MAX_JUMP);
    for record in batch {
        let number = record::number(plan, record);
        let again = number.filter(|number| *number <= greatest && !met.meet(*number));
        let again = again.map(|_| {
            let line = record::line_of(plan, record, Target::Number);
            of_number(record.number, line, "is the number of an earlier record")
        });
        let too_far = number.filter(|number| *number > greatest).map(|_| {
            let line = record::line_of(plan, record, Target::Number);
            let detail =
                format!("is more than {MAX_JUMP} above {}, the last number of the project", plan.numbers.given);
            of_number(record.number, line, &detail)
        });
        match (record::read(plan, schema, record), again.or(too_far)) {
            (Ok(draft), None) => sound.push(draft),
            (Ok(_), Some(again)) => faults.push(again),
            (Err(found), again) => faults.extend(found.into_iter().chain(again)),
        }
    }
    let given = plan.numbers.given;
    let known = |draft: &Draft| draft.number.filter(|number| *number <= given);
    let there: Vec<There> = match plan.mode {
        Mode::Create => Vec::new(),
        Mode::Upsert => {
            let asked: Vec<_> = sound.iter().map(|draft| there(access, plan, schema, known(draft), draft)).collect();
            stream::iter(asked).buffered(AT_ONCE).try_collect().await?
        }
    };
    for (place, draft) in sound.iter().enumerate() {
        let is_known = known(draft).is_some();
        let fault = match there.get(place) {
            _ if !is_known => create::issue(held, schema, draft, LAST_NUMBER).err(),
            None => {
                let detail = "is not above all numbers that the project has given";
                Some(of_number(draft.record, draft.number_line, detail))
            }
            Some(There::Not) => {
                let detail = "was given before, and no issue has it";
                Some(of_number(draft.record, draft.number_line, detail))
            }
            Some(There::TooLarge) => Some(draft.fault(TOO_LARGE)),
            Some(There::Fits) => None,
        };
        if let Some(fault) = fault {
            faults.push(fault);
            continue;
        }
        let numbers = &mut plan.numbers;
        match draft.number {
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
    mut plan: Plan,
    schema: &Schema,
    counts: crate::work::Counts,
) -> Result<Step, Problem> {
    if plan.columns.is_empty() {
        let rejected = end(access, held, plan, counts, Then::Rejected, Vec::new()).await?;
        return Ok(rejected.because("it has no header with the names of its columns"));
    }
    if plan.faults.entries > 0 && plan.on_error == OnError::Stop {
        faults::gather(access, held.id, &mut plan).await?;
        return Step::new(Vec::new(), &plan, counts, Then::Rejected);
    }
    let Some(given) = last_given(access, schema).await? else {
        return Ok(Step::stopped(held, "its project is gone"));
    };
    let Numbers { given: before, least, greatest, without, .. } = plan.numbers;
    if given > before && least.is_some_and(|least| least <= given) {
        // Others have taken numbers that the file names: what is wrong with it has to be found anew.
        let (columns, headers) = (Vec::new(), Vec::new());
        let anew = Plan { at: At::default(), faults: Default::default(), columns, headers, met: None, ..plan };
        return Ok(Step::new(Vec::new(), &anew, Default::default(), Then::More)?.anew());
    }
    let named = greatest.unwrap_or_default().max(given);
    if named + without > LAST_NUMBER {
        let rejected = end(access, held, plan, counts, Then::Rejected, Vec::new()).await?;
        return Ok(rejected.because(format!("its issues would have numbers above {LAST_NUMBER}")));
    }
    plan.numbers.next = named + 1;
    (plan.phase, plan.at) = (Phase::Writing, At::default());
    let mut actions = Vec::new();
    if named + without > given {
        let raised = Action::raise_sequence(&TRACKER, counter(schema.id), named + without);
        actions.push(raised.when(Condition::Equals("Last", item::number(given))));
    }
    let counts = crate::work::Counts { created: Some(0), changed: Some(0), failed: Some(0), ..counts };
    Step::new(actions, &plan, counts, Then::More)
}

/// The issue that a record is to change.
enum There {
    Not,
    /// With what the record says it would be too large.
    TooLarge,
    Fits,
}

/// Sizes are looked at where one fault stops all; else each is found when it is written.
async fn there(
    access: &Access,
    plan: &Plan,
    schema: &Schema,
    number: Option<u64>,
    draft: &Draft,
) -> Result<There, Problem> {
    let Some(number) = number else { return Ok(There::Not) };
    let Some(issue) = find(access, schema, number).await? else { return Ok(There::Not) };
    if plan.on_error == OnError::Skip {
        return Ok(There::Fits);
    }
    let key = IssueKey { issue, project: schema.id }.key();
    let Some(stored) = access.table(&IMPORT_ROWS, &TRACKER).get_consistent(key).await? else { return Ok(There::Not) };
    let after = cleaned(schema, draft.apply(stored.read()?, schema));
    Ok(if check_size(&after).is_ok() { There::Fits } else { There::TooLarge })
}

/// Pattern 7: the issue of a number, as far as the index shows it.
pub async fn find(access: &Access, schema: &Schema, number: u64) -> Result<Option<IssueId>, Problem> {
    let key = number_key(number);
    let query = access.table(&IMPORT_ROWS, &TRACKER).query(schema.id.id()).index(INDEX);
    let page = query.between(key.clone(), key).page(1).await?;
    Ok(page.items.first().and_then(|entry| issue_of(&entry.key.pk)))
}

/// The last number that the project has given; nothing if it is gone.
async fn last_given(access: &Access, schema: &Schema) -> Result<Option<u64>, Problem> {
    let key: Key = CounterKey { project: schema.id }.key();
    let stored = access.table(&IMPORT_ROWS, &TRACKER).get_consistent(key).await?;
    Ok(stored.and_then(|stored| stored.item.get("Last")?.as_n().ok()?.parse().ok()))
}
