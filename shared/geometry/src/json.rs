//! A pull parser for JSON (RFC 8259): the caller reads the values that it expects and skips the rest. Numbers are read to
//! the nearest double, which `serde_json` does not guarantee by default.

use std::borrow::Cow;

use never::never;

/// The reason why a document cannot be read to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ReadError {
    /// The text is not JSON.
    Syntax { expected: &'static str, byte: usize },
    /// The document exceeds a limit, with the detail of the fault.
    TooLarge(String),
}

pub(crate) struct JsonReader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    max_depth: usize,
}

impl<'a> JsonReader<'a> {
    pub(crate) fn new(text: &'a str, max_depth: usize) -> Self {
        Self { text, at: 0, depth: 0, max_depth }
    }

    /// Returns the byte offset of the next value.
    pub(crate) fn offset(&mut self) -> usize {
        self.peek();
        self.at
    }

    /// Goes back to a value in the array or object that was closed last. Returns the offset for [`Self::resume`].
    pub(crate) fn revisit(&mut self, offset: usize) -> usize {
        self.depth += 1;
        std::mem::replace(&mut self.at, offset)
    }

    /// Returns from a value to which [`Self::revisit`] went back.
    pub(crate) fn resume(&mut self, offset: usize) {
        self.depth -= 1;
        self.at = offset;
    }

    /// Returns the first byte of the next token.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        loop {
            match self.byte() {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.at += 1,
                other => return other,
            }
        }
    }

    /// Checks that only white space follows.
    pub(crate) fn end(&mut self) -> Result<(), ReadError> {
        if self.peek().is_none() { Ok(()) } else { Err(self.expected("the end of the document")) }
    }

    /// Enters an array or object that starts with `bracket`.
    pub(crate) fn open(&mut self, bracket: u8) -> Result<(), ReadError> {
        if self.peek() != Some(bracket) {
            return Err(self.expected(if bracket == b'[' { "an array" } else { "an object" }));
        }
        if self.depth == self.max_depth {
            return Err(ReadError::TooLarge(format!("the document nests deeper than {} levels", self.max_depth)));
        }
        self.depth += 1;
        self.at += 1;
        Ok(())
    }

    /// Returns whether another element or member follows. If not, skips the closing `bracket`. `first` is true before
    /// the first one.
    pub(crate) fn more(&mut self, first: &mut bool, bracket: u8) -> Result<bool, ReadError> {
        let was_first = std::mem::replace(first, false);
        match self.peek() {
            Some(byte) if byte == bracket => {
                self.at += 1;
                self.depth -= 1;
                Ok(false)
            }
            Some(_) if was_first => Ok(true),
            Some(b',') => {
                self.at += 1;
                if self.peek() == Some(bracket) { Err(self.expected("a value after the comma")) } else { Ok(true) }
            }
            _ => Err(self.expected("a comma or the closing bracket")),
        }
    }

    /// Reads the name of a member and the colon after it.
    pub(crate) fn name(&mut self) -> Result<Cow<'a, str>, ReadError> {
        let name = self.string()?;
        self.colon()?;
        Ok(name)
    }

    pub(crate) fn string(&mut self) -> Result<Cow<'a, str>, ReadError> {
        let start = self.offset();
        let escaped = self.skip_string()?;
        let quoted = self.slice(start, self.at);
        if escaped {
            serde_json::from_str(quoted).map(Cow::Owned).map_err(|_| self.expected("a valid escape in the string"))
        } else {
            Ok(Cow::Borrowed(quoted.trim_matches('"')))
        }
    }

    /// Reads a number as the nearest double, or as infinite if it is out of range.
    pub(crate) fn number(&mut self) -> Result<f64, ReadError> {
        self.peek();
        let start = self.at;
        let negative = self.skip_byte(b'-');
        let mut digits = Digits::default();
        let leading = self.at;
        self.digits(&mut digits, 0)?;
        if self.text.as_bytes().get(leading) == Some(&b'0') && self.at > leading + 1 {
            return Err(self.expected("a number without leading zeros"));
        }
        if self.skip_byte(b'.') {
            self.digits(&mut digits, 1)?;
        }
        let exponent = matches!(self.byte(), Some(b'e' | b'E'));
        if exponent {
            self.at += 1;
            let _ = self.skip_byte(b'+') || self.skip_byte(b'-');
            self.digits(&mut Digits::default(), 0)?;
        }
        let exact = if exponent { None } else { digits.exact() };
        let number = match exact {
            Some(number) if negative => -number,
            Some(number) => number,
            None => self.slice(start, self.at).parse().unwrap_or_else(|error| {
                never!("a JSON number is no double: {error}");
                f64::NAN
            }),
        };
        Ok(number)
    }

    /// Skips a word that is not JSON, but that some programs write for a number that is not finite.
    pub(crate) fn skip_not_finite(&mut self) -> bool {
        self.peek();
        let rest = self.rest();
        let word = ["NaN", "Infinity", "-Infinity"].into_iter().find(|word| rest.starts_with(word));
        self.at += word.map_or(0, str::len);
        word.is_some()
    }

    /// Skips the next value and returns its text.
    pub(crate) fn skip(&mut self) -> Result<&'a str, ReadError> {
        let start = self.offset();
        match self.peek() {
            Some(b'"') => {
                self.skip_string()?;
            }
            Some(b'[') => {
                self.open(b'[')?;
                let mut first = true;
                while self.more(&mut first, b']')? {
                    self.skip()?;
                }
            }
            Some(b'{') => {
                self.open(b'{')?;
                let mut first = true;
                while self.more(&mut first, b'}')? {
                    self.skip_string()?;
                    self.colon()?;
                    self.skip()?;
                }
            }
            Some(b'-' | b'0'..=b'9') => {
                self.number()?;
            }
            _ => {
                let rest = self.rest();
                let word = ["true", "false", "null"].into_iter().find(|word| rest.starts_with(word));
                self.at += word.ok_or_else(|| self.expected("a value"))?.len();
            }
        }
        Ok(self.slice(start, self.at))
    }

    fn rest(&self) -> &'a str {
        self.slice(self.at, self.text.len())
    }

    fn slice(&self, start: usize, end: usize) -> &'a str {
        self.text.get(start..end).unwrap_or_else(|| {
            never!("bytes {start} to {end} of {}", self.text.len());
            ""
        })
    }

    fn colon(&mut self) -> Result<(), ReadError> {
        if self.peek() != Some(b':') {
            return Err(self.expected("a colon"));
        }
        self.at += 1;
        Ok(())
    }

    /// Skips a string. Returns whether it has an escape.
    fn skip_string(&mut self) -> Result<bool, ReadError> {
        if self.peek() != Some(b'"') {
            return Err(self.expected("a string in double quotes"));
        }
        self.at += 1;
        let mut escaped = false;
        loop {
            match self.byte() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(escaped);
                }
                Some(b'\\') => {
                    escaped = true;
                    self.at += 1;
                    self.skip_escape()?;
                }
                Some(0..0x20) | None => return Err(self.expected("the closing quote of a string")),
                Some(_) => self.at += 1,
            }
        }
    }

    fn skip_escape(&mut self) -> Result<(), ReadError> {
        let hex = match self.byte() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 0,
            Some(b'u') => 4,
            _ => return Err(self.expected("a valid escape in the string")),
        };
        self.at += 1;
        for _ in 0..hex {
            if !self.byte().is_some_and(|byte| byte.is_ascii_hexdigit()) {
                return Err(self.expected("a valid escape in the string"));
            }
            self.at += 1;
        }
        Ok(())
    }

    fn digits(&mut self, digits: &mut Digits, decimals: u32) -> Result<(), ReadError> {
        let start = self.at;
        while let Some(byte @ b'0'..=b'9') = self.byte() {
            digits.push(byte - b'0', decimals);
            self.at += 1;
        }
        if self.at == start { Err(self.expected("a digit")) } else { Ok(()) }
    }

    fn skip_byte(&mut self, byte: u8) -> bool {
        let found = self.byte() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn expected(&self, expected: &'static str) -> ReadError {
        ReadError::Syntax { expected, byte: self.at }
    }
}

