//! The phase `checking`: reads the file row by row, and stores chunks of what is in it. A worker that has lost its place
//! reads the file again from the start and skips the rows of the stored chunks.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use ::jobs::{Step, Then};
use table::Access;
use table::objects::Blocks;
use web::Problem;

use super::checkpoint::{Checkpoint, End};
use super::chunk::{self, ChunkRow, IndexRow, ROWS, RunFiles, UnresolvedText, WorkFile};
use super::resolver::{Resolved, Resolver};
use super::run_step::{RunWork, hex, step};
use crate::access::{FILES, READ_FILE};
use crate::fold::first;
use crate::mapping::PersonRole;
use crate::record::{BoundMapping, CorrectionsPolicy, Event as RecordEvent, RowFault, RowFaultKind};
use crate::register::{Code, Event, Header, Problem as FileProblem, Reader, Row, Severity};
use crate::runs::{BadRows, Phase, Run};
use crate::schema::BUCKET;

/// The distinct place texts of a file that are resolved.
const MAX_PLACES: usize = 20_000;

/// The characters that are kept of a place text without a place.
const MAX_TEXT: usize = 200;

/// A file that is being read, after the rows of the stored chunks.
pub struct Reading {
    blocks: Blocks,
    reader: Reader,
    header: Option<Header>,
    /// The chunks whose rows were read.
    chunks: u32,
    /// The first place texts of the file, up to the limit. They are the same if the file is read again.
    texts: HashSet<String>,
    /// The places of the texts that this worker has resolved.
    places: HashMap<String, Option<Resolved>>,
    resolver: Resolver,
}

/// What a chunk of rows has.
#[derive(Default)]
struct Chunk {
    rows: Vec<ChunkRow>,
    index: Vec<IndexRow>,
    /// For each row, the cells of its events' places.
    places: Vec<Vec<PlaceCell>>,
    problems: Vec<FileProblem>,
    /// The rows read, also those with errors.
    count: usize,
    /// Whether the file ends with it.
    is_last: bool,
}

/// Where the place of an event begins in the file.
#[derive(Clone, Copy, Debug)]
struct PlaceCell {
    /// The index of the column. Absent for an event without a place.
    column: Option<usize>,
    line: u64,
}

/// Reads one chunk and stores it.
pub async fn step_check(
    access: &Access,
    at: &RunWork<'_>,
    reading: &mut Option<Reading>,
    mut checkpoint: Checkpoint,
) -> Result<Step, Problem> {
    let run = at.run;
    let files = RunFiles::new(access, at.post, run.run);
    if reading.as_ref().is_none_or(|reading| reading.chunks != checkpoint.chunks) {
        *reading = Some(Reading::resume(access, at, checkpoint.chunks).await?);
    }
    let Some(open) = reading.as_mut() else { return Err(Problem::internal("the file is not open")) };
    let mut chunk = open.read(access, at).await?;
    let unresolved = open.resolve(access, &mut chunk).await?;
    let number = checkpoint.chunks;
    files.store(WorkFile::Rows, number, &chunk.rows).await?;
    files.store(WorkFile::Index, number, &chunk.index).await?;
    files.store(WorkFile::Unresolved, number, &unresolved).await?;
    open.chunks += 1;
    checkpoint.chunks += 1;
    checkpoint.totals.rows += u32::try_from(chunk.count).unwrap_or(u32::MAX);
    checkpoint.totals.records += u32::try_from(chunk.rows.len()).unwrap_or(u32::MAX);
    // Each later chunk has more of them.
    let is_told = checkpoint.problems.by_code().contains_key(&Code::TooManyPlaces);
    chunk.problems.retain(|problem| !(is_told && problem.code == Code::TooManyPlaces));
    files.store(WorkFile::Problems, number, &chunk.problems).await?;
    for problem in chunk.problems {
        if problem.severity == Severity::Fatal {
            checkpoint.fatal.get_or_insert(problem.code);
        }
        checkpoint.problems.add(problem);
    }
    if chunk.is_last {
        checkpoint.enter(Phase::Matching);
    }
    step(at, checkpoint, Vec::new(), Then::Continue)
}

