//! Inspecting a file right after its upload: its encoding, its delimiter, its headers and its first rows.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::MAX_FILE_BYTES;
use super::delimiter::Delimiter;
use super::encoding::{Decoded, Decoder, Encoding};
use super::problem::{Code, Problem, Severity};
use super::reader::{Event, Format, Reader};
use super::scan::{End, Record, Scanner};
use crate::fold::first;

/// Bytes of the start of a file that are kept, from which delimiter, headers and samples are read. Six of the largest
/// rows in UTF-16 fit.
const HEAD_BYTES: usize = 512 * 1024;

/// Rows that are shown.
const SAMPLE_ROWS: usize = 5;

/// Characters of a cell that are shown.
const MAX_SAMPLE_CHARS: usize = 100;

/// How the uploader says that a file is to be read. What is absent is detected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CsvOptions {
    /// The encoding of a file that has no byte-order mark and is not UTF-8, as a label of the WHATWG Encoding Standard.
    /// Without it, such a file is read as windows-1252. UTF-16 and ISO-2022-JP are tried before UTF-8.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false, example = "windows-1250")]
    pub encoding: Option<Encoding>,
    /// Without it, the file has the delimiter that splits its header most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub delimiter: Option<Delimiter>,
}

/// What is known of a file before it is read as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = FileInspection)]
pub struct Inspection {
    #[schema(value_type = String, example = "windows-1252")]
    pub encoding: Encoding,
    /// An encoding that the start of the file resembles more than `encoding`, which was assumed because nothing tells
    /// it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false, example = "windows-1250")]
    pub suggested_encoding: Option<Encoding>,
    pub delimiter: Delimiter,
    /// Distinct names: the second column `Name` is called `Name (2)`.
    pub headers: Vec<String>,
    /// The first five rows without errors, and at most 100 characters of each cell.
    pub sample: Vec<Vec<String>>,
}

impl Inspection {
    /// Returns how the file is read.
    pub fn format(&self) -> Format {
        Format { encoding: self.encoding, delimiter: self.delimiter }
    }
}

/// The reason why an uploaded file is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    Empty,
    /// The file is a spreadsheet or has another known format. The text names it with its article.
    OtherFormat(&'static str),
    TooLarge,
    Undecodable(Encoding),
    /// The header has an error.
    BadHeader(Problem),
    /// The file begins with a row that is larger than any row may be, or with as much white space.
    NoHeader,
}

impl Refusal {
    /// Returns the reason and what to do, for the person who has uploaded the file.
    pub fn text(&self) -> String {
        match self {
            Self::Empty => "The file is empty. Upload a CSV file with a header and rows.".to_owned(),
            Self::OtherFormat(format) => format!("The file is {format}, not CSV. Save it as CSV, and upload that."),
            Self::TooLarge => {
                format!(
                    "The file has more than {} MB. Divide it into files for several posts.",
                    MAX_FILE_BYTES / 1_000_000
                )
            }
            Self::Undecodable(encoding) => encoding.undecodable(),
            Self::BadHeader(problem) => {
                let column = problem.column.as_ref().map(|column| format!(", column {column}")).unwrap_or_default();
                format!("The header cannot be read. Line {}{column}: {}", problem.line, problem.text)
            }
            Self::NoHeader => {
                "The file does not begin with a header. The first row must have the names of the columns.".to_owned()
            }
        }
    }
}

/// Inspects a whole file.
pub fn inspect(file: &[u8], options: CsvOptions) -> Result<Inspection, Refusal> {
    let mut inspector = Inspector::new(options);
    inspector.push(file);
    inspector.finish()
}

/// An inspector of a file that is handed over in pieces. It keeps the first 512 KiB.
pub struct Inspector {
    options: CsvOptions,
    size: u64,
    head: Vec<u8>,
    /// Tests of the encodings that the file may have, the first of which is taken. Empty until the start is known.
    candidates: Vec<Candidate>,
    /// Whether nothing in the file tells its encoding if it is not the first candidate.
    is_unmarked: bool,
}

impl Inspector {
    /// Creates an inspector of one file.
    pub fn new(options: CsvOptions) -> Self {
        Self { options, size: 0, head: Vec::new(), candidates: Vec::new(), is_unmarked: true }
    }

