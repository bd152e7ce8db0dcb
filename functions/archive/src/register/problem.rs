//! What is wrong with a file, at a line and a column.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::fold::first;

/// Characters of a header that a problem repeats.
const MAX_HEADER_SHOWN: usize = 100;

/// The effect of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = FileProblemSeverity)]
pub enum Severity {
    /// The row is published all the same.
    Warning,
    /// The row is not published.
    Error,
    /// No row of the file is published.
    Fatal,
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $severity:ident;)+) => {
        /// The kind of a problem.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema)]
        #[serde(rename_all = "kebab-case")]
        #[schema(as = FileProblemCode)]
        pub enum Code {$(
            $(#[$doc])*
            $name,
        )+}

        impl Code {
            #[cfg(test)]
            const ALL: &'static [Self] = &[$(Self::$name,)+];

            /// Returns the code as it is written in reports, such as `short-row`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $code,)+
                }
            }

            /// Returns the severity of problems with this code in a data row.
            pub fn severity(self) -> Severity {
                match self {
                    $(Self::$name => Severity::$severity,)+
                }
            }
        }
    };
}

codes! {
    /// The file has no data rows.
    NoRows = "no-rows", Fatal;
    /// The file has more than 100 000 data rows.
    TooManyRows = "too-many-rows", Fatal;
    /// The mapping names a column that the file does not have.
    MissingColumn = "missing-column", Fatal;
    /// The file ends inside a quoted cell.
    UnclosedQuote = "unclosed-quote", Fatal;
    /// Some bytes mean nothing in the encoding of the file.
    Undecodable = "undecodable", Fatal;

    /// A row has text in more cells than the header, or the header in more than 100.
    LongRow = "long-row", Error;
    /// Text follows the closing quote of a cell.
    BadQuote = "bad-quote", Error;
    /// A cell contains the character NUL.
    BadCharacter = "bad-character", Error;
    /// A cell has more than 10 000 characters.
    CellTooLong = "cell-too-long", Error;
    /// A row has more than 32 KB.
    RowTooLarge = "row-too-large", Error;
    /// The number of a household has more than 120 characters.
    HouseholdTooLong = "household-too-long", Error;
    /// A household has more than 1 000 members.
    HouseholdTooLarge = "household-too-large", Error;
    /// The file has a new text for a cell that was corrected by hand.
    CorrectionConflict = "correction-conflict", Error;

    /// A row has fewer cells than the header.
    ShortRow = "short-row", Warning;
    /// No person of a row has a name.
    NoName = "no-name", Warning;
    /// A date is kept as text only.
    DateNotUnderstood = "date-not-understood", Warning;
    /// A place is kept as text only.
    PlaceNotFound = "place-not-found", Warning;
    /// An earlier row has the same cells.
    DuplicateRow = "duplicate-row", Warning;
    /// An earlier column has the same header.
    DuplicateHeader = "duplicate-header", Warning;
    /// Some columns of the household are blank, and others are not: the row is in no household.
    HouseholdIncomplete = "household-incomplete", Warning;
    /// Rows of other households are between those of a household.
    HouseholdNotAdjacent = "household-not-adjacent", Warning;
    /// The row is left out, since it is matched with a record that an editor has taken down.
    TakenDown = "taken-down", Warning;
    /// The file has more distinct places than are resolved.
    TooManyPlaces = "too-many-places", Warning;
}

impl fmt::Display for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// A column, as a spreadsheet and as the header call it. Its text is both, such as `G Birthplace`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = FileProblemColumn)]
pub struct Column {
    /// `A` for the first column, `AA` after `Z`.
    pub letter: String,
    /// At most the first 100 characters of the header. Absent beyond the last header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub header: Option<String>,
}

impl Column {
    /// Creates the column with this index, from 0.
    pub fn new(index: usize, header: Option<&str>) -> Self {
        Self { letter: letter(index), header: header.map(|header| first(header, MAX_HEADER_SHOWN).to_owned()) }
    }
}

impl fmt::Display for Column {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.letter)?;
        self.header.iter().try_for_each(|header| write!(formatter, " {header}"))
    }
}

/// Returns the letters of a column, by which spreadsheets call it.
pub(super) fn letter(index: usize) -> String {
    let mut letters = Vec::new();
    let mut rest = Some(index);
    while let Some(number) = rest {
        letters.push(char::from(b'A' + (number % 26) as u8));
        rest = (number / 26).checked_sub(1);
    }
    letters.iter().rev().collect()
}

/// A thing that is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = FileProblem)]
pub struct Problem {
    /// The line of the file on which the cell begins, from 1.
    pub line: u64,
    /// Absent for a problem of the whole row or file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub column: Option<Column>,
    pub code: Code,
    pub severity: Severity,
    /// What is wrong, and what to do.
    pub text: String,
}

impl Problem {
    /// Creates a problem with the severity of its code.
    pub fn new(code: Code, line: u64, column: Option<Column>, text: impl Into<String>) -> Self {
        Self { line, column, code, severity: code.severity(), text: text.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_have_the_letters_of_spreadsheets() {
        for (index, letters) in [(0, "A"), (25, "Z"), (26, "AA"), (99, "CV"), (701, "ZZ"), (702, "AAA")] {
            assert_eq!(letter(index), letters);
        }
        assert_eq!(letter(usize::MAX).len(), 14);
        assert_eq!(Column::new(6, Some("Birthplace")).to_string(), "G Birthplace");
        assert_eq!(Column::new(7, None).to_string(), "H");
        assert_eq!(Column::new(0, Some(&"é".repeat(200))).to_string().chars().count(), 102);
    }

    #[test]
    fn code_is_stored_as_it_is_written_in_reports() {
        for code in Code::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), code.name());
        }
    }
}
