//! The phase `matching`: what is known only when the whole file has been read. It finds each row in the last run, groups
//! households and derives relatives, applies corrections, and decides whether the run is refused.

use std::collections::{BTreeMap, HashMap, HashSet};

use ::jobs::{Step, Then};
use serde::{Deserialize, Serialize};
use table::Access;
use web::Problem;

use super::check::refusal;
use super::checkpoint::{Checkpoint, End};
use super::chunk::{ChunkRow, GoneDay, IndexRow, KeptCorrections, KeptRow, RunFiles, UnresolvedText, WorkFile};
use super::group::{Grouped, GroupedMember, HOUSEHOLDS};
use super::last::Last;
use super::run_step::{RunWork, step_with, unhex};
use crate::households::{self, bytes_of, name_of, relation_of};
use crate::mapping::PersonRole;
use crate::names::RecordId;
use crate::record::{
    BoundMapping, Correction, CorrectionsPolicy, Matches, OPEN, Relative, RowIdentity, apply, matches,
};
use crate::register::{Code, Problem as FileProblem, Severity, report};
use crate::relatives::{Member, relatives};
use crate::runs::{Phase, Run};

/// The largest household.
const MAX_HOUSEHOLD: usize = 1_000;

/// The largest household of a file in bytes. The rest of [`households::MAX_BYTES`] is for names that become longer by
/// corrections.
const MAX_HOUSEHOLD_BYTES: usize = 180_000;

/// What matching has decided for a row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Decided {
    /// The record of its first publication, if that was an earlier run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permanent_id: Option<RecordId>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relatives: Vec<Relative>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub corrections: BTreeMap<String, Correction>,
    /// Whether an editor has taken the record down. The row is left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_taken_down: bool,
    /// Whether the row has an error that only the whole file shows: its household is full. The row is left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_refused: bool,
}

impl Decided {
    /// Whether the row becomes a record.
    pub fn has_record(&self) -> bool {
        !self.is_taken_down && !self.is_refused
    }
}

