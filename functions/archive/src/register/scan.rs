//! Splitting text that is read in pieces into records of cells.
//!
//! The crate `csv` accepts text after a closing quote and a quote that is never closed, and counts only `\n` as the end
//! of a line. Here the first two are problems at a line, and a line may also end with `\r`.

use super::delimiter::Delimiter;
use super::{MAX_COLUMNS, MAX_ROW_BYTES};

/// Whether the character is dropped at both ends of a cell: white space, a byte-order mark in the middle of joined
/// files, and the mark with which DOS ends a file.
fn is_blank(character: char) -> bool {
    character.is_whitespace() || matches!(character, '\u{feff}' | '\u{1a}')
}

/// Where in a record the scanner is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Within {
    /// At the start of a cell.
    Start,
    Plain,
    Quoted,
    /// After a quote in a quoted cell, which ends the cell unless another quote follows.
    Closing,
    /// After a quoted cell and blanks.
    Closed,
}

/// A cell of a record. Its text is in the record.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Scanned {
    start: usize,
    end: usize,
    pub line: u64,
    /// The line on which the cell ends.
    pub last_line: u64,
    /// The number of characters, without blanks around them.
    pub chars: usize,
    /// Whether text follows the closing quote.
    pub has_bad_quote: bool,
    pub has_nul: bool,
    /// The number and the bytes of the blanks after the text, which belong to it if more text follows.
    blanks: usize,
    blank_bytes: usize,
}

impl Scanned {
    fn is_empty(&self) -> bool {
        self.chars == 0 && !self.has_nul
    }
}

/// The cells between two line breaks.
#[derive(Debug)]
pub(super) struct Record {
    pub line: u64,
    /// The number of cells, also of those that are not kept.
    pub count: usize,
    /// Whether the cells have more bytes than a row may have. The text then lacks some of them.
    pub is_too_large: bool,
    /// The index and the line of the first cell beyond the kept ones that is not empty.
    pub extra: Option<(usize, u64)>,
    text: String,
    cells: Vec<Scanned>,
    bytes: usize,
}

impl Record {
    /// Returns the kept cells with their texts.
    pub fn cells(&self) -> impl Iterator<Item = (Scanned, &str)> {
        self.cells.iter().map(|cell| (*cell, self.text.get(cell.start..cell.end).unwrap_or_default()))
    }

    /// Whether all cells are empty.
    pub fn is_blank(&self) -> bool {
        self.extra.is_none() && self.cells.iter().all(Scanned::is_empty)
    }

    /// Whether the record has only characters that delimit cells, perhaps in a file with another delimiter.
    pub fn has_only_delimiters(&self) -> bool {
        let is_delimiter = |character| Delimiter::ALL.iter().any(|delimiter| delimiter.character() == character);
        let is_ignored = |character| is_delimiter(character) || is_blank(character);
        self.extra.is_none() && self.cells().all(|(cell, text)| !cell.has_nul && text.chars().all(is_ignored))
    }

    /// Whether this is a line like `sep=;`, with which files for Excel begin. It is split at its last character or not,
    /// and says nothing that the header does not.
    pub fn is_delimiter_line(&self) -> bool {
        let mut texts = self.cells().map(|(_, text)| text);
        let Some((name, named)) = texts.next().and_then(|text| text.split_at_checked("sep=".len())) else {
            return false;
        };
        let is_named = match self.count {
            1 => Delimiter::ALL.iter().any(|delimiter| named.chars().eq([delimiter.character()])),
            2 => named.is_empty() && texts.all(str::is_empty),
            _ => false,
        };
        is_named && name.eq_ignore_ascii_case("sep=")
    }

    fn clear(&mut self, line: u64) {
        (self.line, self.count, self.bytes) = (line, 0, 0);
        (self.is_too_large, self.extra) = (false, None);
        self.text.clear();
        self.cells.clear();
    }
}

/// What the end of a file is for its last record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The file has no record after the last line break.
    Nothing,
    /// The last record has no line break.
    Record,
    /// A quoted cell, with its index and the line of its quote, is not closed.
    Unclosed { index: usize, line: u64 },
}

/// A scanner that holds one record, and of that no more than a row may have.
pub(super) struct Scanner {
    delimiter: u8,
    /// The number of cells that are kept.
    width: usize,
    within: Within,
    /// Whether the last character was `\r`, so that `\n` would be the second half of its line break.
    is_after_return: bool,
    line: u64,
    is_complete: bool,
    record: Record,
    cell: Scanned,
}

