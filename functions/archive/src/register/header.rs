//! The headers of a file, and finding a column by its header.

use std::collections::HashMap;

use super::problem::{Code, Column, Problem, letter};
use super::row::Cell;
use crate::fold::{first, fold};

/// Characters of a name that a text repeats.
const MAX_SHOWN: usize = 100;

/// The first row of a file. Its names are distinct in case, accents and spaces aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    line: u64,
    names: Vec<String>,
    by_key: HashMap<String, usize>,
}

impl Header {
    /// Creates a header. A column without a name is called `Column C`, and the second column `Name` is called `Name
    /// (2)`, with a problem.
    pub(super) fn new(line: u64, cells: Vec<Cell>) -> (Self, Vec<Problem>) {
        let mut header = Self { line, names: Vec::with_capacity(cells.len()), by_key: HashMap::new() };
        let mut problems = Vec::new();
        for (index, cell) in cells.into_iter().enumerate() {
            let name = if cell.text.is_empty() { format!("Column {}", letter(index)) } else { cell.text };
            let (mut unique, mut number) = (name.clone(), 1);
            while header.by_key.contains_key(&key(&unique)) {
                number += 1;
                unique = format!("{name} ({number})");
            }
            if number > 1 {
                let shown = first(&name, MAX_SHOWN);
                let text = format!(
                    "An earlier column has the same header as `{shown}`. This one is called `{shown} ({number})`."
                );
                let column = Column::new(index, Some(&unique));
                problems.push(Problem::new(Code::DuplicateHeader, cell.line, Some(column), text));
            }
            header.by_key.insert(key(&unique), index);
            header.names.push(unique);
        }
        (header, problems)
    }

    /// Returns the line of the file on which the header begins.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Returns the names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the index of the column with this name in case, accents, spaces and punctuation aside.
    pub fn position(&self, name: &str) -> Option<usize> {
        self.by_key.get(&key(name)).copied()
    }

    /// Returns the column with this index, as problems name it.
    pub fn column(&self, index: usize) -> Column {
        Column::new(index, self.names.get(index).map(String::as_str))
    }

    /// Returns a problem for each of the mapped names that no column has.
    pub fn missing<'a>(&self, mapped: impl IntoIterator<Item = &'a str>) -> Vec<Problem> {
        let is_missing = |name: &&str| self.position(name).is_none();
        let missing = mapped.into_iter().filter(is_missing).map(|name| {
            let name = first(name, MAX_SHOWN);
            let text = format!(
                "The mapping uses the column `{name}`, and the file has no such column. Rename a column, or change the \
                 mapping."
            );
            Problem::new(Code::MissingColumn, self.line, None, text)
        });
        missing.collect()
    }
}

/// Returns what two headers that match have in common. Headers without letters and digits, such as `#`, match only
/// themselves.
fn key(name: &str) -> String {
    let folded = fold(name).replace(' ', "");
    if folded.is_empty() { name.trim().to_owned() } else { folded }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(names: &[&str]) -> (Header, Vec<Problem>) {
        Header::new(1, names.iter().map(|name| Cell { text: (*name).to_owned(), line: 1 }).collect())
    }

    #[test]
    fn column_is_found_without_case_accents_and_spaces() {
        let (header, problems) = header(&["House No.", "Prénoms", "#", "%"]);
        assert!(problems.is_empty());
        let found = ["houseno", "HOUSE  NO", "prenoms", "#", "%", "&", "House"].map(|name| header.position(name));
        assert_eq!(found, [Some(0), Some(0), Some(1), Some(2), Some(3), None, None]);
    }

    #[test]
    fn second_column_of_a_name_gets_a_number_and_a_warning() {
        let (header, problems) = header(&["Name", "NAME", "", "Name", "name (2)", "Column C"]);
        let names = ["Name", "NAME (2)", "Column C", "Name (3)", "name (2) (2)", "Column C (2)"];
        assert_eq!(header.names(), names);
        let positions: Vec<_> = names.iter().map(|name| header.position(name)).collect();
        assert_eq!(positions, (0..6).map(Some).collect::<Vec<_>>());
        let columns: Vec<_> = problems.iter().map(|problem| problem.column.as_ref().unwrap().letter.as_str()).collect();
        assert_eq!(columns, ["B", "D", "E", "F"]);
        assert!(problems.iter().all(|problem| problem.code == Code::DuplicateHeader));
        assert_eq!(problems[0].text, "An earlier column has the same header as `NAME`. This one is called `NAME (2)`.");
    }

    #[test]
    fn mapped_column_that_the_file_lacks_is_fatal() {
        let (header, _) = header(&["House", "Forenames"]);
        let missing = header.missing(["house", "Surname", "Born"]);
        assert_eq!(missing.len(), 2);
        assert!(missing[0].text.starts_with("The mapping uses the column `Surname`,"));
        assert_eq!((missing[0].code, missing[0].line), (Code::MissingColumn, 1));
    }
}