pub async fn step_match(access: &Access, work: &RunWork<'_>, mut checkpoint: Checkpoint) -> Result<Step, Problem> {
    let files = RunFiles::new(access, work.post, work.run.run);
    let mut rows: Vec<IndexRow> = Vec::with_capacity(checkpoint.totals.records as usize);
    for chunk in 0..checkpoint.chunks {
        rows.extend(files.load::<IndexRow>(WorkFile::Index, chunk).await?);
    }
    if checkpoint.fatal.is_some() {
        // Nothing can be said of its rows: some are missing, or columns of them.
        store_reports(&files, &mut checkpoint, duplicates(&rows)).await?;
        return decide(work, checkpoint, |_| {});
    }
    let last = match work.run.previous {
        Some(previous) => Some(Last::load(access, work.post, previous).await?.with_keys_of(&work.run.mapping)),
        None => None,
    };
    let mut found = duplicates(&rows);
    let mut decided = vec![Decided::default(); rows.len()];
    refuse_full(&rows, &mut decided, MAX_HOUSEHOLD_BYTES, &mut found);
    let mut matched = last.as_ref().map_or_else(
        || Matches { old_of_new: vec![None; rows.len()], gone: Vec::new() },
        |last| match_rows(&last.rows, &rows, &decided),
    );
    // Before the corrections by hand, which are kept apart.
    let open_in_file: Vec<u32> = rows.iter().map(|row| row.visible_from.unwrap_or(OPEN)).collect();
    let mut corrections = HashMap::new();
    if let Some(last) = &last {
        for (decided, old) in decided.iter_mut().zip(&matched.old_of_new) {
            decided.permanent_id = old.and_then(|old| last.permanent_id(old));
            decided.is_taken_down = decided.permanent_id.is_some_and(|id| last.run.taken_down.contains(&id));
        }
        found.extend(
            rows.iter().zip(&decided).filter(|(_, decided)| decided.is_taken_down).map(|(row, _)| taken_down(row)),
        );
        let kept = last.corrections(access, work.post).await?;
        corrections = kept.into_iter().map(|kept| (kept.permanent_id, kept)).collect();
        correct(work, &corrections, (&mut rows, &mut decided), &files, &mut found).await?;
        refuse_full(&rows, &mut decided, households::MAX_BYTES, &mut found);
        leave_out_refused(&mut matched, &decided);
    }
    let households = group(&rows, &decided, &mut found);
    relate(&rows, &households, &mut decided);
    let records = decided.iter().filter(|decided| decided.has_record()).count();
    checkpoint.totals.records = u32::try_from(records).unwrap_or(u32::MAX);
    checkpoint.totals.households = u32::try_from(households.len()).unwrap_or(u32::MAX);
    count_matches(&mut checkpoint, last.as_ref(), (&rows, &decided), &matched);
    store_reports(&files, &mut checkpoint, found).await?;
    if end(work.run, &checkpoint).is_some() {
        return decide(work, checkpoint, |_| {});
    }
    store_decisions(&files, checkpoint.chunks, &decided).await?;
    checkpoint.household_chunks = store_households(&files, &rows, &households, &decided).await?;
    // A row that was taken down stays known, whether this file has it or not, so that no later file brings it back.
    let known = rows.iter().zip(&open_in_file).zip(&decided).filter(|(_, decided)| !decided.is_refused);
    let mut kept: Vec<KeptRow> = known.map(|((row, open), decided)| kept(row, *open, decided)).collect();
    kept.extend(last.as_ref().map(|last| kept_taken_down(last, &matched, &rows)).unwrap_or_default());
    files.keep_index(&kept).await?;
    let gone = last.as_ref().map(|last| gone_records(last, &matched)).unwrap_or_default();
    files.store(WorkFile::Gone, 0, &gone.iter().map(|(id, _)| *id).collect::<Vec<RecordId>>()).await?;
    let days = gone_days(&gone, &corrections);
    checkpoint.has_gone_days = !days.is_empty();
    if checkpoint.has_gone_days {
        files.store(WorkFile::GoneDays, 0, &days).await?;
    }
    let corrected = decided.iter().filter(|decided| !decided.is_refused && !decided.corrections.is_empty());
    let corrected = corrected.filter_map(|decided| decided.permanent_id).collect();
    decide(work, checkpoint, |run| {
        run.corrected = corrected;
        run.taken_down = last.map(|last| last.run.taken_down).unwrap_or_default();
    })
}

/// Returns why a run ends without writing records, if it does.
fn end(run: &Run, checkpoint: &Checkpoint) -> Option<End> {
    refusal(run, checkpoint).or_else(|| run.dry_run.then_some(End::Checked))
}

/// Returns the step of a run whose report is stored: it goes on, or is undone.
fn decide(work: &RunWork<'_>, mut checkpoint: Checkpoint, change: impl FnOnce(&mut Run)) -> Result<Step, Problem> {
    match end(work.run, &checkpoint) {
        Some(end) => checkpoint.undo(end),
        None => checkpoint.enter(Phase::Numbering),
    }
    step_with(work, checkpoint, Vec::new(), Then::Continue, |run| {
        run.has_report = true;
        change(run);
    })
}

/// Matches the rows without errors of the whole file with those of the last run.
fn match_rows(last: &[KeptRow], rows: &[IndexRow], decided: &[Decided]) -> Matches {
    let indexes: Vec<usize> =
        decided.iter().enumerate().filter(|(_, decided)| !decided.is_refused).map(|(index, _)| index).collect();
    let last: Vec<RowIdentity> = last.iter().map(identity).collect();
    let new: Vec<RowIdentity> = indexes.iter().filter_map(|index| rows.get(*index)).map(of_row).collect();
    let Matches { old_of_new, gone } = matches(&last, &new);
    let mut all = vec![None; rows.len()];
    for (index, old) in indexes.into_iter().zip(old_of_new) {
        if let Some(place) = all.get_mut(index) {
            *place = old;
        }
    }
    Matches { old_of_new: all, gone }
}

fn identity(row: &KeptRow) -> RowIdentity {
    RowIdentity {
        key: row.key.clone(),
        digest: unhex(&row.digest),
        household: row.household.clone(),
        has_place: row.is_in_file(),
    }
}