/// The digits of a number as an integer, for the fast path to its value.
#[derive(Default)]
struct Digits {
    integer: u64,
    decimals: u32,
    significant: u32,
}

impl Digits {
    fn push(&mut self, digit: u8, decimals: u32) {
        self.integer = self.integer.wrapping_mul(10).wrapping_add(u64::from(digit));
        self.decimals += decimals;
        self.significant += u32::from(self.integer != 0 || self.significant != 0);
    }

    /// An integer below 2^53 over a power of ten below 10^23 is one correctly rounded division of exact doubles.
    fn exact(&self) -> Option<f64> {
        const POWERS: [f64; 23] = [
            1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18,
            1e19, 1e20, 1e21, 1e22,
        ];
        let power = POWERS.get(self.decimals as usize)?;
        let fits = self.significant < 20 && self.integer < 1 << 53;
        fits.then(|| self.integer as f64 / power)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> Option<f64> {
        let mut json = JsonReader::new(text, 8);
        let number = json.number().ok()?;
        json.end().ok().map(|()| number)
    }

    #[test]
    fn numbers_are_read_as_the_standard_library_reads_them() {
        for text in ["0", "-0", "1", "-125.589", "1e2", "1E-2", "0.1e+3", "9007199254740993", "0.1234567890123456789"] {
            assert_eq!(read(text).map(f64::to_bits), Some(text.parse::<f64>().unwrap().to_bits()), "{text}");
        }
        assert_eq!(read("1e400"), Some(f64::INFINITY));
        for text in ["", "-", "+1", "01", "-00", "1.", ".5", "1e", "1e+", "0x1", "1 2", "NaN"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn nesting_beyond_the_limit_is_refused() {
        assert_eq!(JsonReader::new("[[1]]", 2).skip(), Ok("[[1]]"));
        assert!(matches!(JsonReader::new("[[[1]]]", 2).skip(), Err(ReadError::TooLarge(_))));
    }

    proptest! {
        #[test]
        fn written_double_is_read_back(number in any::<f64>().prop_filter("finite", |number| number.is_finite())) {
            prop_assert_eq!(read(&format!("{number:?}")), Some(number));
            prop_assert_eq!(read(&format!("{number}")), Some(number));
        }

        #[test]
        fn decimal_is_read_as_the_nearest_double(integer in -400_i32..400, decimals in "[0-9]{1,25}") {
            let text = format!("{integer}.{decimals}");
            prop_assert_eq!(read(&text), text.parse().ok());
        }

        #[test]
        fn reader_accepts_what_serde_json_accepts(text in r#"[\[\]{},:"\\ue0123456789.\-+tfn rulase]{0,24}"#) {
            let mut json = JsonReader::new(&text, 100);
            let found = json.skip().and_then(|_| json.end()).is_ok();
            let is_json = serde_json::from_str::<&serde_json::value::RawValue>(&text).is_ok();
            prop_assert_eq!(found, is_json, "{}", text);
        }
    }
}