impl Scanner {
    pub fn new(delimiter: Delimiter) -> Self {
        let record = Record {
            line: 1,
            count: 0,
            is_too_large: false,
            extra: None,
            text: String::with_capacity(MAX_ROW_BYTES),
            cells: Vec::with_capacity(MAX_COLUMNS),
            bytes: 0,
        };
        Self {
            // All delimiters are ASCII.
            delimiter: delimiter.character() as u8,
            width: MAX_COLUMNS,
            within: Within::Start,
            is_after_return: false,
            line: 1,
            is_complete: false,
            record,
            cell: Scanned { line: 1, ..Scanned::default() },
        }
    }

    /// Sets the number of cells that are kept of each further record.
    pub fn set_width(&mut self, width: usize) {
        self.width = width.min(MAX_COLUMNS);
    }

    /// Returns the line of the next character.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Returns the record that the last call has completed.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Returns the bytes that the scanner holds.
    #[cfg(test)]
    pub fn buffered(&self) -> usize {
        self.record.text.capacity() + self.record.cells.capacity() * size_of::<Scanned>()
    }

    /// Reads up to the end of a record. Returns the number of bytes read, and whether a record is complete.
    pub fn scan(&mut self, text: &str) -> (usize, bool) {
        if std::mem::take(&mut self.is_complete) {
            self.record.clear(self.line);
            self.cell = Scanned { line: self.line, ..Scanned::default() };
        }
        let mut read = 0;
        while let Some(byte) = text.as_bytes().get(read).copied() {
            if std::mem::take(&mut self.is_after_return) && byte == b'\n' {
                read += 1;
                continue;
            }
            let rest = text.get(read..).unwrap_or_default();
            let plain = rest.bytes().position(|byte| self.is_special(byte)).unwrap_or(rest.len());
            if let Some(plain) = rest.get(..plain).filter(|plain| !plain.is_empty()) {
                self.take_plain(plain);
                read += plain.len();
                continue;
            }
            read += 1;
            if self.take_special(byte) {
                self.is_complete = true;
                return (read, true);
            }
        }
        (read, false)
    }

    /// Ends the file.
    pub fn end(&mut self) -> End {
        if self.is_complete || self.within == Within::Start && self.record.count == 0 {
            return End::Nothing;
        }
        if self.within == Within::Quoted {
            return End::Unclosed { index: self.record.count, line: self.cell.line };
        }
        self.end_cell();
        self.is_complete = true;
        End::Record
    }

    fn is_special(&self, byte: u8) -> bool {
        matches!(byte, b'"' | b'\r' | b'\n' | 0) || byte == self.delimiter && self.within != Within::Quoted
    }

    fn take_plain(&mut self, text: &str) {
        match self.within {
            Within::Closing | Within::Closed if text.chars().all(is_blank) => {
                self.within = Within::Closed;
                return;
            }
            Within::Closing | Within::Closed => {
                self.cell.has_bad_quote = true;
                self.within = Within::Plain;
            }
            Within::Start => self.within = Within::Plain,
            Within::Plain | Within::Quoted => {}
        }
        self.append(text);
    }

    /// Returns whether the character ends the record.
    fn take_special(&mut self, byte: u8) -> bool {
        match (self.within, byte) {
            (_, b'\r' | b'\n') => {
                let ends_record = self.within != Within::Quoted;
                if ends_record {
                    self.end_cell();
                } else {
                    self.append("\n");
                }
                self.line += 1;
                self.is_after_return = byte == b'\r';
                return ends_record;
            }
            (_, 0) => {
                self.cell.has_nul = true;
                if self.within == Within::Start {
                    self.within = Within::Plain;
                }
            }
            (Within::Start, b'"') => self.within = Within::Quoted,
            (Within::Quoted, b'"') => self.within = Within::Closing,
            (Within::Closing, b'"') => {
                self.append("\"");
                self.within = Within::Quoted;
            }
            (Within::Closed, b'"') => {
                self.cell.has_bad_quote = true;
                self.append("\"");
                self.within = Within::Plain;
            }
            (Within::Plain, b'"') => self.append("\""),
            _ => self.end_cell(),
        }
        false
    }