fn of_row(row: &IndexRow) -> RowIdentity {
    RowIdentity { key: row.key.clone(), digest: unhex(&row.digest), household: row.household.clone(), has_place: true }
}

fn kept(row: &IndexRow, visible_from: u32, decided: &Decided) -> KeptRow {
    KeptRow {
        row: row.row,
        digest: row.digest.clone(),
        key: row.key.clone(),
        household: row.household.clone(),
        permanent_id: decided.permanent_id,
        visible_from: Some(visible_from),
    }
}

/// Returns the records of the last run that no row matches, with their rows. The address of one that was taken down says
/// so already.
fn gone_records<'a>(last: &'a Last, matched: &Matches) -> Vec<(RecordId, &'a KeptRow)> {
    let record = |old: &usize| {
        let permanent_id = last.permanent_id(*old).filter(|id| !last.run.taken_down.contains(id))?;
        Some((permanent_id, last.rows.get(*old)?))
    };
    matched.gone.iter().filter_map(record).collect()
}

/// Returns the first open days of records that are gone, as far as they are known.
fn gone_days(gone: &[(RecordId, &KeptRow)], corrections: &HashMap<RecordId, KeptCorrections>) -> Vec<GoneDay> {
    let day = |(permanent_id, row): &(RecordId, &KeptRow)| {
        let corrected = corrections.get(permanent_id);
        let visible_from = corrected.map_or(row.visible_from, |corrected| corrected.visible_from)?;
        Some(GoneDay { permanent_id: *permanent_id, visible_from })
    };
    gone.iter().filter_map(day).collect()
}

/// Returns the rows that were taken down and that the new file does not have as they were: no row is matched with them, or
/// one with other cells and not by its key, which may be another person. So they are known if they come back.
fn kept_taken_down(last: &Last, matched: &Matches, rows: &[IndexRow]) -> Vec<KeptRow> {
    let with_old = rows.iter().zip(&matched.old_of_new).filter_map(|(row, old)| Some(((*old)?, row)));
    let found: HashMap<usize, &IndexRow> = with_old.collect();
    let rows = last.rows.iter().enumerate();
    let is_same =
        |found: &IndexRow, row: &KeptRow| found.digest == row.digest || row.key.is_some() && found.key == row.key;
    let changed = rows.filter(|(index, row)| found.get(index).is_none_or(|found| !is_same(found, row)));
    let taken_down = changed.filter_map(|(index, row)| {
        let id = last.permanent_id(index).filter(|id| last.run.taken_down.contains(id))?;
        Some(KeptRow { row: 0, permanent_id: Some(id), ..row.clone() })
    });
    taken_down.collect()
}

fn taken_down(row: &IndexRow) -> FileProblem {
    let text = "The row is left out, since it is matched with a record that an editor has taken down.";
    FileProblem::new(Code::TakenDown, row.line, None, text)
}

/// Refuses the rows after the first 1 000 of a household, and those for whose names it has no room.
fn refuse_full(rows: &[IndexRow], decided: &mut [Decided], max_bytes: usize, found: &mut Vec<FileProblem>) {
    let mut members: HashMap<&str, (usize, usize)> = HashMap::new();
    for (row, decided) in rows.iter().zip(decided).filter(|(_, decided)| decided.has_record()) {
        let Some(household) = row.household.as_deref() else { continue };
        let (count, bytes) = members.entry(household).or_default();
        *count += 1;
        *bytes += bytes_of(row.principal.as_ref(), row.relation.as_deref());
        let text = if *count > MAX_HOUSEHOLD {
            Some(format!("Household `{household}` has more than {MAX_HOUSEHOLD} members."))
        } else if *bytes > max_bytes {
            Some(format!("Household `{household}` has more names than a household can show."))
        } else {
            None
        };
        if let Some(text) = text {
            decided.is_refused = true;
            found.push(FileProblem::new(Code::HouseholdTooLarge, row.line, None, text));
        }
    }
}

/// Ends the matches of rows that were refused after it, so that their records count as gone.
fn leave_out_refused(matched: &mut Matches, decided: &[Decided]) {
    let Matches { old_of_new, gone } = matched;
    let refused = old_of_new.iter_mut().zip(decided).filter(|(_, decided)| decided.is_refused);
    gone.extend(refused.filter_map(|(old, _)| old.take()));
    gone.sort_unstable();
}

