//! Reading a file in pieces, as a sequence of events.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::cells::{column, read};
use super::delimiter::Delimiter;
use super::encoding::{Decoded, Decoder, Encoding};
use super::header::Header;
use super::problem::{Code, Column, Problem, Severity};
use super::row::{Cell, Row};
use super::scan::{End, Scanner};
use super::{MAX_COLUMNS, MAX_ROW_BYTES, MAX_ROWS};

/// Bytes of text that are decoded at once.
const DECODED_BYTES: usize = 8 * 1024;

/// The bytes that a [`Reader`] holds at most, whatever the file is. That is the decoded text, a row, and the same row
/// as an event.
pub const MAX_BUFFERED: usize = DECODED_BYTES + 2 * MAX_ROW_BYTES + MAX_COLUMNS * 512;

/// How a file is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Format {
    pub encoding: Encoding,
    pub delimiter: Delimiter,
}

/// What a reader finds, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The first row that is not empty. It comes before all rows.
    Header(Header),
    /// A row without errors.
    Row(Row),
    /// A row with errors, which the events before it describe.
    BadRow { number: u32, line: u64 },
    /// A problem. Nothing follows a fatal one.
    Problem(Problem),
}

/// A reader of a file that is handed over in pieces. It holds at most [`MAX_BUFFERED`] bytes of the file.
pub struct Reader {
    format: Format,
    decoder: Decoder,
    /// Decoded text, and the bytes of it that were scanned.
    text: String,
    scanned: usize,
    decoded: Decoded,
    scanner: Scanner,
    /// The columns by name, once the header was read.
    columns: Option<Vec<Column>>,
    header_line: u64,
    rows: u32,
    /// The events of one record.
    events: VecDeque<Event>,
    is_done: bool,
}

impl Reader {
    /// Creates a reader of one file.
    pub fn new(format: Format) -> Self {
        Self {
            format,
            decoder: Decoder::new(format.encoding),
            text: String::with_capacity(DECODED_BYTES),
            scanned: 0,
            decoded: Decoded::Input,
            scanner: Scanner::new(format.delimiter),
            columns: None,
            header_line: 1,
            rows: 0,
            events: VecDeque::new(),
            is_done: false,
        }
    }

