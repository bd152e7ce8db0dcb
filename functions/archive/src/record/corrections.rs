//! Corrections by hand, applied to the rows of a new file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Correction;
use crate::mapping::header_key;
use crate::names::UserId;

/// What is done where both a correction and the new file changed a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum CorrectionsPolicy {
    /// The correction wins.
    Keep,
    /// The file wins.
    File,
    /// Nothing is published.
    #[default]
    Refuse,
}

/// A row of a new file with its corrections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Corrected {
    /// The cells to publish.
    pub values: Vec<String>,
    /// The corrections that are still in effect, by header.
    pub corrections: BTreeMap<String, Correction>,
    /// The cells that both changed, for the report. With [`CorrectionsPolicy::Refuse`] they are errors.
    pub conflicts: Vec<Conflict>,
}

/// A cell that a correction and the new file changed in different ways.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The index of the column in the file.
    pub column: usize,
    /// The text of the correction.
    pub corrected: String,
    /// The text of the new file.
    pub in_file: String,
}

/// Applies the corrections of a record to its row of a new file.
///
/// - Where the file has what the correction replaced, the correction stands.
/// - Where the file has the corrected text itself, they agree. The correction is kept, so that an older copy of the file
///   does not undo it.
/// - Where the file has another text, they conflict. If the correction wins, it replaces the new text from now on and
///   does not conflict with it again. If the file wins, the correction ends.
/// - Where the file lacks the column, the correction is kept for a file that has it again.
///
/// The new file may spell a header with other case or accents. The corrections then have its spelling.
pub fn apply(
    corrections: &BTreeMap<String, Correction>,
    headers: &[String],
    values: Vec<String>,
    policy: CorrectionsPolicy,
) -> Corrected {
    let keys: Vec<String> = headers.iter().map(|header| header_key(header)).collect();
    let mut corrected = Corrected { values, corrections: BTreeMap::new(), conflicts: Vec::new() };
    for (header, correction) in corrections {
        let mut correction = correction.clone();
        let key = header_key(header);
        let column = keys.iter().position(|other| *other == key);
        let Some((column, header)) = column.and_then(|column| Some((column, headers.get(column)?))) else {
            corrected.corrections.insert(header.clone(), correction);
            continue;
        };
        // A row that is too short has empty cells.
        if corrected.values.len() <= column {
            corrected.values.resize(column + 1, String::new());
        }
        let Some(cell) = corrected.values.get_mut(column) else { continue };
        let conflicts = *cell != correction.from && *cell != correction.to;
        if conflicts {
            let conflict = Conflict { column, corrected: correction.to.clone(), in_file: cell.clone() };
            corrected.conflicts.push(conflict);
            correction.from.clone_from(cell);
        }
        if !conflicts || policy != CorrectionsPolicy::File {
            cell.clone_from(&correction.to);
            corrected.corrections.insert(header.clone(), correction);
        }
    }
    corrected
}

/// Returns the correction of a column. An earlier file may have spelled its header with other case or accents.
pub fn correction_of<'a>(
    corrections: &'a BTreeMap<String, Correction>,
    header: &str,
) -> Option<(&'a String, &'a Correction)> {
    corrections.get_key_value(header).or_else(|| {
        let key = header_key(header);
        corrections.iter().find(|(other, _)| header_key(other) == key)
    })
}