/// Returns the indexes of the rows of each household, in the order of the households' first rows. Rows without a record
/// are in none.
fn group(rows: &[IndexRow], decided: &[Decided], found: &mut Vec<FileProblem>) -> Vec<(String, Vec<usize>)> {
    let mut households: Vec<(String, Vec<usize>)> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    let mut told: HashSet<&str> = HashSet::new();
    let mut before: Option<&str> = None;
    for (index, (row, decided)) in rows.iter().zip(decided).enumerate() {
        if !decided.has_record() {
            continue;
        }
        let household = row.household.as_deref();
        if let Some(household) = household {
            match known.get(household).and_then(|place| households.get_mut(*place)) {
                Some((_, members)) => {
                    if before != Some(household) && told.insert(household) {
                        let text = format!("Rows of other households are between those of household `{household}`.");
                        found.push(FileProblem::new(Code::HouseholdNotAdjacent, row.line, None, text));
                    }
                    members.push(index);
                }
                None => {
                    known.insert(household, households.len());
                    households.push((household.to_owned(), vec![index]));
                }
            }
        }
        before = household;
    }
    households
}

/// A warning for each row with the cells of an earlier one.
fn duplicates(rows: &[IndexRow]) -> Vec<FileProblem> {
    let mut lines: HashMap<&str, u64> = HashMap::new();
    let mut found = Vec::new();
    for row in rows {
        match lines.get(row.digest.as_str()) {
            Some(line) => {
                let text = format!("The row has the same cells as line {line}.");
                found.push(FileProblem::new(Code::DuplicateRow, row.line, None, text));
            }
            None => drop(lines.insert(&row.digest, row.line)),
        }
    }
    found
}

/// Sets the relatives of the members of each household.
fn relate(rows: &[IndexRow], households: &[(String, Vec<usize>)], decided: &mut [Decided]) {
    for (_, members) in households {
        let of = |index: &usize| rows.get(*index);
        let people: Vec<Member<'_>> = members
            .iter()
            .filter_map(of)
            .map(|row| Member {
                person: row.principal.as_ref(),
                relation: row.relation.as_deref(),
                visible_from: row.visible_from,
            })
            .collect();
        for (index, relatives) in members.iter().zip(relatives(&people)) {
            if let Some(decided) = decided.get_mut(*index) {
                decided.relatives = relatives;
            }
        }
    }
}

/// Takes the corrections by hand of the last run over to the rows that are its records.
async fn correct(
    work: &RunWork<'_>,
    corrections: &HashMap<RecordId, KeptCorrections>,
    (rows, decided): (&mut [IndexRow], &mut [Decided]),
    files: &RunFiles<'_>,
    found: &mut Vec<FileProblem>,
) -> Result<(), Problem> {
    if corrections.is_empty() {
        return Ok(());
    }
    let mapping = BoundMapping::new(&work.run.mapping, &work.run.headers);
    let mapping = mapping.map_err(|_| Problem::internal("a run lacks a column of its mapping"))?;
    let mut chunk: Option<(u32, Vec<ChunkRow>)> = None;
    let mut number = 0;
    let mut at = 0;
    for (index, (row, decided)) in rows.iter_mut().zip(decided).enumerate() {
        let Some(kept) = decided.permanent_id.and_then(|id| corrections.get(&id)) else { continue };
        // The chunk with this row: chunks have the rows without errors, in order.
        loop {
            if chunk.as_ref().is_none_or(|(loaded, _)| *loaded != number) {
                chunk = Some((number, files.load(WorkFile::Rows, number).await?));
            }
            let Some((_, loaded)) = &chunk else { break };
            if index < at + loaded.len() {
                break;
            }
            at += loaded.len();
            number += 1;
        }
        let Some(values) = chunk.as_ref().and_then(|(_, rows)| rows.get(index - at)).map(|row| row.values.clone())
        else {
            return Err(Problem::internal("a row is in no chunk"));
        };
        let corrected = apply(&kept.corrections, &work.run.headers, values, work.run.corrections);
        for conflict in corrected.conflicts {
            let header = work.run.headers.get(conflict.column).map(String::as_str);
            let column = crate::register::Column::new(conflict.column, header);
            let text = format!(
                "`{}` was corrected by hand to `{}`.",
                crate::fold::first(&conflict.in_file, 100),
                crate::fold::first(&conflict.corrected, 100)
            );
            let line = row.line_of(conflict.column);
            let mut problem = FileProblem::new(Code::CorrectionConflict, line, Some(column), text);
            if work.run.corrections != CorrectionsPolicy::Refuse {
                problem.severity = Severity::Warning;
            }
            found.push(problem);
        }
        // Households and relatives have the corrected names.
        let content = mapping.read(&corrected.values);
        row.principal = content.people.into_iter().find(|person| person.role == PersonRole::Principal);
        row.relation = content.relation;
        row.visible_from = work.visible_from(&content.events);
        decided.corrections = corrected.corrections;
    }
    Ok(())
}