    /// Returns the next event, and removes the bytes that were read for it from the input. `is_last` says that the file
    /// ends with this input. None asks for the next piece of the file, or is the end of the last.
    pub fn next(&mut self, input: &mut &[u8], is_last: bool) -> Option<Event> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some(event);
            }
            if self.is_done {
                return None;
            }
            let (read, is_complete) = self.scanner.scan(self.text.get(self.scanned..).unwrap_or_default());
            self.scanned += read;
            if is_complete {
                self.take_record();
                continue;
            }
            if self.decoded == Decoded::Malformed {
                self.fail(Code::Undecodable, self.scanner.line(), None, self.format.encoding.undecodable());
                continue;
            }
            if self.decoded == Decoded::Input && input.is_empty() {
                if !is_last {
                    return None;
                }
                // The decoder may still hold the first half of a character.
                self.decode(input, true);
                if self.decoded == Decoded::Input && self.text.is_empty() {
                    self.end();
                }
                continue;
            }
            self.decode(input, is_last);
        }
    }

    fn decode(&mut self, input: &mut &[u8], is_last: bool) {
        self.text.clear();
        self.scanned = 0;
        self.decoded = self.decoder.decode(input, is_last, &mut self.text);
    }

    fn end(&mut self) {
        match self.scanner.end() {
            End::Nothing => {}
            End::Record => self.take_record(),
            End::Unclosed { index, line } => {
                let text = "The quote that opens this cell is never closed, so the cell has the rest of the file.";
                let text = format!("{text} Close the quote or remove it.");
                let column = Some(column(self.columns.as_deref(), index));
                return self.fail(Code::UnclosedQuote, line, column, text);
            }
        }
        if !self.is_done && self.rows == 0 {
            let text =
                if self.columns.is_some() { "The file has no rows below its header." } else { "The file is empty." };
            self.fail(Code::NoRows, self.header_line, None, text.to_owned());
        }
        self.is_done = true;
    }

    fn fail(&mut self, code: Code, line: u64, column: Option<Column>, text: String) {
        let problem = Problem { severity: Severity::Fatal, ..Problem::new(code, line, column, text) };
        self.events.push_back(Event::Problem(problem));
        self.is_done = true;
    }

    fn take_record(&mut self) {
        let record = self.scanner.record();
        if record.is_blank() || self.columns.is_none() && record.is_delimiter_line() {
            return;
        }
        match self.columns.take() {
            None => self.take_header(),
            Some(columns) => {
                self.take_row(&columns);
                self.columns = Some(columns);
            }
        }
    }

    /// Takes the header. Its errors are fatal, because they could assign every cell to a wrong column.
    fn take_header(&mut self) {
        let record = self.scanner.record();
        self.header_line = record.line;
        let (mut cells, problems) = read(record, None);
        if !problems.is_empty() {
            let fatal = problems.into_iter().map(|problem| Problem { severity: Severity::Fatal, ..problem });
            self.events.extend(fatal.map(Event::Problem));
            self.is_done = true;
            return;
        }
        while cells.last().is_some_and(|cell| cell.text.is_empty()) {
            cells.pop();
        }
        let (header, duplicates) = Header::new(record.line, cells);
        self.columns = Some((0..header.names().len()).map(|index| header.column(index)).collect());
        self.scanner.set_width(header.names().len());
        self.events.push_back(Event::Header(header));
        self.events.extend(duplicates.into_iter().map(Event::Problem));
    }

    fn take_row(&mut self, columns: &[Column]) {
        let record = self.scanner.record();
        let (line, count) = (record.line, record.count);
        if self.rows == MAX_ROWS {
            let text = format!("The file has more than {MAX_ROWS} rows. Divide it into files for several posts.");
            return self.fail(Code::TooManyRows, line, None, text);
        }
        self.rows += 1;
        let number = self.rows;
        let (mut cells, problems) = read(record, Some(columns));
        let has_errors = !problems.is_empty();
        self.events.extend(problems.into_iter().map(Event::Problem));
        if count < columns.len() && !has_errors {
            let text = format!(
                "The row has {count} of {} cells. The others are read as empty. Check that none is left out.",
                columns.len()
            );
            let first_missing = Some(column(Some(columns), count));
            self.events.push_back(Event::Problem(Problem::new(Code::ShortRow, line, first_missing, text)));
        }
        self.events.push_back(if has_errors {
            Event::BadRow { number, line }
        } else {
            cells.resize_with(columns.len(), || Cell { text: String::new(), line });
            Event::Row(Row { number, line, cells })
        });
    }

    /// Returns the bytes that the reader holds.
    #[cfg(test)]
    fn buffered(&self) -> usize {
        let columns = self.columns.iter().flatten();
        let columns: usize =
            columns.map(|column| column.header.as_ref().map_or(0, String::capacity) + size_of::<Column>()).sum();
        let events: usize = self.events.iter().map(event_bytes).sum();
        self.text.capacity() + self.scanner.buffered() + columns + events
    }
}

