//! The format of a file: its encoding, and what separates its cells.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// The encoding, the delimiter and the line ends of a file. The default is UTF-8 with commas and line feeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Format {
    encoding: Encoding,
    delimiter: Delimiter,
    #[serde(default)]
    line_end: LineEnd,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Encoding {
    #[default]
    Utf8,
    Windows1252,
    Utf16Le,
    Utf16Be,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Delimiter {
    #[default]
    Comma,
    Semicolon,
    Tab,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum LineEnd {
    /// With or without a carriage return before it.
    #[default]
    LineFeed,
    CarriageReturn,
}

/// A unit that is no ASCII character.
const OTHER: u8 = 0x80;

/// The first unit of a byte-order mark.
pub(crate) const MARK: u8 = 0xef;

impl Format {
    /// Recognises the format by the start of a file: the encoding by its byte-order mark, or Windows-1252 if the start is
    /// not UTF-8 and has no character of several bytes; what ends the first line; and the delimiter that this line has
    /// most often. `is_all` says that the start is the whole file.
    pub fn of(start: &[u8], is_all: bool) -> Self {
        let encoding = Encoding::of(start, is_all);
        let mut units = Self { encoding, ..Self::default() }.units(start);
        let (mut counts, mut is_quoted, mut line_end) = ([0_usize; 3], false, LineEnd::default());
        while let Some(unit) = units.next().filter(|unit| *unit != b'\n') {
            if unit == b'\r' && !is_quoted {
                let next = units.find(|unit| *unit != b'\r');
                line_end = next.filter(|next| *next != b'\n').map_or(line_end, |_| LineEnd::CarriageReturn);
                break;
            }
            is_quoted ^= unit == b'"';
            let found = Delimiter::ALL.iter().position(|delimiter| delimiter.byte() == unit && !is_quoted);
            if let Some(count) = found.and_then(|place| counts.get_mut(place)) {
                *count += 1;
            }
        }
        let most = counts.iter().max();
        let place = counts.iter().position(|count| Some(count) == most).unwrap_or_default();
        Self { encoding, delimiter: Delimiter::ALL.get(place).copied().unwrap_or_default(), line_end }
    }

    pub(crate) fn delimiter(self) -> u8 {
        self.delimiter.byte()
    }

    /// The unit that ends a record.
    pub(crate) fn line_end(self) -> u8 {
        match self.line_end {
            LineEnd::LineFeed => b'\n',
            LineEnd::CarriageReturn => b'\r',
        }
    }

    /// The number of bytes of a unit.
    pub(crate) fn width(self) -> usize {
        match self.encoding {
            Encoding::Utf8 | Encoding::Windows1252 => 1,
            Encoding::Utf16Le | Encoding::Utf16Be => 2,
        }
    }

    /// The units of the bytes as ASCII, without an incomplete one at the end.
    pub(crate) fn units(self, bytes: &[u8]) -> impl Iterator<Item = u8> {
        bytes.chunks_exact(self.width()).map(move |unit| match (self.encoding, unit) {
            (Encoding::Utf8 | Encoding::Windows1252, [unit]) => *unit,
            (Encoding::Utf16Le, [unit, 0]) | (Encoding::Utf16Be, [0, unit]) if unit.is_ascii() => *unit,
            (Encoding::Utf16Le, [0xff, 0xfe]) | (Encoding::Utf16Be, [0xfe, 0xff]) => MARK,
            _ => OTHER,
        })
    }

    /// The number of line breaks in a part of the file.
    pub fn line_breaks(self, bytes: &[u8]) -> u64 {
        self.units(bytes).filter(|unit| *unit == self.line_end()).count() as u64
    }

    /// The first record of a file without the byte-order mark that spreadsheets put before the first header.
    pub fn without_mark(self, record: &[u8]) -> &[u8] {
        let mark: &[u8] = match self.encoding {
            Encoding::Utf8 => &[0xef, 0xbb, 0xbf],
            Encoding::Windows1252 => &[],
            Encoding::Utf16Le => &[0xff, 0xfe],
            Encoding::Utf16Be => &[0xfe, 0xff],
        };
        record.strip_prefix(mark).unwrap_or(record)
    }

    /// Decodes a record. The error completes a sentence that starts with "the record".
    pub(crate) fn decode(self, record: &[u8]) -> Result<Cow<'_, str>, String> {
        let utf_16 = |encoding: &'static encoding_rs::Encoding| {
            let text = encoding.decode_without_bom_handling_and_without_replacement(record);
            text.ok_or_else(|| "is not UTF-16; save the file as UTF-8".to_owned())
        };
        match self.encoding {
            Encoding::Utf8 => std::str::from_utf8(record)
                .map(Cow::Borrowed)
                .map_err(|error| format!("is not UTF-8 from byte {} on; save the file as UTF-8", error.valid_up_to())),
            Encoding::Windows1252 => Ok(encoding_rs::WINDOWS_1252.decode_without_bom_handling(record).0),
            Encoding::Utf16Le => utf_16(encoding_rs::UTF_16LE),
            Encoding::Utf16Be => utf_16(encoding_rs::UTF_16BE),
        }
    }
}