fn count_matches(
    checkpoint: &mut Checkpoint,
    last: Option<&Last>,
    (rows, decided): (&[IndexRow], &[Decided]),
    matched: &Matches,
) {
    let totals = &mut checkpoint.totals;
    let rows = rows.iter().zip(decided).zip(&matched.old_of_new);
    for ((row, _), old) in rows.filter(|((_, decided), _)| !decided.is_refused) {
        let old = old.and_then(|old| last?.rows.get(old)).filter(|old| old.is_in_file());
        match old {
            None => totals.new += 1,
            Some(old) if old.digest == row.digest => totals.unchanged += 1,
            Some(_) => totals.changed += 1,
        }
    }
    totals.gone = u32::try_from(matched.gone.len()).unwrap_or(u32::MAX);
}

/// Stores the report with these problems, too, and the place texts without a place.
async fn store_reports(
    files: &RunFiles<'_>,
    checkpoint: &mut Checkpoint,
    found: Vec<FileProblem>,
) -> Result<(), Problem> {
    for problem in &found {
        checkpoint.problems.add(problem.clone());
    }
    store_report(files, checkpoint.chunks, found).await?;
    store_unresolved(files, checkpoint.chunks).await
}

/// Stores the report with the problems of all chunks and these.
async fn store_report(files: &RunFiles<'_>, chunks: u32, found: Vec<FileProblem>) -> Result<(), Problem> {
    let mut csv = Vec::new();
    report::start(&mut csv);
    for chunk in 0..chunks {
        for problem in files.load::<FileProblem>(WorkFile::Problems, chunk).await? {
            report::append(&problem, &mut csv);
        }
    }
    for problem in &found {
        report::append(problem, &mut csv);
    }
    files.store_report(csv).await
}

/// Stores the place texts of all chunks that mean no place, the most frequent first. There are no more than a file may
/// have places.
async fn store_unresolved(files: &RunFiles<'_>, chunks: u32) -> Result<(), Problem> {
    let mut texts: BTreeMap<String, UnresolvedText> = BTreeMap::new();
    for chunk in 0..chunks {
        for found in files.load::<UnresolvedText>(WorkFile::Unresolved, chunk).await? {
            match texts.get_mut(&found.text) {
                Some(known) => known.count += found.count,
                None => drop(texts.insert(found.text.clone(), found)),
            }
        }
    }
    let mut texts: Vec<UnresolvedText> = texts.into_values().collect();
    texts.sort_by_key(|text| std::cmp::Reverse(text.count));
    files.store_unresolved(&texts).await
}

/// Stores the decisions for the rows of each chunk.
async fn store_decisions(files: &RunFiles<'_>, chunks: u32, decided: &[Decided]) -> Result<(), Problem> {
    let mut rest = decided;
    for chunk in 0..chunks {
        // The index of a chunk has as many rows as the chunk.
        let length = files.load::<IndexRow>(WorkFile::Index, chunk).await?.len();
        let (own, later) = rest.split_at_checked(length).unwrap_or((rest, &[]));
        files.store(WorkFile::Decided, chunk, own).await?;
        rest = later;
    }
    Ok(())
}

