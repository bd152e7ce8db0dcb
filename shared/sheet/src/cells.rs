//! The cells of a record.

/// A cell without its quotes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    pub text: String,
    /// How many line breaks of its record come before it.
    pub line: u64,
}

/// The cells of a record, at most so many, or what is wrong with it: completes "the record ...".
pub fn cells(record: &[u8], most: usize) -> Result<Vec<Cell>, String> {
    let text =
        std::str::from_utf8(record).map_err(|error| format!("is not UTF-8 from byte {} on", error.valid_up_to()))?;
    let (mut cells, mut rest, mut line) = (Vec::new(), text, 0);
    loop {
        let (text, after) = match rest.strip_prefix('"') {
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
        let breaks = text.bytes().filter(|byte| *byte == b'\n').count() as u64;
        // Each takes memory, an empty one, too.
        if cells.len() == most {
            return Err(format!("has more than {most} fields"));
        }
        cells.push(Cell { text, line });
        line += breaks;
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

    #[test]
    fn quotes_hold_commas_quotes_and_line_breaks() {
        let record = "1,\"a, \"\"b\"\"\",\"two\r\nlines\",é,";
        let found = cells(record.as_bytes(), 5).unwrap();
        let texts: Vec<_> = found.iter().map(|cell| cell.text.as_str()).collect();
        assert_eq!(texts, ["1", "a, \"b\"", "two\r\nlines", "é", ""]);
        assert_eq!(found.iter().map(|cell| cell.line).collect::<Vec<_>>(), [0, 0, 0, 1, 1]);
        assert_eq!(cells(b"", 1).unwrap().len(), 1);
        assert_eq!(cells(record.as_bytes(), 4).unwrap_err(), "has more than 4 fields");
    }

    #[test]
    fn a_record_is_exact_about_its_quotes() {
        for record in ["a\"b".as_bytes(), b"\"a\"b,c", b"\"open", b"\xff"] {
            assert!(cells(record, 9).is_err(), "{record:?}");
        }
    }
}
