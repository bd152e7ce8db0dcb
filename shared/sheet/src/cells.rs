//! Splitting a record into its cells.

use crate::Format;

/// A cell without its quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    pub text: String,
    /// The number of line breaks in the record before the cell.
    pub line: u64,
}

impl Format {
    /// Splits a record into at most `limit` cells. The error completes a sentence that starts with "the record".
    pub fn cells(self, record: &[u8], limit: usize) -> Result<Vec<Cell>, String> {
        split(&self.decode(record)?, self, limit)
    }
}

fn split(text: &str, format: Format, limit: usize) -> Result<Vec<Cell>, String> {
    let delimiter = char::from(format.delimiter());
    let (mut cells, mut rest, mut line) = (Vec::new(), text, 0);
    loop {
        let (text, after) = match rest.strip_prefix('"') {
            Some(quoted) => unquoted(quoted)?,
            None => {
                let end = rest.find(delimiter).unwrap_or(rest.len());
                let (cell, after) = rest.split_at(end);
                if cell.contains('"') {
                    return Err("has a quote in a field that does not start with one".to_owned());
                }
                (cell.to_owned(), after)
            }
        };
        let breaks = text.bytes().filter(|byte| *byte == format.line_end()).count() as u64;
        // Even an empty cell takes memory, so their number is limited.
        if cells.len() == limit {
            return Err(format!("has more than {limit} fields"));
        }
        cells.push(Cell { text, line });
        line += breaks;
        match after.strip_prefix(delimiter) {
            Some(next) => rest = next,
            None if after.is_empty() => return Ok(cells),
            None => return Err("has text after a closing quote".to_owned()),
        }
    }
}

/// Reads a field up to its closing quote. Returns it with the rest of the record.
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

    fn cells(record: &[u8], limit: usize) -> Result<Vec<Cell>, String> {
        Format::default().cells(record, limit)
    }

    #[test]
    fn quoted_field_may_contain_commas_quotes_and_line_breaks() {
        let record = "1,\"a, \"\"b\"\"\",\"two\r\nlines\",é,";
        let found = cells(record.as_bytes(), 5).unwrap();
        let texts: Vec<_> = found.iter().map(|cell| cell.text.as_str()).collect();
        assert_eq!(texts, ["1", "a, \"b\"", "two\r\nlines", "é", ""]);
        assert_eq!(found.iter().map(|cell| cell.line).collect::<Vec<_>>(), [0, 0, 0, 1, 1]);
        assert_eq!(cells(b"", 1).unwrap().len(), 1);
        assert_eq!(cells(record.as_bytes(), 4).unwrap_err(), "has more than 4 fields");
    }

    #[test]
    fn record_with_invalid_quotes_is_an_error() {
        for record in ["a\"b".as_bytes(), b"\"a\"b,c", b"\"open", b"\xff"] {
            assert!(cells(record, 9).is_err(), "{record:?}");
        }
    }
}