/// Stores households in chunks, and returns the number of chunks.
async fn store_households(
    files: &RunFiles<'_>,
    rows: &[IndexRow],
    households: &[(String, Vec<usize>)],
    decided: &[Decided],
) -> Result<u32, Problem> {
    let member = |index: &usize| {
        let (row, decided) = (rows.get(*index)?, decided.get(*index)?);
        Some(GroupedMember {
            row: row.row,
            permanent_id: decided.permanent_id,
            name: name_of(row.principal.as_ref()),
            relation: row.relation.as_deref().map(relation_of),
            visible_from: row.visible_from,
        })
    };
    let mut chunks = 0;
    for part in households.chunks(HOUSEHOLDS) {
        let grouped: Vec<Grouped> = part
            .iter()
            .map(|(household, members)| Grouped {
                household: household.clone(),
                members: members.iter().filter_map(member).collect(),
            })
            .collect();
        files.store(WorkFile::Households, chunks, &grouped).await?;
        chunks += 1;
    }
    Ok(chunks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(number: u32, household: &str) -> IndexRow {
        IndexRow {
            row: number,
            line: u64::from(number) + 1,
            later_lines: Vec::new(),
            digest: String::new(),
            key: None,
            household: Some(household.to_owned()),
            relation: None,
            principal: None,
            visible_from: None,
        }
    }

    #[test]
    fn rows_after_the_first_1_000_of_a_household_are_refused() {
        let mut rows: Vec<IndexRow> = (1..=1_002).map(|number| row(number, "14")).collect();
        rows.insert(500, row(2_000, "15"));
        let (mut decided, mut found) = (vec![Decided::default(); rows.len()], Vec::new());
        refuse_full(&rows, &mut decided, MAX_HOUSEHOLD_BYTES, &mut found);
        let refused = |decided: &[Decided]| decided.iter().position(|decided| decided.is_refused);
        assert_eq!((refused(&decided), found.len()), (Some(1_001), 2));
        let households = group(&rows, &decided, &mut Vec::new());
        assert_eq!(households.iter().map(|(_, members)| members.len()).collect::<Vec<_>>(), [1_000, 1]);
        let last: Vec<KeptRow> = rows.iter().map(|row| kept(row, OPEN, &Decided::default())).collect();
        let matched = match_rows(&last, &rows, &decided);
        assert_eq!((matched.old_of_new.iter().flatten().count(), matched.gone.len()), (1_001, 2));
    }

    #[test]
    fn first_open_day_of_a_row_that_an_earlier_version_kept_is_not_known() {
        let [closed, open, earlier, corrected] =
            [1, 2, 3, 4].map(|number| RecordId::new(1_000_000_000 + number).unwrap());
        let with = |visible_from| KeptRow { visible_from, ..kept(&row(1, "14"), OPEN, &Decided::default()) };
        let [of_day, of_none, unknown] = [Some(20_910_101), Some(OPEN), None].map(with);
        let gone = [(closed, &of_day), (open, &of_none), (earlier, &unknown), (corrected, &of_none)];
        let by_hand =
            KeptCorrections { permanent_id: corrected, corrections: BTreeMap::new(), visible_from: Some(20_990_101) };
        let days = gone_days(&gone, &HashMap::from([(corrected, by_hand)]));
        let days: Vec<_> = days.into_iter().map(|day| (day.permanent_id, day.visible_from)).collect();
        assert_eq!(days, [(closed, 20_910_101), (open, OPEN), (corrected, 20_990_101)]);
    }

    #[test]
    fn row_that_was_taken_down_is_in_no_household() {
        let rows = [row(1, "14"), row(2, "14"), row(3, "15"), row(4, "14")];
        let mut decided = vec![Decided::default(); rows.len()];
        let mut found = Vec::new();
        assert_eq!(group(&rows, &decided, &mut found), [("14".to_owned(), vec![0, 1, 3]), ("15".to_owned(), vec![2])]);
        assert_eq!(found.len(), 1);
        decided[2].is_taken_down = true;
        let mut found = Vec::new();
        assert_eq!(group(&rows, &decided, &mut found), [("14".to_owned(), vec![0, 1, 3])]);
        assert!(found.is_empty());
    }
}
