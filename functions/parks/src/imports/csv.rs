//! CSV (RFC 4180): records between line breaks, fields between commas, both of which may stand between quotes.

use super::rows::{Found, Place};

/// The columns that a file may have.
pub const COLUMNS: [&str; 7] =
    ["externalId", "type", "displayName", "description", "searchTerms", "longitude", "latitude"];

const REQUIRED: [&str; 2] = ["externalId", "displayName"];

/// Reads record after record.
#[derive(Debug)]
pub struct Csv {
    columns: Option<Vec<String>>,
    ended: bool,
    /// How much of the present record was scanned, and whether a quote was open there.
    scanned: usize,
    quoted: bool,
}

impl Csv {
    pub fn at(place: Place) -> Self {
        let ended = place == Place::End;
        let columns = match place {
            Place::Columns(columns) => Some(columns),
            _ => None,
        };
        Self { columns, ended, scanned: 0, quoted: false }
    }

    pub fn place(&self) -> Place {
        match &self.columns {
            _ if self.ended => Place::End,
            Some(columns) => Place::Columns(columns.clone()),
            None => Place::Start,
        }
    }

    pub fn columns(&self) -> &[String] {
        self.columns.as_deref().unwrap_or_default()
    }

    /// The record that begins here; its line break belongs to it.
    pub fn find(&mut self, rest: &[u8], at_end: bool) -> Found {
        let new = rest.get(self.scanned..).unwrap_or_default();
        let line_break = new.iter().position(|byte| {
            self.quoted ^= *byte == b'"';
            *byte == b'\n' && !self.quoted
        });
        let (end, taken) = match line_break {
            Some(at) => (self.scanned + at, self.scanned + at + 1),
            None if !at_end => {
                self.scanned = rest.len();
                return Found::More;
            }
            None if self.quoted => return Found::Broken("a quote is never closed".to_owned()),
            None if rest.is_empty() && self.columns.is_none() => {
                return Found::Broken("it has no header with the names of its columns".to_owned());
            }
            None if rest.is_empty() => {
                self.ended = true;
                return Found::End;
            }
            None => (rest.len(), rest.len()),
        };
        self.scanned = 0;
        let record = rest.get(..end).unwrap_or_default();
        let record = record.strip_suffix(b"\r").unwrap_or(record);
        match &self.columns {
            Some(_) if record.is_empty() => Found::Nothing(taken),
            Some(_) => Found::Row { begin: 0, end: record.len(), taken },
            None => match header(record) {
                Ok(columns) => {
                    self.columns = Some(columns);
                    Found::Nothing(taken)
                }
                Err(reason) => Found::Broken(reason),
            },
        }
    }

    /// Gives up what was scanned of a record that is too large.
    pub fn drop_scanned(&mut self) -> usize {
        std::mem::take(&mut self.scanned)
    }
}

fn header(record: &[u8]) -> Result<Vec<String>, String> {
    let columns = cells(record.strip_prefix("\u{feff}".as_bytes()).unwrap_or(record));
    let columns = columns.map_err(|reason| format!("its header {reason}"))?;
    let known = COLUMNS.join(", ");
    for (place, column) in columns.iter().enumerate() {
        let shown: String = column.chars().take(64).collect();
        if !COLUMNS.contains(&column.as_str()) {
            return Err(format!("it has the column `{shown}`; these are known: {known}"));
        }
        if columns.iter().take(place).any(|before| before == column) {
            return Err(format!("it has the column `{shown}` twice"));
        }
    }
    match REQUIRED.iter().find(|required| !columns.iter().any(|column| column == *required)) {
        Some(missing) => Err(format!("it has no column `{missing}`; these are known: {known}")),
        None => Ok(columns),
    }
}

/// The fields of a record.
pub fn cells(record: &[u8]) -> Result<Vec<String>, String> {
    let text =
        std::str::from_utf8(record).map_err(|error| format!("is not UTF-8 from byte {} on", error.valid_up_to()))?;
    let (mut cells, mut rest) = (Vec::new(), text);
    loop {
        let (cell, after) = match rest.strip_prefix('"') {
            Some(quoted) => unquoted(quoted)?,
            None => {
                let end = rest.find(',').unwrap_or(rest.len());
                let (cell, after) = rest.split_at(end);
                if cell.contains('"') {
                    return Err("has a quote in a field that does not begin with one".to_owned());
                }
                (cell.to_owned(), after)
            }
        };
        cells.push(cell);
        match after.strip_prefix(',') {
            Some(next) => rest = next,
            None if after.is_empty() => return Ok(cells),
            None => return Err("has text after a closing quote".to_owned()),
        }
    }
}

/// A field up to its closing quote, and what follows that.
fn unquoted(text: &str) -> Result<(String, &str), String> {
    let (mut cell, mut rest) = (String::new(), text);
    loop {
        let (before, after) = rest.split_once('"').ok_or("has a quote that is never closed")?;
        cell.push_str(before);
        match after.strip_prefix('"') {
            Some(more) => {
                cell.push('"');
                rest = more;
            }
            None => return Ok((cell, after)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The records of a file that comes in pieces of this size.
    fn records(file: &str, piece: usize) -> Result<Vec<Vec<String>>, String> {
        let (mut csv, mut from, mut to, mut records) = (Csv::at(Place::Start), 0, 0, Vec::new());
        loop {
            match csv.find(&file.as_bytes()[from..to], to == file.len()) {
                Found::Nothing(taken) => from += taken,
                Found::Row { begin, end, taken } => {
                    records.push(cells(&file.as_bytes()[from + begin..from + end])?);
                    from += taken;
                }
                Found::More => to = (to + piece).min(file.len()),
                Found::End => return Ok(records),
                Found::Broken(reason) => return Err(reason),
            }
        }
    }

    #[test]
    fn quotes_hold_commas_quotes_and_line_breaks() {
        let file =
            "\u{feff}externalId,displayName,description\r\n1,\"a, \"\"b\"\"\",\"two\r\nlines\"\r\n\r\n2,,é\n3,x,";
        for piece in 1..20 {
            let found = records(file, piece).unwrap();
            assert_eq!(found, [["1", "a, \"b\"", "two\r\nlines"], ["2", "", "é"], ["3", "x", ""]], "{piece}");
        }
    }

    #[test]
    fn a_file_without_the_right_header_is_refused() {
        for (file, told) in [
            ("", "no header"),
            ("externalId,name\n", "`name`"),
            ("externalId,externalId,displayName\n", "twice"),
            ("externalId\n1", "no column `displayName`"),
            ("externalId,displayName\n1,\"open", "never closed"),
        ] {
            let reason = records(file, 7).unwrap_err();
            assert!(reason.contains(told), "{file}: {reason}");
        }
    }

    #[test]
    fn a_record_is_exact_about_its_quotes() {
        assert!(cells(b"a\"b").is_err());
        assert!(cells(b"\"a\"b,c").is_err());
        assert!(cells(b"\xff").is_err());
        assert_eq!(cells(b"").unwrap(), [""]);
    }
}