impl Encoding {
    fn of(start: &[u8], is_all: bool) -> Self {
        match start {
            [0xff, 0xfe, ..] => return Self::Utf16Le,
            [0xfe, 0xff, ..] => return Self::Utf16Be,
            [0xef, 0xbb, 0xbf, ..] => return Self::Utf8,
            _ => {}
        }
        match std::str::from_utf8(start) {
            Ok(_) => Self::Utf8,
            // The start ends within a character.
            Err(error) if error.error_len().is_none() && !is_all => Self::Utf8,
            // No text has a zero byte.
            Err(_) if start.contains(&0) => Self::Utf8,
            // Read as Windows-1252, characters of several bytes would become wrong letters.
            Err(_) if start.utf8_chunks().any(|chunk| !chunk.valid().is_ascii()) => Self::Utf8,
            Err(_) => Self::Windows1252,
        }
    }
}

impl Delimiter {
    /// Of two that a line has equally often, the earlier one is chosen.
    const ALL: [Self; 3] = [Self::Comma, Self::Semicolon, Self::Tab];

    fn byte(self) -> u8 {
        match self {
            Self::Comma => b',',
            Self::Semicolon => b';',
            Self::Tab => b'\t',
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(start: &[u8]) -> Format {
        Format::of(start, true)
    }

    fn format(encoding: Encoding, delimiter: Delimiter) -> Format {
        Format { encoding, delimiter, ..Format::default() }
    }

    #[test]
    fn delimiter_is_what_the_header_has_most_outside_quotes() {
        let utf8 = |delimiter| format(Encoding::Utf8, delimiter);
        assert_eq!(of(b"Name,Weight\n1;2;3;4"), utf8(Delimiter::Comma));
        assert_eq!(of(b"Name;\"a, b, c\";Weight\n1,5"), utf8(Delimiter::Semicolon));
        assert_eq!(of(b"Name\tSize, mm\tWeight\n"), utf8(Delimiter::Tab));
        assert_eq!(of(b"Name"), utf8(Delimiter::Comma));
        assert_eq!(of(b""), Format::default());
    }

    #[test]
    fn carriage_return_ends_lines_if_no_line_feed_follows_the_first() {
        let line_end = |start: &[u8]| of(start).line_end;
        for start in [&b"a;b\r1;2\r"[..], b"a\r\r1", b"\"a\rb\";c\r1;2"] {
            assert_eq!(line_end(start), LineEnd::CarriageReturn, "{start:?}");
        }
        for start in [&b"a;b\r\n1;2\r"[..], b"a\r\r\n1", b"a\n1\r2", b"a\r", b"a", b""] {
            assert_eq!(line_end(start), LineEnd::LineFeed, "{start:?}");
        }
        assert_eq!(of(b"a;b\r1,2,3,4\r").delimiter, Delimiter::Semicolon);
        assert_eq!(of(b"a;b\r1,2\n\r").line_breaks(b"a;b\r1,2\n\r"), 2);
    }

    #[test]
    fn encoding_is_recognised_by_mark_or_by_what_utf_8_excludes() {
        let encoding = |start: &[u8], is_all| Format::of(start, is_all).encoding;
        assert_eq!(encoding(b"\xef\xbb\xbfName", true), Encoding::Utf8);
        assert_eq!(encoding(b"\xff\xfeN\0", true), Encoding::Utf16Le);
        assert_eq!(encoding(b"\xfe\xff\0N", true), Encoding::Utf16Be);
        assert_eq!(encoding("Größe".as_bytes(), true), Encoding::Utf8);
        assert_eq!(encoding(b"Gr\xf6\xdfe", true), Encoding::Windows1252);
        // The block ends within a character, the file does not.
        assert_eq!(encoding(b"Gr\xc3", false), Encoding::Utf8);
        assert_eq!(encoding(b"Gr\xc3", true), Encoding::Windows1252);
        assert_eq!(encoding(b"PK\x03\x04\0\xff", true), Encoding::Utf8);
        // A UTF-8 file with an invalid byte, before or after its other characters.
        for start in [&b"Gr\xc3\xb6\xc3\x9fe \xff"[..], b"\xe9 Gr\xc3\xb6\xc3\x9fe"] {
            assert_eq!(encoding(start, true), Encoding::Utf8);
        }
    }

    #[test]
    fn utf_16_is_split_at_its_own_delimiters_and_line_breaks() {
        // U+0A0A and U+2C2C have the bytes of line breaks and commas.
        let text = "Größe\t\u{a0a}\u{2c2c}\n";
        for (encoding, unit) in
            [(Encoding::Utf16Le, u16::to_le_bytes as fn(u16) -> [u8; 2]), (Encoding::Utf16Be, u16::to_be_bytes)]
        {
            let bytes: Vec<u8> = format!("\u{feff}{text}").encode_utf16().flat_map(unit).collect();
            let found = of(&bytes);
            assert_eq!(found, format(encoding, Delimiter::Tab));
            assert_eq!(found.line_breaks(&bytes), 1);
            assert_eq!(found.decode(found.without_mark(&bytes)).unwrap(), text);
        }
        assert_eq!(
            format(Encoding::Utf16Le, Delimiter::Comma).decode(b"\0\xd8").unwrap_err(),
            "is not UTF-16; save the file as UTF-8"
        );
    }
}