    /// Takes the next piece of the file.
    pub fn push(&mut self, piece: &[u8]) {
        self.size = self.size.saturating_add(piece.len() as u64);
        let (start, rest) = piece.split_at(piece.len().min(HEAD_BYTES - self.head.len()));
        self.head.extend_from_slice(start);
        // A byte-order mark has up to three bytes, which may be in different pieces.
        if !self.candidates.is_empty() {
            self.test(start);
            self.test(rest);
        } else if self.head.len() >= 3 {
            self.start();
            self.test(rest);
        }
    }

    /// Ends the file.
    pub fn finish(mut self) -> Result<Inspection, Refusal> {
        if self.size > MAX_FILE_BYTES {
            return Err(Refusal::TooLarge);
        }
        if let Some(format) = other_format(&self.head) {
            return Err(Refusal::OtherFormat(format));
        }
        if self.candidates.is_empty() {
            self.start();
        }
        let encoding = self.encoding()?;
        let is_assumed = self.is_unmarked && encoding != Encoding::UTF_8 && self.options.encoding.is_none();
        let suggested = is_assumed.then(|| Encoding::guessed(&self.head)).filter(|guessed| *guessed != encoding);
        let is_whole = self.head.len() as u64 == self.size;
        let delimiter = self.options.delimiter.or_else(|| delimiter_of(&self.head, encoding));
        let no_header = if is_whole { Refusal::Empty } else { Refusal::NoHeader };
        let delimiter = delimiter.ok_or(no_header)?;
        let (headers, sample) = first_rows(&self.head, is_whole, Format { encoding, delimiter })?;
        Ok(Inspection { encoding, suggested_encoding: suggested, delimiter, headers, sample })
    }

    fn start(&mut self) {
        let encodings = match Encoding::of_mark(&self.head) {
            Some(marked) => {
                self.is_unmarked = false;
                vec![marked]
            }
            None if self.assumed().may_look_like_utf_8() => vec![self.assumed(), Encoding::UTF_8],
            None => vec![Encoding::UTF_8, self.assumed()],
        };
        self.candidates = encodings.into_iter().map(Candidate::new).collect();
        self.candidates.iter_mut().for_each(|candidate| candidate.test(&self.head, false));
    }

    /// Returns the encoding of a file that has no byte-order mark and is not UTF-8.
    fn assumed(&self) -> Encoding {
        self.options.encoding.unwrap_or(Encoding::WINDOWS_1252)
    }

    fn test(&mut self, piece: &[u8]) {
        self.candidates.iter_mut().for_each(|candidate| candidate.test(piece, false));
    }

    fn encoding(&mut self) -> Result<Encoding, Refusal> {
        self.candidates.iter_mut().for_each(|candidate| candidate.test(&[], true));
        let possible = self.candidates.iter().find(|candidate| candidate.is_possible);
        let refused = match self.candidates.as_slice() {
            [marked] => marked.encoding,
            _ => self.assumed(),
        };
        possible.map(|candidate| candidate.encoding).ok_or(Refusal::Undecodable(refused))
    }
}

/// An encoding that a file may have.
struct Candidate {
    encoding: Encoding,
    decoder: Decoder,
    text: String,
    is_possible: bool,
}

impl Candidate {
    fn new(encoding: Encoding) -> Self {
        Self { encoding, decoder: Decoder::new(encoding), text: String::with_capacity(4096), is_possible: true }
    }

    fn test(&mut self, mut piece: &[u8], is_last: bool) {
        while self.is_possible {
            self.text.clear();
            match self.decoder.decode(&mut piece, is_last, &mut self.text) {
                Decoded::Text => {}
                Decoded::Input => return,
                Decoded::Malformed => self.is_possible = false,
            }
        }
    }
}