/// Corrects cells of a record by hand. `changes` has the new text of each column by header, `by` and `at` say who corrects
/// and when. The error has the headers that the file lacks.
///
/// A correction replaces the cell of the file, also if another correction came between. A cell that gets the text of the
/// file back has no correction.
pub fn correct(
    values: &mut Vec<String>,
    corrections: &mut BTreeMap<String, Correction>,
    headers: &[String],
    changes: &BTreeMap<String, String>,
    (by, at): (UserId, &str),
) -> Result<(), Vec<String>> {
    let columns = changes.iter().map(|(header, to)| {
        let key = header_key(header);
        let column = headers.iter().enumerate().find(|(_, other)| header_key(other) == key);
        column.map(|(index, own)| (index, own, to)).ok_or_else(|| header.clone())
    });
    let (known, unknown): (Vec<_>, Vec<_>) = columns.partition(Result::is_ok);
    if !unknown.is_empty() {
        return Err(unknown.into_iter().filter_map(Result::err).collect());
    }
    // A row that is too short has empty cells.
    if values.len() < headers.len() {
        values.resize(headers.len(), String::new());
    }
    for (index, header, to) in known.into_iter().flatten() {
        let Some(cell) = values.get_mut(index).filter(|cell| *cell != to) else { continue };
        let spelled = correction_of(corrections, header).map(|(spelled, _)| spelled.clone());
        let earlier = spelled.and_then(|spelled| corrections.remove(&spelled));
        let in_file = earlier.map_or_else(|| cell.clone(), |earlier| earlier.from);
        if in_file != *to {
            let correction = Correction { from: in_file, to: to.clone(), by, at: at.to_owned() };
            corrections.insert(header.clone(), correction);
        }
        cell.clone_from(to);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn correction(from: &str, to: &str) -> Correction {
        let (by, at) = ("1000000005".parse().unwrap(), "2026-11-25T12:00:00.000000Z".to_owned());
        Correction { from: from.to_owned(), to: to.to_owned(), by, at }
    }

    /// The given name Evan was corrected to Ifan. Returns the given name after a new file, the text that the correction
    /// then replaces, and the number of conflicts.
    fn published(in_file: &str, policy: CorrectionsPolicy) -> (String, Option<String>, usize) {
        let corrections = BTreeMap::from([("Forenames".to_owned(), correction("Evan", "Ifan"))]);
        let headers = ["Surname", "FORENAMES"].map(str::to_owned);
        let corrected = apply(&corrections, &headers, vec!["Pugh".to_owned(), in_file.to_owned()], policy);
        assert_eq!(corrected.values[0], "Pugh");
        assert_eq!(corrected.corrections.get("Forenames"), None);
        let replaces = corrected.corrections.get("FORENAMES").map(|correction| correction.from.clone());
        (corrected.values[1].clone(), replaces, corrected.conflicts.len())
    }

    const POLICIES: [CorrectionsPolicy; 3] =
        [CorrectionsPolicy::Keep, CorrectionsPolicy::File, CorrectionsPolicy::Refuse];

    #[test]
    fn correction_stands_where_the_file_has_the_text_that_it_replaced() {
        for policy in POLICIES {
            assert_eq!(published("Evan", policy), ("Ifan".to_owned(), Some("Evan".to_owned()), 0));
        }
    }

    #[test]
    fn correction_agrees_with_a_file_that_has_the_corrected_text() {
        for policy in POLICIES {
            assert_eq!(published("Ifan", policy), ("Ifan".to_owned(), Some("Evan".to_owned()), 0));
        }
    }

    #[test]
    fn policy_decides_where_the_file_has_a_third_text() {
        assert_eq!(published("Owen", CorrectionsPolicy::Keep), ("Ifan".to_owned(), Some("Owen".to_owned()), 1));
        assert_eq!(published("Owen", CorrectionsPolicy::File), ("Owen".to_owned(), None, 1));
        let (_, _, conflicts) = published("Owen", CorrectionsPolicy::Refuse);
        assert_eq!(conflicts, 1);
    }

    #[test]
    fn conflict_has_both_texts_and_its_column() {
        let corrections = BTreeMap::from([("b".to_owned(), correction("1", "2"))]);
        let headers = ["a", "b"].map(str::to_owned);
        let values = vec!["x".to_owned(), "3".to_owned()];
        let corrected = apply(&corrections, &headers, values, CorrectionsPolicy::Refuse);
        let expected = Conflict { column: 1, corrected: "2".to_owned(), in_file: "3".to_owned() };
        assert_eq!(corrected.conflicts, [expected]);
    }

    #[test]
    fn correction_by_hand_replaces_the_cell_of_the_file_and_ends_with_its_text() {
        let headers = ["Surname", "Forenames"].map(str::to_owned);
        let (mut values, mut corrections) = (vec!["Pugh".to_owned()], BTreeMap::new());
        let by = ("1000000005".parse().unwrap(), "2026-11-25T12:00:00.000000Z");
        let mut correct_to = |surname: &str| {
            let changes = BTreeMap::from([("SURNAME".to_owned(), surname.to_owned())]);
            correct(&mut values, &mut corrections, &headers, &changes, by).unwrap();
            (values[0].clone(), corrections.get("Surname").cloned())
        };
        assert_eq!(correct_to("Pugh"), ("Pugh".to_owned(), None));
        assert_eq!(correct_to("Puw"), ("Puw".to_owned(), Some(correction("Pugh", "Puw"))));
        assert_eq!(correct_to("Pughe"), ("Pughe".to_owned(), Some(correction("Pugh", "Pughe"))));
        assert_eq!(correct_to("Pugh"), ("Pugh".to_owned(), None));
        assert_eq!(values, ["Pugh", ""]);
    }

    #[test]
    fn correction_by_hand_replaces_that_of_a_header_with_another_spelling() {
        let mut corrections = BTreeMap::from([("Prénoms".to_owned(), correction("Evan", "Ifan"))]);
        let mut values = vec!["Ifan".to_owned()];
        let by = ("1000000005".parse().unwrap(), "2026-11-25T12:00:00.000000Z");
        let mut correct_to = |given: &str| {
            let changes = BTreeMap::from([("prenoms".to_owned(), given.to_owned())]);
            correct(&mut values, &mut corrections, &["PRENOMS".to_owned()], &changes, by).unwrap();
            corrections.clone()
        };
        assert_eq!(correct_to("Ieuan"), BTreeMap::from([("PRENOMS".to_owned(), correction("Evan", "Ieuan"))]));
        assert_eq!(correct_to("Evan"), BTreeMap::new());
    }

    #[test]
    fn correction_by_hand_of_an_unknown_column_changes_nothing() {
        let (mut values, mut corrections) = (vec!["Pugh".to_owned()], BTreeMap::new());
        let changes = ["Age", "Surname"].map(|header| (header.to_owned(), "x".to_owned()));
        let by = ("1000000005".parse().unwrap(), "");
        let refused =
            correct(&mut values, &mut corrections, &["Surname".to_owned()], &BTreeMap::from(changes), by).unwrap_err();
        assert_eq!((refused, values, corrections.len()), (vec!["Age".to_owned()], vec!["Pugh".to_owned()], 0));
    }

    #[test]
    fn correction_of_an_absent_column_is_kept_and_changes_nothing() {
        let corrections = BTreeMap::from([("Age".to_owned(), correction("1", "2"))]);
        let values = vec!["Pugh".to_owned()];
        let corrected = apply(&corrections, &["Surname".to_owned()], values.clone(), CorrectionsPolicy::Refuse);
        assert_eq!(corrected, Corrected { values, corrections, conflicts: Vec::new() });
    }

    #[test]
    fn correction_of_a_cell_that_a_short_row_lacks_compares_with_an_empty_cell() {
        let corrections = BTreeMap::from([("b".to_owned(), correction("", "2"))]);
        let headers = ["a", "b"].map(str::to_owned);
        let corrected = apply(&corrections, &headers, vec!["1".to_owned()], CorrectionsPolicy::Refuse);
        assert_eq!((corrected.values, corrected.conflicts.len()), (vec!["1".to_owned(), "2".to_owned()], 0));
    }
}