/// Returns the bytes of an event.
#[cfg(test)]
fn event_bytes(event: &Event) -> usize {
    size_of::<Event>()
        + match event {
            Event::Header(header) => header.names().iter().map(String::capacity).sum(),
            Event::Row(row) => row.cells.iter().map(|cell| size_of::<Cell>() + cell.text.capacity()).sum(),
            Event::BadRow { .. } => 0,
            Event::Problem(problem) => problem.text.capacity(),
        }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::MAX_CELL_CHARS;
    use super::*;

    const FORMAT: Format = Format { encoding: Encoding::UTF_8, delimiter: Delimiter::Comma };

    /// Returns the events of a file in pieces, and the largest number of bytes that the reader held.
    fn events_of<'a>(format: Format, pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<Event>, usize) {
        let mut reader = Reader::new(format);
        let (mut events, mut most) = (Vec::new(), 0);
        for mut piece in pieces {
            while let Some(event) = reader.next(&mut piece, false) {
                most = most.max(reader.buffered() + event_bytes(&event));
                events.push(event);
            }
            most = most.max(reader.buffered());
        }
        events.extend(std::iter::from_fn(|| reader.next(&mut [].as_slice(), true)));
        assert!(reader.is_done && reader.next(&mut b"a".as_slice(), true).is_none());
        (events, most)
    }

    fn events(file: &str) -> Vec<Event> {
        events_of(FORMAT, [file.as_bytes()]).0
    }

    /// Returns the line, column letter, code and severity of each problem.
    fn problems(file: &str) -> Vec<(u64, String, Code, Severity)> {
        let problems = events(file).into_iter().filter_map(|event| match event {
            Event::Problem(problem) => {
                let letter = problem.column.map(|column| column.letter).unwrap_or_default();
                Some((problem.line, letter, problem.code, problem.severity))
            }
            _ => None,
        });
        problems.collect()
    }

    fn rows(file: &str) -> Vec<(u32, u64, Vec<String>)> {
        let rows = events(file).into_iter().filter_map(|event| match event {
            Event::Row(row) => Some((row.number, row.line, row.cells.into_iter().map(|cell| cell.text).collect())),
            _ => None,
        });
        rows.collect()
    }

    fn check(file: &str, expected: &[(u64, &str, Code, Severity)]) {
        let expected: Vec<_> = expected
            .iter()
            .map(|(line, column, code, severity)| (*line, (*column).to_owned(), *code, *severity))
            .collect();
        assert_eq!(problems(file), expected, "{:?}", crate::fold::first(file, 100));
    }

    #[test]
    fn rows_of_empty_cells_are_neither_given_nor_counted() {
        let file = "\n,\nA,B\n\n , \n1,2\n,,,\n\"\",\n3,\n";
        let cells = |first: &str, second: &str| vec![first.to_owned(), second.to_owned()];
        assert_eq!(rows(file), [(1, 6, cells("1", "2")), (2, 9, cells("3", ""))]);
        check(file, &[]);
    }

    #[test]
    fn rows_with_errors_are_counted_but_not_given() {
        use Severity::{Error, Warning};
        let long = "x".repeat(MAX_CELL_CHARS + 1);
        let file = format!("A,B,\n1,2,,3,4\n{long},2\n\"1\"x,\0\n1\n5,6,,\n");
        check(
            &file,
            &[
                (2, "D", Code::LongRow, Error),
                (3, "A", Code::CellTooLong, Error),
                (4, "A", Code::BadQuote, Error),
                (4, "B", Code::BadCharacter, Error),
                (5, "B", Code::ShortRow, Warning),
            ],
        );
        let numbers: Vec<_> = rows(&file).iter().map(|(number, ..)| *number).collect();
        assert_eq!(numbers, [4, 5]);
        let bad = events(&file).into_iter().filter(|event| matches!(event, Event::BadRow { .. }));
        let expected = (1..=3).map(|number| Event::BadRow { number, line: u64::from(number) + 1 });
        assert_eq!(bad.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    }

    #[test]
    fn problem_is_at_the_line_where_its_cell_begins() {
        use Severity::{Error, Fatal};
        check("A,B\n\"1\n\",\"2\"x\n", &[(3, "B", Code::BadQuote, Error)]);
        check("A,B\n1,2\n\"a\nb\",\"c\n\n1,2\n", &[(4, "B", Code::UnclosedQuote, Fatal)]);
        check("A,\"B\n1,2\n", &[(1, "B", Code::UnclosedQuote, Fatal)]);
        check("\"A\n\",B\n1,2,\"\n\",3", &[(4, "D", Code::LongRow, Error)]);
    }

    #[test]
    fn text_names_the_line_to_which_a_missing_quote_extends_a_cell() {
        let events = events("A,B\n\"1,2\n3,4\n5,\"6\"\n");
        let Some(Event::Problem(problem)) = events.get(1) else { panic!("{events:?}") };
        let text = "Text follows the closing quote of the cell. It extends to line 4, perhaps because of a missing \
                    quote. Write each quote inside a quoted cell twice.";
        assert_eq!((problem.code, problem.line, problem.text.as_str()), (Code::BadQuote, 2, text));
    }

    #[test]
    fn file_without_data_rows_is_refused() {
        use Severity::Fatal;
        check("", &[(1, "", Code::NoRows, Fatal)]);
        check("\n,,\n", &[(1, "", Code::NoRows, Fatal)]);
        check("\nA,B\n,\n", &[(2, "", Code::NoRows, Fatal)]);
        check("sep=;\nA", &[(2, "", Code::NoRows, Fatal)]);
    }

    #[test]
    fn error_in_the_header_is_fatal() {
        use Severity::Fatal;
        check("\"A\"x,B\n1,2\n", &[(1, "A", Code::BadQuote, Fatal)]);
        check("A,B\0\n1,2\n", &[(1, "B", Code::BadCharacter, Fatal)]);
        let wide = vec!["x"; MAX_COLUMNS + 1].join(",");
        check(&format!("{wide}\n1,2\n"), &[(1, "CW", Code::LongRow, Fatal)]);
        let expected = (2..=MAX_COLUMNS).map(|_| Code::DuplicateHeader).collect::<Vec<_>>();
        let wide = format!("{},,,\n1\n", vec!["x"; MAX_COLUMNS].join(","));
        let codes = problems(&wide).into_iter().map(|(_, _, code, _)| code);
        assert_eq!(codes.take_while(|code| *code != Code::ShortRow).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn row_100_001_is_fatal_and_ends_reading() {
        let mut file = "A\n".to_owned() + &"1\n".repeat(MAX_ROWS as usize);
        assert_eq!(rows(&file).len(), MAX_ROWS as usize);
        check(&file, &[]);
        file += "\n\n2\n3\n\"";
        check(&file, &[(u64::from(MAX_ROWS) + 4, "", Code::TooManyRows, Severity::Fatal)]);
    }

    #[test]
    fn undecodable_bytes_are_fatal_at_their_line() {
        for file in [b"A,B\n1,2\n3,\xff\n4,5\n".as_slice(), b"A,B\r\n1,2\r3,\xc3"] {
            let (events, _) = events_of(FORMAT, [file]);
            let Some(Event::Problem(problem)) = events.last() else { panic!("{events:?}") };
            assert_eq!((problem.code, problem.line, events.len()), (Code::Undecodable, 3, 3));
        }
    }

    #[test]
    fn cells_are_normalized_before_they_are_measured() {
        let decomposed = "e\u{301}".repeat(MAX_CELL_CHARS);
        let rows = rows(&format!("A\n{decomposed}\n"));
        assert_eq!(rows[0].2, ["é".repeat(MAX_CELL_CHARS)]);
        // This character has no composed form, and its decomposition is three times as long.
        let growing = format!("A\n{}\n", "\u{1d160}".repeat(MAX_ROW_BYTES / 8));
        let codes: Vec<_> = problems(&growing).into_iter().map(|(_, _, code, _)| code).collect();
        assert_eq!(codes, [Code::CellTooLong, Code::RowTooLarge]);
    }

    #[test]
    fn hostile_files_are_read_within_the_stated_memory() {
        const PIECE: usize = 1 << 20;
        const PIECES: usize = 2;
        let repeated = |start: &str, text: &[u8]| {
            let mut pieces = vec![start.as_bytes().to_vec()];
            pieces.extend(std::iter::repeat_n(text.repeat(PIECE / text.len()), PIECES));
            pieces
        };
        let files = [
            ("one line", repeated("A,B\n", b"x"), vec![Code::CellTooLong, Code::RowTooLarge]),
            ("one header", repeated("", b"x"), vec![Code::CellTooLong, Code::RowTooLarge]),
            ("columns", repeated("A,B\n", b"x,"), vec![Code::LongRow, Code::RowTooLarge]),
            ("headers", repeated("", b"x,"), vec![Code::LongRow, Code::RowTooLarge]),
            ("empty columns", repeated("A,B\n1,2", b","), vec![]),
            ("NULs", repeated("A,B\n", b"\0"), vec![Code::BadCharacter]),
            ("cells of NUL", repeated("A,B\n", b"\0,"), vec![Code::BadCharacter, Code::LongRow]),
            ("unclosed quote", repeated("A,B\n\"", b"x,y\n"), vec![Code::UnclosedQuote]),
            ("unclosed header", repeated("\"", b"x,y\n"), vec![Code::UnclosedQuote]),
            ("quotes", repeated("A,B\n1,2\n", b"\"\""), vec![Code::CellTooLong, Code::RowTooLarge]),
            ("blanks", repeated("A,B\n1,2\n", b" "), vec![]),
            ("blank lines", repeated("A,B\n1,2\n", b"\n"), vec![]),
            ("zip", repeated("PK\u{3}\u{4}", b"\0\x01,\"\n"), vec![Code::BadCharacter]),
            ("largest rows", repeated("A,B,C,D\n", largest_row().as_bytes()), vec![]),
        ];
        for (name, pieces, codes) in files {
            let (events, most) = events_of(FORMAT, pieces.iter().map(Vec::as_slice));
            let mut found: Vec<_> = events
                .iter()
                .filter_map(|event| match event {
                    Event::Problem(problem) if problem.code != Code::ShortRow => Some(problem.code),
                    _ => None,
                })
                .collect();
            found.retain(|code| *code != Code::NoRows);
            found.dedup();
            assert_eq!(found, codes, "{name}");
            assert!(most <= MAX_BUFFERED, "{name}: {most}");
        }
    }

    /// Returns a row of four cells that has as many bytes as a row may have.
    fn largest_row() -> String {
        vec!["x".repeat(MAX_ROW_BYTES / 4); 4].join(",") + "\n"
    }

    /// Generates files in which what matters to the scanner is frequent.
    fn hostile() -> impl Strategy<Value = Vec<u8>> {
        let part = prop_oneof![
            prop::sample::select(vec![
                b"\"".to_vec(),
                b",".to_vec(),
                b";".to_vec(),
                b"\n".to_vec(),
                b"\r".to_vec(),
                b"\r\n".to_vec(),
                b" ".to_vec(),
                b"\0".to_vec(),
                b"\xef\xbb\xbf".to_vec(),
                b"\xff\xfe".to_vec(),
                "é".into(),
                "e\u{301}".into(),
                "a".into(),
                "\u{10000}".into(),
                b"\xc3".to_vec(),
                "sep=,".into(),
            ]),
            prop::collection::vec(any::<u8>(), 0..3),
        ];
        prop::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
    }

    fn format() -> impl Strategy<Value = Format> {
        let labels = ["utf-8", "windows-1252", "iso-8859-2", "utf-16le", "utf-16be", "shift_jis", "windows-1253"];
        (prop::sample::select(labels.to_vec()), prop::sample::select(Delimiter::ALL.to_vec()))
            .prop_map(|(label, delimiter)| Format { encoding: Encoding::labelled(label).unwrap(), delimiter })
    }

    proptest! {
        #[test]
        fn division_of_a_file_does_not_change_its_events(
            format in format(),
            file in hostile(),
            at in 0..80_usize,
            size in 1..9_usize,
        ) {
            let (whole, _) = events_of(format, [file.as_slice()]);
            let (first, second) = file.split_at(at.min(file.len()));
            prop_assert_eq!(&events_of(format, [first, second]).0, &whole);
            prop_assert_eq!(&events_of(format, file.chunks(size)).0, &whole);
        }

        #[test]
        fn any_bytes_give_well_formed_events(format in format(), file in hostile()) {
            let (events, _) = events_of(format, [file.as_slice()]);
            let (mut number, mut line, mut width) = (0, 0, None);
            for (place, event) in events.iter().enumerate() {
                let at = match event {
                    Event::Header(header) => {
                        prop_assert!(width.replace(header.names().len()).is_none());
                        prop_assert!(!header.names().is_empty() && header.names().iter().all(|name| !name.is_empty()));
                        header.line()
                    }
                    Event::Row(row) => {
                        number += 1;
                        prop_assert_eq!((row.number, Some(row.cells.len())), (number, width));
                        prop_assert!(row.cells.iter().any(|cell| !cell.text.is_empty()));
                        let is_trimmed = |cell: &Cell| cell.line >= row.line && cell.text.trim() == cell.text;
                        prop_assert!(row.cells.iter().all(is_trimmed));
                        row.line
                    }
                    Event::BadRow { number: found, line } => {
                        number += 1;
                        prop_assert_eq!(*found, number);
                        *line
                    }
                    Event::Problem(problem) => {
                        let follows = events.iter().skip(place + 1).count();
                        prop_assert!(problem.severity != Severity::Fatal || width.is_none() || follows == 0);
                        prop_assert!(problem.line >= 1);
                        continue;
                    }
                };
                prop_assert!(at > line);
                line = at;
            }
        }

        #[test]
        fn what_the_csv_crate_writes_is_read_back(
            table in prop::collection::vec(prop::collection::vec("[aé,;|\t\"\r\n ']{0,5}", 3), 1..5),
            delimiter in prop::sample::select(Delimiter::ALL.to_vec()),
            always in any::<bool>(),
            crlf in any::<bool>(),
        ) {
            let mut writer = csv::WriterBuilder::new()
                .delimiter(delimiter.character() as u8)
                .quote_style(if always { csv::QuoteStyle::Always } else { csv::QuoteStyle::Necessary })
                .terminator(if crlf { csv::Terminator::CRLF } else { csv::Terminator::Any(b'\n') })
                .from_writer(Vec::new());
            writer.write_record(["A", "B", "C"]).unwrap();
            table.iter().for_each(|row| writer.write_record(row).unwrap());
            let file = writer.into_inner().unwrap();
            let (events, _) = events_of(Format { delimiter, ..FORMAT }, [file.as_slice()]);
            let read = events.into_iter().filter_map(|event| match event {
                Event::Row(row) => Some(row.cells.into_iter().map(|cell| cell.text).collect::<Vec<_>>()),
                _ => None,
            });
            let cell = |cell: &String| cell.replace("\r\n", "\n").replace('\r', "\n").trim().to_owned();
            let written = table.iter().map(|row| row.iter().map(cell).collect::<Vec<_>>());
            let written = written.filter(|row| row.iter().any(|cell| !cell.is_empty()));
            prop_assert_eq!(read.collect::<Vec<_>>(), written.collect::<Vec<_>>());
        }
    }
}