/// Returns the format of a file that is not CSV, with its article.
fn other_format(head: &[u8]) -> Option<&'static str> {
    const SIGNATURES: [(&[u8], &str); 12] = [
        (b"PK\x03\x04", "a spreadsheet (or another zip archive)"),
        (b"PK\x05\x06", "an empty zip archive"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a spreadsheet (or another document) of an old version of Office"),
        // Excel 2, 3 and 4 wrote no container.
        (b"\x09\x00\x04\x00", "a spreadsheet of an old version of Excel"),
        (b"\x09\x02\x06\x00", "a spreadsheet of an old version of Excel"),
        (b"\x09\x04\x06\x00", "a spreadsheet of an old version of Excel"),
        // Web sites offer tables as `.xls` that are HTML or XML.
        (b"<?xml", "an XML document"),
        (b"<html", "an HTML page"),
        (b"<!doctype html", "an HTML page"),
        (b"<table", "an HTML page"),
        (b"%PDF-", "a PDF document"),
        (b"\x1f\x8b", "a compressed file"),
    ];
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let starts = |bytes: &[u8], signature: &[u8]| {
        bytes.get(..signature.len()).is_some_and(|start| start.eq_ignore_ascii_case(signature))
    };
    let has = |signature: &[u8]| starts(head, signature) || starts(text, signature);
    SIGNATURES.iter().find(|(signature, _)| has(signature)).map(|(_, format)| *format)
}

/// Returns the delimiter that splits the header most. None if there is no header.
fn delimiter_of(head: &[u8], encoding: Encoding) -> Option<Delimiter> {
    let mut best = (None, 0);
    for delimiter in Delimiter::ALL {
        let cells = header_cells(head, Format { encoding, delimiter });
        if cells > best.1 {
            best = (Some(delimiter), cells);
        }
    }
    best.0
}

/// Returns the number of cells of the first row that is not empty with any delimiter.
fn header_cells(mut head: &[u8], format: Format) -> usize {
    let mut decoder = Decoder::new(format.encoding);
    let mut scanner = Scanner::new(format.delimiter);
    let mut text = String::with_capacity(4096);
    loop {
        text.clear();
        let decoded = decoder.decode(&mut head, false, &mut text);
        let mut scanned = 0;
        while let (read, true) = scanner.scan(text.get(scanned..).unwrap_or_default()) {
            scanned += read;
            let record = scanner.record();
            if is_header(record) {
                return record.count;
            }
        }
        if decoded != Decoded::Text {
            break;
        }
    }
    match scanner.end() {
        End::Record => Some(scanner.record()).filter(|record| is_header(record)).map_or(0, |record| record.count),
        End::Unclosed { index, .. } => index + 1,
        End::Nothing => 0,
    }
}

fn is_header(record: &Record) -> bool {
    !record.has_only_delimiters() && !record.is_delimiter_line()
}