    fn append(&mut self, text: &str) {
        let (cell, record) = (&mut self.cell, &mut self.record);
        let text = if cell.chars == 0 { text.trim_start_matches(is_blank) } else { text };
        let content = text.trim_end_matches(is_blank);
        let blanks = text.get(content.len()..).unwrap_or_default();
        let is_kept = record.count < self.width;
        if !content.is_empty() {
            cell.chars += cell.blanks + content.chars().count();
            record.bytes += cell.blank_bytes + content.len();
            (cell.blanks, cell.blank_bytes) = (0, 0);
            record.is_too_large |= record.bytes > MAX_ROW_BYTES;
            if is_kept && !record.is_too_large {
                record.text.push_str(content);
                cell.end = record.text.len();
            }
        }
        cell.blanks += blanks.chars().count();
        cell.blank_bytes += blanks.len();
        // Blanks that do not fit make the row too large as soon as text follows them.
        if is_kept && !record.is_too_large && record.text.len() + blanks.len() <= MAX_ROW_BYTES {
            record.text.push_str(blanks);
        }
    }

    fn end_cell(&mut self) {
        let (cell, record) = (&mut self.cell, &mut self.record);
        cell.last_line = self.line;
        if record.count < self.width {
            cell.end = cell.end.max(cell.start);
            record.text.truncate(cell.end);
            record.cells.push(*cell);
        } else if record.extra.is_none() && !cell.is_empty() {
            record.extra = Some((record.count, cell.line));
        }
        record.count += 1;
        let start = record.text.len();
        *cell = Scanned { start, end: start, line: self.line, ..Scanned::default() };
        self.within = Within::Start;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the cells of each record that is not blank, read in pieces of this number of characters.
    fn scanned(file: &str, piece: usize) -> (Vec<(u64, Vec<String>)>, End) {
        let mut scanner = Scanner::new(Delimiter::Comma);
        let mut records = Vec::new();
        let cells = |record: &Record| (record.line, record.cells().map(|(_, text)| text.to_owned()).collect());
        let characters: Vec<char> = file.chars().collect();
        for text in characters.chunks(piece).map(|characters| characters.iter().collect::<String>()) {
            let mut rest = text.as_str();
            while let (read, true) = scanner.scan(rest) {
                rest = rest.get(read..).unwrap();
                records.push(cells(scanner.record()));
            }
        }
        let end = scanner.end();
        if end == End::Record {
            records.push(cells(scanner.record()));
        }
        (records, end)
    }

    fn check(file: &str, expected: &[(u64, &[&str])], end: End) {
        for piece in 1..=file.len() {
            let (records, ended) = scanned(file, piece);
            let records: Vec<(u64, Vec<&str>)> =
                records.iter().map(|(line, cells)| (*line, cells.iter().map(String::as_str).collect())).collect();
            let expected: Vec<_> = expected.iter().map(|(line, cells)| (*line, cells.to_vec())).collect();
            assert_eq!((records, ended), (expected, end), "{file:?} in pieces of {piece}");
        }
    }

    #[test]
    fn lines_may_end_in_three_ways() {
        check("a\nb\r\nc\rd", &[(1, &["a"]), (2, &["b"]), (3, &["c"]), (4, &["d"])], End::Record);
        check("a\n\r\n\rb\r", &[(1, &["a"]), (2, &[""]), (3, &[""]), (4, &["b"])], End::Nothing);
    }

    #[test]
    fn quotes_are_those_of_rfc_4180() {
        check("\"a, \"\"b\"\"\",\"\",c", &[(1, &["a, \"b\"", "", "c"])], End::Record);
        check("\"a\r\nb\rc\n\",d\ne", &[(1, &["a\nb\nc", "d"]), (5, &["e"])], End::Record);
        check("5\" pipe,6\"\n \"a\",\"b\" ,c", &[(1, &["5\" pipe", "6\""]), (2, &["\"a\"", "b", "c"])], End::Record);
        check("a\n\n,\"b\nc", &[(1, &["a"]), (2, &[""])], End::Unclosed { index: 1, line: 3 });
        check("\"a\"", &[(1, &["a"])], End::Record);
    }

    #[test]
    fn text_after_closing_quote_is_kept_and_marked() {
        check("\"a\"b\",c\n\"d\" \"e\"", &[(1, &["ab\"", "c"]), (2, &["d\"e\""])], End::Record);
        let mut scanner = Scanner::new(Delimiter::Comma);
        scanner.scan("\"a\"b,\"c\" ,\"d\" \"\n");
        let marked: Vec<_> = scanner.record().cells().map(|(cell, _)| cell.has_bad_quote).collect();
        assert_eq!(marked, [true, false, true]);
    }

    #[test]
    fn blanks_around_cells_are_dropped_and_not_counted() {
        check(" a  b ,\u{a0}\u{3000},\" c\n \",\u{feff}d\u{1a}\n", &[(1, &["a  b", "", "c", "d"])], End::Nothing);
        let mut scanner = Scanner::new(Delimiter::Comma);
        scanner.scan(&format!("{0}a{0}é{0},b\n", " ".repeat(MAX_ROW_BYTES / 2 - 10)));
        let record = scanner.record();
        let chars: Vec<_> = record.cells().map(|(cell, text)| (cell.chars, text.len())).collect();
        assert_eq!(chars, [(MAX_ROW_BYTES / 2 - 8, MAX_ROW_BYTES / 2 - 7), (1, 1)]);
        assert!(!record.is_too_large);
    }

    #[test]
    fn row_is_too_large_from_one_byte_more_than_allowed() {
        for (bytes, is_too_large) in [(MAX_ROW_BYTES, false), (MAX_ROW_BYTES + 1, true)] {
            let mut scanner = Scanner::new(Delimiter::Comma);
            scanner.scan(&format!(
                "a,{} {} \n",
                "b".repeat(MAX_ROW_BYTES / 2),
                "c".repeat(bytes - MAX_ROW_BYTES / 2 - 2)
            ));
            assert_eq!(scanner.record().is_too_large, is_too_large);
        }
    }

    #[test]
    fn line_that_names_the_delimiter_is_recognized() {
        for (line, is_one) in [
            ("sep=,\n", true),
            ("SEP=;\n", true),
            ("\"sep=;\"\n", true),
            ("sep=,a\n", false),
            ("sep=,,\n", false),
            ("a\n", false),
        ] {
            let mut scanner = Scanner::new(Delimiter::Comma);
            scanner.scan(line);
            assert_eq!(scanner.record().is_delimiter_line(), is_one, "{line}");
        }
    }

    proptest::proptest! {
        #[test]
        fn file_with_good_quotes_is_split_as_by_the_csv_crate(file in "[aé,\"\r\n ]{0,30}") {
            let mut scanner = Scanner::new(Delimiter::Comma);
            let (mut records, mut rest, mut is_good) = (Vec::new(), file.as_str(), true);
            let mut take = |record: &Record| {
                is_good &= record.cells().all(|(cell, _)| !cell.has_bad_quote);
                records.push(record.cells().map(|(_, text)| text.to_owned()).collect::<Vec<_>>());
            };
            while let (read, true) = scanner.scan(rest) {
                take(scanner.record());
                rest = rest.get(read..).unwrap();
            }
            let end = scanner.end();
            if end == End::Record {
                take(scanner.record());
            }
            // More than half of the files are good.
            if !is_good || matches!(end, End::Unclosed { .. }) {
                return Ok(());
            }
            let reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(file.as_bytes());
            let expected = reader.into_records().map(|record| {
                let record = record.unwrap();
                record.iter().map(|cell| cell.replace("\r\n", "\n").replace('\r', "\n").trim().to_owned()).collect()
            });
            let is_text = |record: &Vec<String>| record.iter().any(|cell| !cell.is_empty());
            records.retain(is_text);
            proptest::prop_assert_eq!(records, expected.filter(is_text).collect::<Vec<_>>());
        }

        #[test]
        fn line_of_a_record_counts_the_line_breaks_before_it(file in "[a,\"\r\n]{0,30}") {
            let mut scanner = Scanner::new(Delimiter::Comma);
            let mut rest = file.as_str();
            while let (read, true) = scanner.scan(rest) {
                rest = rest.get(read..).unwrap();
                let before = file.get(..file.len() - rest.len()).unwrap().replace("\r\n", "\n");
                let breaks = before.chars().filter(|character| matches!(character, '\r' | '\n')).count();
                proptest::prop_assert_eq!(scanner.line(), 1 + breaks as u64);
            }
        }
    }
}