/// Why the rows that were read refuse the run, if they do.
pub fn refusal(run: &Run, checkpoint: &Checkpoint) -> Option<End> {
    if let Some(code) = checkpoint.fatal {
        return Some(End::Failed(code.name().to_owned()));
    }
    let conflicts = match run.corrections {
        CorrectionsPolicy::Refuse => checkpoint.problems.by_code().get(&Code::CorrectionConflict).copied().unwrap_or(0),
        CorrectionsPolicy::Keep | CorrectionsPolicy::File => 0,
    };
    let reason = match (run.bad_rows, checkpoint.problems.count(Severity::Error), conflicts) {
        (BadRows::Refuse, 0, _) | (BadRows::Skip, _, 0) => return None,
        (BadRows::Refuse, 1, _) => "1 row has an error".to_owned(),
        (BadRows::Refuse, errors, _) => format!("the file has {errors} errors"),
        // The row of a conflict is not a bad one: leaving it out would end the record.
        (BadRows::Skip, _, 1) => "1 correction by hand conflicts with the file".to_owned(),
        (BadRows::Skip, _, conflicts) => format!("{conflicts} corrections by hand conflict with the file"),
    };
    Some(End::Failed(reason))
}

impl Reading {
    /// Opens the file, and reads the rows of the stored chunks without doing anything with them.
    async fn resume(access: &Access, at: &RunWork<'_>, chunks: u32) -> Result<Self, Problem> {
        let run = at.run;
        let name = chunk::file_name(at.post, &run.file);
        let mut reading = Self {
            blocks: Blocks::new(name, run.bytes, 0),
            reader: Reader::new(run.format),
            header: None,
            chunks: 0,
            texts: HashSet::new(),
            places: HashMap::new(),
            resolver: Resolver::load(access, at.within()).await?,
        };
        while reading.chunks < chunks {
            let chunk = reading.read(access, at).await?;
            reading.take_texts(&chunk);
            reading.chunks += 1;
        }
        Ok(reading)
    }

    /// Reads the next rows up to the size of a chunk.
    async fn read(&mut self, access: &Access, at: &RunWork<'_>) -> Result<Chunk, Problem> {
        let run = at.run;
        let mut chunk = Chunk::default();
        while chunk.count < ROWS {
            let Some(event) = self.next(access).await? else {
                chunk.is_last = true;
                break;
            };
            match event {
                Event::Header(header) => {
                    let mapped = run.mapping.iter().map(|column| column.header.as_str());
                    let missing = header.missing(mapped);
                    let is_fatal = !missing.is_empty();
                    chunk.problems.extend(missing);
                    self.header = Some(header);
                    if is_fatal {
                        chunk.is_last = true;
                        break;
                    }
                }
                Event::Problem(problem) => chunk.problems.push(problem),
                Event::BadRow { .. } => chunk.count += 1,
                Event::Row(row) => {
                    chunk.count += 1;
                    if let Some(header) = &self.header {
                        take(row, header, at, &mut chunk);
                    }
                }
            }
        }
        Ok(chunk)
    }

    async fn next(&mut self, access: &Access) -> Result<Option<Event>, Problem> {
        let files = access.objects(&READ_FILE, BUCKET, FILES.prefix);
        loop {
            let rest = self.blocks.rest();
            let mut input = rest;
            let event = self.reader.next(&mut input, self.blocks.at_end());
            let read = rest.len() - input.len();
            self.blocks.take(read);
            if event.is_some() || self.blocks.at_end() {
                return Ok(event);
            }
            if !self.blocks.more(files).await? {
                return Err(Problem::internal("the file of a run is not in the bucket any more"));
            }
        }
    }

    /// Takes the place texts of a chunk. Returns whether there are too many of them in the file.
    fn take_texts(&mut self, chunk: &Chunk) -> bool {
        let mut too_many = false;
        for text in place_texts(chunk) {
            if self.texts.len() < MAX_PLACES {
                if !self.texts.contains(text) {
                    self.texts.insert(text.to_owned());
                }
            } else {
                too_many |= !self.texts.contains(text);
            }
        }
        too_many
    }

    /// Sets the places of a chunk's events. Returns the texts that mean no place, or not with all their words.
    async fn resolve(&mut self, access: &Access, chunk: &mut Chunk) -> Result<Vec<UnresolvedText>, Problem> {
        let too_many = self.take_texts(chunk);
        let texts = place_texts(chunk).filter(|text| self.texts.contains(*text) && !self.places.contains_key(*text));
        let unknown: Vec<&str> = texts.collect::<BTreeSet<_>>().into_iter().collect();
        for (text, place) in self.resolver.resolve_all(access, &unknown).await? {
            self.places.insert(text, place);
        }
        let mut unresolved: BTreeMap<&str, (u32, bool)> = BTreeMap::new();
        for (row, cells) in chunk.rows.iter_mut().zip(&chunk.places) {
            // One of a row, so that the report of a file stays small.
            let mut not_found = None;
            let events = row.events.iter_mut().zip(cells);
            for (event, cell) in events.filter(|(event, _)| !event.place_text.is_empty()) {
                match self.places.get_key_value(&event.place_text) {
                    Some((text, Some(place))) => {
                        if place.is_partial {
                            unresolved.entry(text).or_default().0 += 1;
                            unresolved.entry(text).or_default().1 = true;
                        }
                        place.apply(event);
                    }
                    Some((text, None)) => {
                        unresolved.entry(text).or_default().0 += 1;
                        not_found.get_or_insert_with(|| place_not_found(*cell, self.header.as_ref(), event));
                    }
                    None => {}
                }
            }
            chunk.problems.extend(not_found);
        }
        if too_many {
            let text = format!("The file has more than {MAX_PLACES} places. The others keep their texts only.");
            chunk.problems.push(FileProblem::new(Code::TooManyPlaces, 1, None, text));
        }
        let shortened =
            |(text, (count, in_part))| UnresolvedText { text: first(text, MAX_TEXT).to_owned(), count, in_part };
        Ok(unresolved.into_iter().map(shortened).collect())
    }
}

