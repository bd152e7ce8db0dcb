//! The cells of a record as text, and what is wrong with them.

use icu_normalizer::ComposingNormalizerBorrowed;

use super::problem::{Code, Column, Problem};
use super::row::Cell;
use super::scan::{Record, Scanned};
use super::{MAX_CELL_CHARS, MAX_COLUMNS, MAX_ROW_BYTES};

/// Returns the cells of a record with its errors: at most one of each code, so that a report of all problems stays
/// small. If there are errors, cells may be missing. Without columns the record is the header.
pub(super) fn read(record: &Record, columns: Option<&[Column]>) -> (Vec<Cell>, Vec<Problem>) {
    let normalizer = ComposingNormalizerBorrowed::new_nfc();
    let mut affected = [Code::BadQuote, Code::BadCharacter, Code::CellTooLong].map(Affected::new);
    let mut is_too_large = record.is_too_large;
    let (mut cells, mut bytes) = (Vec::new(), 0);
    for (index, (scanned, text)) in record.cells().enumerate() {
        let mut chars = scanned.chars;
        if !is_too_large {
            let text = normalizer.normalize(text).into_owned();
            chars = text.chars().count();
            bytes += text.len();
            is_too_large = bytes > MAX_ROW_BYTES;
            cells.push(Cell { text, line: scanned.line });
        }
        affected.iter_mut().for_each(|affected| affected.check(index, scanned, chars));
    }
    let mut problems: Vec<_> = affected.iter().filter_map(|affected| affected.problem(columns)).collect();
    if let Some((index, line)) = record.extra {
        problems.push(Problem::new(Code::LongRow, line, Some(Column::new(index, None)), long_row(columns)));
    }
    if is_too_large {
        let text = format!("The row has more than {} KB. Shorten its cells.", MAX_ROW_BYTES / 1024);
        problems.push(Problem::new(Code::RowTooLarge, record.line, None, text));
    }
    (cells, problems)
}

/// Returns the column with this index, which may be beyond the header.
pub(super) fn column(columns: Option<&[Column]>, index: usize) -> Column {
    columns.and_then(|columns| columns.get(index)).cloned().unwrap_or_else(|| Column::new(index, None))
}

fn long_row(columns: Option<&[Column]>) -> String {
    match columns {
        Some(columns) => format!(
            "The row has text in more cells than the header, which has {}. Quote cells that contain the delimiter, \
             or add a header.",
            columns.len()
        ),
        None => format!("The header has more than {MAX_COLUMNS} columns. Remove those that are not needed."),
    }
}

/// The cells of a row that have the same problem.
struct Affected {
    code: Code,
    /// The first cell with its index and its number of characters.
    first: Option<(usize, Scanned, usize)>,
    others: usize,
}

impl Affected {
    fn new(code: Code) -> Self {
        Self { code, first: None, others: 0 }
    }

    fn check(&mut self, index: usize, cell: Scanned, chars: usize) {
        let is_affected = match self.code {
            Code::BadQuote => cell.has_bad_quote,
            Code::BadCharacter => cell.has_nul,
            _ => chars > MAX_CELL_CHARS,
        };
        match self.first {
            _ if !is_affected => {}
            None => self.first = Some((index, cell, chars)),
            Some(_) => self.others += 1,
        }
    }

    fn problem(&self, columns: Option<&[Column]>) -> Option<Problem> {
        let (index, cell, chars) = self.first?;
        let (mut text, advice) = match self.code {
            Code::BadQuote => (
                "Text follows the closing quote of the cell.".to_owned(),
                "Write each quote inside a quoted cell twice.",
            ),
            Code::BadCharacter => {
                ("The cell contains the character NUL.".to_owned(), "Remove it, or save the file as UTF-8.")
            }
            _ => (format!("The cell has {chars} characters, more than {MAX_CELL_CHARS}."), "Shorten it."),
        };
        if cell.last_line > cell.line {
            text += &format!(" It extends to line {}, perhaps because of a missing quote.", cell.last_line);
        }
        text = format!("{text} {advice}");
        if self.others > 0 {
            text += &format!(" Other cells of the row with the same problem: {}.", self.others);
        }
        Some(Problem::new(self.code, cell.line, Some(column(columns, index)), text))
    }
}
