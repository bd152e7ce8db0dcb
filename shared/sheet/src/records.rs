//! Splitting a file into records at line breaks, except those between quotes.

use crate::Format;
use crate::format::MARK;

/// A reader that finds the records of a file that is read in pieces.
#[derive(Clone, Debug, Default)]
pub struct Records {
    format: Format,
    /// The number of bytes of the present record that were scanned, and the position after them.
    scanned: usize,
    within: Within,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Within {
    /// At the start of a field.
    #[default]
    Start,
    Plain,
    Quoted,
    /// After a quote in a quoted field, which ends the field unless another quote follows.
    Closing,
}

impl Within {
    /// Returns the position after this byte. Only a quote at the start of a field may enclose line breaks, so that a
    /// stray quote affects only its own record.
    fn after(self, byte: u8, delimiter: u8, line_end: u8) -> Self {
        match (self, byte) {
            (Self::Start | Self::Closing, b'"') => Self::Quoted,
            (Self::Quoted, b'"') => Self::Closing,
            (Self::Quoted, _) => Self::Quoted,
            (_, byte) if byte == line_end || byte == delimiter => Self::Start,
            // A byte-order mark may precede the first field.
            (Self::Start, MARK | 0xbb | 0xbf) => Self::Start,
            _ => Self::Plain,
        }
    }
}

/// The result of looking for a record at the start of the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// A record of `end` bytes, or `taken` bytes with its line break. Empty lines are empty records.
    Record {
        end: usize,
        taken: usize,
    },
    /// The record is longer than the buffer.
    More,
    End,
    /// The file ends between quotes.
    Unclosed,
}

impl Records {
    pub fn of(format: Format) -> Self {
        Self { format, ..Self::default() }
    }

    /// Finds the record at the start of the buffer. `at_end` says that the buffer is the rest of the file.
    pub fn find(&mut self, rest: &[u8], at_end: bool) -> Found {
        let new = rest.get(self.scanned..).unwrap_or_default();
        let (width, delimiter, line_end) = (self.format.width(), self.format.delimiter(), self.format.line_end());
        let line_break = self.format.units(new).position(|unit| {
            self.within = self.within.after(unit, delimiter, line_end);
            unit == line_end && self.within == Within::Start
        });
        let (end, taken) = match line_break {
            Some(at) => (self.scanned + at * width, self.scanned + (at + 1) * width),
            None if !at_end => {
                self.scanned = rest.len() - rest.len() % width;
                return Found::More;
            }
            None if self.within == Within::Quoted => return Found::Unclosed,
            None if rest.is_empty() => return Found::End,
            None => (rest.len(), rest.len()),
        };
        *self = Self::of(self.format);
        let last = end.checked_sub(width).and_then(|last| self.format.units(rest.get(last..end)?).next());
        let carriage_return = line_break.is_some() && last == Some(b'\r');
        Found::Record { end: if carriage_return { end - width } else { end }, taken }
    }

    /// Skips the scanned part of a record that is too large. Returns the number of bytes that may be dropped.
    pub fn drop_scanned(&mut self) -> usize {
        std::mem::take(&mut self.scanned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the records of a file that is read in pieces of this size.
    fn records(file: &str, piece: usize) -> Option<Vec<&str>> {
        let (mut records, mut from, mut to, mut all) = (Records::default(), 0, 0, Vec::new());
        loop {
            match records.find(&file.as_bytes()[from..to], to == file.len()) {
                Found::Record { end, taken } => {
                    all.push(file.get(from..from + end).unwrap());
                    from += taken;
                }
                Found::More => to = (to + piece).min(file.len()),
                Found::End => return Some(all),
                Found::Unclosed => return None,
            }
        }
    }

    #[test]
    fn line_break_between_quotes_does_not_end_the_record() {
        let file = "a,b\r\n1,\"two\r\nlines\"\n\n2,x";
        for piece in 1..20 {
            assert_eq!(records(file, piece).unwrap(), ["a,b", "1,\"two\r\nlines\"", "", "2,x"], "{piece}");
            assert_eq!(records("a\n\"b", piece), None);
            assert_eq!(records("\u{feff}\"a\n\"\nb", piece).unwrap(), ["\u{feff}\"a\n\"", "b"]);
            assert_eq!(
                records("5\" pipe,1\n\"a\"\"\n\",6\"\nb", piece).unwrap(),
                ["5\" pipe,1", "\"a\"\"\n\",6\"", "b"]
            );
            assert_eq!(records("", piece).unwrap(), [""; 0]);
        }
    }

    #[test]
    fn carriage_return_ends_the_records_of_its_format() {
        let file = b"a;b\r\"1\r2\";x\r\ry;\"3\n4\"";
        let format = Format::of(file, true);
        let (mut records, mut rest, mut all) = (Records::of(format), &file[..], Vec::new());
        while let Found::Record { end, taken } = records.find(rest, true) {
            all.push(format.cells(&rest[..end], 2).unwrap().into_iter().map(|cell| cell.text).collect::<Vec<_>>());
            rest = &rest[taken..];
        }
        assert_eq!(all, [vec!["a", "b"], vec!["1\r2", "x"], vec![""], vec!["y", "3\n4"]]);
    }

    #[test]
    fn record_of_a_wide_encoding_ends_at_its_line_break() {
        let file: Vec<u8> = "\u{feff}a\tb\r\n\"1\n2\"\tx\r\ny".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let format = Format::of(&file, true);
        for piece in 1..20 {
            let (mut records, mut from, mut to, mut all) = (Records::of(format), 0, 0, Vec::new());
            loop {
                match records.find(&file[from..to], to == file.len()) {
                    Found::Record { end, taken } => {
                        let record = format.without_mark(&file[from..from + end]);
                        all.push(
                            format.cells(record, 2).unwrap().into_iter().map(|cell| cell.text).collect::<Vec<_>>(),
                        );
                        from += taken;
                    }
                    Found::More => to = (to + piece).min(file.len()),
                    Found::End => break,
                    Found::Unclosed => panic!("{piece}"),
                }
            }
            assert_eq!(all, [vec!["a", "b"], vec!["1\n2", "x"], vec!["y"]], "{piece}");
        }
    }
}