/// Returns the place texts of a chunk, as often as it has them.
fn place_texts(chunk: &Chunk) -> impl Iterator<Item = &str> {
    let texts = chunk.rows.iter().flat_map(|row| &row.events).map(|event| event.place_text.as_str());
    texts.filter(|text| !text.is_empty())
}

fn place_not_found(cell: PlaceCell, header: Option<&Header>, event: &RecordEvent) -> FileProblem {
    let column = header.zip(cell.column).map(|(header, column)| header.column(column));
    let text = format!("No place has the name `{}`. The text is kept.", first(&event.place_text, 100));
    FileProblem::new(Code::PlaceNotFound, cell.line, column, text)
}

/// Adds a row without errors of the file to a chunk, unless what it means has an error.
fn take(row: Row, header: &Header, at: &RunWork<'_>, chunk: &mut Chunk) {
    let Ok(mapping) = BoundMapping::new(&at.run.mapping, header.names()) else { return };
    let digest = hex(&row.digest());
    let lines: Vec<u64> = row.cells.iter().map(|cell| cell.line).collect();
    let values: Vec<String> = row.cells.into_iter().map(|cell| cell.text).collect();
    let content = mapping.read(&values);
    let line_of = |column: Option<usize>| column.and_then(|column| lines.get(column)).copied().unwrap_or(row.line);
    let mut has_error = false;
    for fault in &content.faults {
        let problem = problem_of(*fault, line_of(fault.column), header, &values);
        has_error |= problem.severity == Severity::Error;
        chunk.problems.push(problem);
    }
    if has_error {
        return;
    }
    let principal = content.people.iter().find(|person| person.role == PersonRole::Principal).cloned();
    chunk.index.push(IndexRow {
        row: row.number,
        line: row.line,
        later_lines: later_lines(row.line, &lines),
        digest,
        key: content.key,
        household: content.household.clone(),
        relation: content.relation.clone(),
        principal,
        visible_from: at.visible_from(&content.events),
    });
    let place = |column| PlaceCell { column, line: line_of(column) };
    chunk.places.push(content.place_columns.into_iter().map(place).collect());
    chunk.rows.push(ChunkRow {
        row: row.number,
        values,
        people: content.people,
        events: content.events,
        keywords: content.keywords,
        household: content.household,
        relation: content.relation,
    });
}

/// Returns the columns whose cells begin on another line than the cell before them, with that line. The first cell is
/// compared with the row.
fn later_lines(row: u64, cells: &[u64]) -> Vec<(usize, u64)> {
    let before = std::iter::once(row).chain(cells.iter().copied());
    let lines = cells.iter().copied().zip(before).enumerate();
    lines.filter(|(_, (line, before))| line != before).map(|(column, (line, _))| (column, line)).collect()
}

fn problem_of(fault: RowFault, line: u64, header: &Header, values: &[String]) -> FileProblem {
    let column = fault.column.map(|column| header.column(column));
    let cell = fault.column.and_then(|column| values.get(column)).map_or("", String::as_str);
    let cell = first(cell, 100);
    match fault.kind {
        RowFaultKind::NoName => FileProblem::new(Code::NoName, line, column, "No person of the row has a name."),
        RowFaultKind::DateNotUnderstood => {
            let text = format!("`{cell}` is not understood as a date. The text is kept.");
            FileProblem::new(Code::DateNotUnderstood, line, column, text)
        }
        RowFaultKind::HouseholdIncomplete => {
            let text = "The household has more columns, and this one is blank. The row is in no household.";
            FileProblem::new(Code::HouseholdIncomplete, line, column, text)
        }
        RowFaultKind::HouseholdTooLong => {
            FileProblem::new(Code::HouseholdTooLong, line, column, "A household has at most 120 characters.")
        }
    }
}