fn first_rows(mut head: &[u8], is_whole: bool, format: Format) -> Result<(Vec<String>, Vec<Vec<String>>), Refusal> {
    let mut reader = Reader::new(format);
    let (mut headers, mut sample) = (None, Vec::new());
    while let Some(event) = reader.next(&mut head, is_whole) {
        match event {
            Event::Header(header) => headers = Some(header.names().to_vec()),
            Event::Row(row) => {
                sample.push(row.cells.iter().map(|cell| first(&cell.text, MAX_SAMPLE_CHARS).to_owned()).collect());
                if sample.len() == SAMPLE_ROWS {
                    break;
                }
            }
            Event::Problem(problem) if problem.severity == Severity::Fatal && headers.is_none() => {
                let is_empty = problem.code == Code::NoRows;
                return Err(if is_empty { Refusal::Empty } else { Refusal::BadHeader(problem) });
            }
            Event::BadRow { .. } | Event::Problem(_) => {}
        }
    }
    headers.map(|headers| (headers, sample)).ok_or(Refusal::NoHeader)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::sample::select;

    use super::*;

    fn inspected(file: &[u8]) -> Inspection {
        inspect(file, CsvOptions::default()).unwrap()
    }

    fn refused(file: &[u8]) -> Refusal {
        inspect(file, CsvOptions::default()).unwrap_err()
    }

    fn encoding(label: &str) -> Encoding {
        Encoding::labelled(label).unwrap()
    }

    #[test]
    fn encoding_is_that_of_the_mark_else_utf_8_if_valid_else_the_stated_one() {
        let latin2 = CsvOptions { encoding: Some(encoding("latin2")), delimiter: None };
        let utf_16: Vec<u8> = "\u{feff}A\nŁ".encode_utf16().flat_map(u16::to_le_bytes).collect();
        for (file, options, expected, first) in [
            ("\u{feff}A\nŁ".as_bytes(), latin2, "UTF-8", "Ł"),
            (&utf_16, latin2, "UTF-16LE", "Ł"),
            ("A\nŁ".as_bytes(), latin2, "UTF-8", "Ł"),
            (b"A\n\xa3", latin2, "ISO-8859-2", "Ł"),
            (b"A\n\xa3", CsvOptions::default(), "windows-1252", "£"),
            (b"A\n1", CsvOptions::default(), "UTF-8", "1"),
        ] {
            let found = inspect(file, options).unwrap();
            assert_eq!(
                (found.encoding.name(), found.headers.as_slice(), found.sample[0][0].as_str()),
                (expected, ["A".to_owned()].as_slice(), first)
            );
        }
    }

    #[test]
    fn stated_encoding_whose_text_may_look_like_utf_8_is_tried_first() {
        let stated = |label: &str| CsvOptions { encoding: Some(encoding(label)), delimiter: None };
        let utf_16: Vec<u8> = "A\nb".encode_utf16().flat_map(u16::to_le_bytes).collect();
        for (file, label, expected, first) in [
            (utf_16.as_slice(), "utf-16le", "UTF-16LE", "b"),
            (b"A\n\x1b$B@+\x1b(B", "iso-2022-jp", "ISO-2022-JP", "姓"),
            ("A\nŁ".as_bytes(), "iso-2022-jp", "UTF-8", "Ł"),
        ] {
            let found = inspect(file, stated(label)).unwrap();
            assert_eq!((found.encoding.name(), found.sample[0][0].as_str()), (expected, first));
        }
        let japanese = encoding("iso-2022-jp");
        assert_eq!(inspect(b"A\n\xa3", stated("iso-2022-jp")), Err(Refusal::Undecodable(japanese)));
    }

    #[test]
    fn encoding_that_is_assumed_and_implausible_comes_with_a_suggestion() {
        let polish = "Imię,Nazwisko\nStanisław,Żółkiewski\nMałgorzata,Wiśniewska\nBolesław,Świętosławski\n";
        let (bytes, ..) = encoding_rs::WINDOWS_1250.encode(polish);
        let found = inspected(&bytes);
        assert_eq!(
            (found.encoding, found.suggested_encoding),
            (Encoding::WINDOWS_1252, Some(encoding("windows-1250")))
        );
        let stated = CsvOptions { encoding: Some(Encoding::WINDOWS_1252), delimiter: None };
        assert_eq!(inspect(&bytes, stated).unwrap().suggested_encoding, None);
        assert_eq!(inspected(b"Name\nM\xfcller\n").suggested_encoding, None);
    }

    #[test]
    fn delimiter_is_the_stated_one_else_the_one_that_splits_the_header_most() {
        for (file, delimiter) in [
            ("A,B;C\n1;2;3;4", Delimiter::Comma),
            ("A,B;C;D\n", Delimiter::Semicolon),
            ("\n;;\n\"A;B;C\"|D", Delimiter::Bar),
            ("A\tB", Delimiter::Tab),
            ("A", Delimiter::Comma),
            ("sep=;\nA|B;C;D", Delimiter::Semicolon),
            ("Name;;", Delimiter::Semicolon),
        ] {
            assert_eq!(inspected(file.as_bytes()).delimiter, delimiter, "{file}");
        }
        let stated = CsvOptions { encoding: None, delimiter: Some(Delimiter::Comma) };
        assert_eq!(inspect(b"A;B,C;D", stated).unwrap().headers, ["A;B", "C;D"]);
    }

    #[test]
    fn sample_has_five_rows_without_errors_and_short_cells() {
        let long = "é".repeat(300);
        let file = format!("A,B,A\n1,2,3,4\n{long},2\n\n3\n4\n5\n6\n7\n");
        let found = inspected(file.as_bytes());
        assert_eq!(found.headers, ["A", "B", "A (2)"]);
        let firsts: Vec<_> = found.sample.iter().map(|row| row[0].as_str()).collect();
        assert_eq!(firsts, ["é".repeat(100).as_str(), "3", "4", "5", "6"]);
        assert_eq!(inspected(b"A,B").sample, Vec::<Vec<String>>::new());
    }

    #[test]
    fn file_without_text_is_refused_as_empty() {
        for file in [b"".as_slice(), b"\xef\xbb\xbf", b"\r\n\r\n", b"\xff\xfe", b" ,;\n", b"\"\"", b"sep=;\r\n"] {
            assert_eq!(refused(file), Refusal::Empty, "{file:?}");
        }
    }

    #[test]
    fn other_formats_are_refused() {
        for file in [
            b"PK\x03\x04\x14\0\x06\0xl/workbook.xml".as_slice(),
            b"PK\x05\x06\0\0",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0",
            b"\x09\x04\x06\0\0\0\x10\0",
            b"\xef\xbb\xbf\r\n<!DOCTYPE HTML><table>",
            b"<?xml version=\"1.0\"?>",
            b"%PDF-1.7",
            b"\x1f\x8b\x08",
        ] {
            let refusal = refused(file);
            assert!(
                matches!(refusal, Refusal::OtherFormat(_))
                    && refusal.text().ends_with("Save it as CSV, and upload that.")
            );
        }
        assert_eq!(inspected(b"PK,Name\n1,a\n").headers, ["PK", "Name"]);
    }

    #[test]
    fn file_of_more_than_50_mb_is_refused() {
        let piece = b"1234567890,234567890\n".repeat(50_000);
        let mut inspector = Inspector::new(CsvOptions::default());
        let mut size = 0;
        while size + piece.len() as u64 <= MAX_FILE_BYTES {
            inspector.push(&piece);
            size += piece.len() as u64;
        }
        inspector.push(&vec![b'x'; (MAX_FILE_BYTES - size) as usize]);
        assert!(inspector.head.capacity() <= 2 * HEAD_BYTES);
        assert!(inspect_rest(inspector, b"").is_ok());
        let mut inspector = Inspector::new(CsvOptions::default());
        inspector.size = MAX_FILE_BYTES;
        assert_eq!(inspect_rest(inspector, b"x"), Err(Refusal::TooLarge));
    }

    fn inspect_rest(mut inspector: Inspector, rest: &[u8]) -> Result<Inspection, Refusal> {
        inspector.push(rest);
        inspector.finish()
    }

    #[test]
    fn bytes_that_mean_nothing_are_refused_wherever_they_are() {
        let utf_16 = b"\xff\xfeA\0\n\0\x00\xd8\n\0";
        assert_eq!(refused(utf_16), Refusal::Undecodable(encoding("utf-16le")));
        let mut file = b"\xef\xbb\xbfA\n".to_vec();
        file.extend(b"12345678\n".repeat(HEAD_BYTES / 8));
        assert!(inspect(&file, CsvOptions::default()).is_ok());
        file.push(0xff);
        assert_eq!(refused(&file), Refusal::Undecodable(Encoding::UTF_8));
        let greek = CsvOptions { encoding: Some(encoding("windows-1253")), delimiter: None };
        assert_eq!(inspect(b"A\n\xd2", greek), Err(Refusal::Undecodable(encoding("windows-1253"))));
    }

    #[test]
    fn header_with_an_error_is_refused_with_its_place() {
        let Refusal::BadHeader(problem) = refused(b"A,\"B\"x\n1,2\n") else { panic!() };
        assert_eq!((problem.code, problem.line), (Code::BadQuote, 1));
        let text = Refusal::BadHeader(problem).text();
        assert!(text.starts_with("The header cannot be read. Line 1, column B: Text follows"), "{text}");
        assert!(matches!(refused(b"A\0\0\0,B\0\n"), Refusal::BadHeader(_)));
        assert!(matches!(refused(b"\"A,B\n1,2\n"), Refusal::BadHeader(_)));
        assert_eq!(refused(&b"x".repeat(HEAD_BYTES + 1)), Refusal::NoHeader);
    }

    proptest::proptest! {
        #[test]
        fn division_of_a_file_does_not_change_its_inspection(
            file in vec(select(b"\xef\xbb\xbf\xff\xfe\xc3\xa9A,;\n\r\"\0".to_vec()), 0..24),
            size in 1..5_usize,
        ) {
            let mut inspector = Inspector::new(CsvOptions::default());
            file.chunks(size).for_each(|piece| inspector.push(piece));
            proptest::prop_assert_eq!(inspector.finish(), inspect(&file, CsvOptions::default()));
        }
    }
}
