//! JSON text (RFC 8259), read in one pass without a tree: the reader asks for what it expects and skips the rest.
//! Numbers are read to the nearest double, which `serde_json` by itself does not promise.

use std::borrow::Cow;

/// Why reading stopped before the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The text is not JSON.
    Syntax { expected: &'static str, byte: usize },
    /// A limit is broken; what the message says.
    TooLarge(String),
}

pub(crate) struct Json<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    max_depth: usize,
}

impl<'a> Json<'a> {
    pub(crate) fn new(text: &'a str, max_depth: usize) -> Self {
        Self { text, at: 0, depth: 0, max_depth }
    }

    /// The byte where the next value begins.
    pub(crate) fn offset(&mut self) -> usize {
        self.peek();
        self.at
    }

    /// Goes back to a value within the array or object that was closed last; `resume` comes back from it.
    pub(crate) fn revisit(&mut self, offset: usize) -> usize {
        self.depth += 1;
        std::mem::replace(&mut self.at, offset)
    }

    pub(crate) fn resume(&mut self, offset: usize) {
        self.depth -= 1;
        self.at = offset;
    }

    /// The first byte of the next token.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        loop {
            match self.byte() {
                Some(b' ' | b'\n' | b'\r' | b'\t') => self.at += 1,
                other => return other,
            }
        }
    }

    /// Nothing but white space follows.
    pub(crate) fn end(&mut self) -> Result<(), Stop> {
        if self.peek().is_none() { Ok(()) } else { Err(self.expected("the end of the document")) }
    }

    /// Enters an array or object that begins with `bracket`.
    pub(crate) fn open(&mut self, bracket: u8) -> Result<(), Stop> {
        if self.peek() != Some(bracket) {
            return Err(self.expected(if bracket == b'[' { "an array" } else { "an object" }));
        }
        if self.depth == self.max_depth {
            return Err(Stop::TooLarge(format!("JSON nests deeper than {} levels", self.max_depth)));
        }
        self.depth += 1;
        self.at += 1;
        Ok(())
    }

    /// Whether one more element or member follows before `bracket`, which it else leaves behind. `first` is true
    /// before the first one.
    pub(crate) fn more(&mut self, first: &mut bool, bracket: u8) -> Result<bool, Stop> {
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

    /// A member's name, and the colon after it.
    pub(crate) fn name(&mut self) -> Result<Cow<'a, str>, Stop> {
        let name = self.string()?;
        self.colon()?;
        Ok(name)
    }

    pub(crate) fn string(&mut self) -> Result<Cow<'a, str>, Stop> {
        let start = self.offset();
        let escaped = self.skip_string()?;
        let quoted = self.text.get(start..self.at).unwrap_or_default();
        if escaped {
            serde_json::from_str(quoted).map(Cow::Owned).map_err(|_| self.expected("a valid escape in the text"))
        } else {
            Ok(Cow::Borrowed(quoted.trim_matches('"')))
        }
    }

    /// A number as the nearest double; beyond all doubles it is infinite.
    pub(crate) fn number(&mut self) -> Result<f64, Stop> {
        self.peek();
        let start = self.at;
        let negative = self.take(b'-');
        let mut digits = Digits::default();
        let leading = self.at;
        self.digits(&mut digits, 0)?;
        if self.text.as_bytes().get(leading) == Some(&b'0') && self.at > leading + 1 {
            return Err(self.expected("a number without leading zeros"));
        }
        if self.take(b'.') {
            self.digits(&mut digits, 1)?;
        }
        let exponent = matches!(self.byte(), Some(b'e' | b'E'));
        if exponent {
            self.at += 1;
            let _ = self.take(b'+') || self.take(b'-');
            self.digits(&mut Digits::default(), 0)?;
        }
        let exact = if exponent { None } else { digits.exact() };
        let number = match exact {
            Some(number) if negative => -number,
            Some(number) => number,
            None => self.text.get(start..self.at).and_then(|text| text.parse().ok()).unwrap_or(f64::NAN),
        };
        Ok(number)
    }

    /// Takes one of these words, which are not JSON but what some programs write for numbers that are not finite.
    pub(crate) fn not_a_number(&mut self) -> bool {
        self.peek();
        let rest = self.text.get(self.at..).unwrap_or_default();
        let word = ["NaN", "Infinity", "-Infinity"].into_iter().find(|word| rest.starts_with(word));
        self.at += word.map_or(0, str::len);
        word.is_some()
    }

    /// Leaves the next value behind, and gives its text.
    pub(crate) fn skip(&mut self) -> Result<&'a str, Stop> {
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
                let rest = self.text.get(self.at..).unwrap_or_default();
                let word = ["true", "false", "null"].into_iter().find(|word| rest.starts_with(word));
                self.at += word.ok_or_else(|| self.expected("a value"))?.len();
            }
        }
        Ok(self.text.get(start..self.at).unwrap_or_default())
    }

    fn colon(&mut self) -> Result<(), Stop> {
        if self.peek() != Some(b':') {
            return Err(self.expected("a colon"));
        }
        self.at += 1;
        Ok(())
    }

    /// Whether it held an escape.
    fn skip_string(&mut self) -> Result<bool, Stop> {
        if self.peek() != Some(b'"') {
            return Err(self.expected("a text in double quotes"));
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
                Some(0..0x20) | None => return Err(self.expected("the closing quote of a text")),
                Some(_) => self.at += 1,
            }
        }
    }

    fn skip_escape(&mut self) -> Result<(), Stop> {
        let hex = match self.byte() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => 0,
            Some(b'u') => 4,
            _ => return Err(self.expected("a valid escape in the text")),
        };
        self.at += 1;
        for _ in 0..hex {
            if !self.byte().is_some_and(|byte| byte.is_ascii_hexdigit()) {
                return Err(self.expected("a valid escape in the text"));
            }
            self.at += 1;
        }
        Ok(())
    }

    fn digits(&mut self, digits: &mut Digits, decimals: u32) -> Result<(), Stop> {
        let start = self.at;
        while let Some(byte @ b'0'..=b'9') = self.byte() {
            digits.push(byte - b'0', decimals);
            self.at += 1;
        }
        if self.at == start { Err(self.expected("a digit")) } else { Ok(()) }
    }

    fn take(&mut self, byte: u8) -> bool {
        let taken = self.byte() == Some(byte);
        self.at += usize::from(taken);
        taken
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn expected(&self, expected: &'static str) -> Stop {
        Stop::Syntax { expected, byte: self.at }
    }
}

/// A number's digits as an integer, for the quick way to its value.
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
        let mut json = Json::new(text, 8);
        let number = json.number().ok()?;
        json.end().ok().map(|()| number)
    }

    #[test]
    fn numbers_are_those_of_the_standard() {
        for text in ["0", "-0", "1", "-125.589", "1e2", "1E-2", "0.1e+3", "9007199254740993", "0.1234567890123456789"] {
            assert_eq!(read(text).map(f64::to_bits), Some(text.parse::<f64>().unwrap().to_bits()), "{text}");
        }
        assert_eq!(read("1e400"), Some(f64::INFINITY));
        for text in ["", "-", "+1", "01", "-00", "1.", ".5", "1e", "1e+", "0x1", "1 2", "NaN"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn nesting_is_held_while_reading() {
        assert_eq!(Json::new("[[1]]", 2).skip(), Ok("[[1]]"));
        assert!(matches!(Json::new("[[[1]]]", 2).skip(), Err(Stop::TooLarge(_))));
    }

    proptest! {
        #[test]
        fn a_double_written_is_the_double_read(number in any::<f64>().prop_filter("finite", |number| number.is_finite())) {
            prop_assert_eq!(read(&format!("{number:?}")), Some(number));
            prop_assert_eq!(read(&format!("{number}")), Some(number));
        }

        #[test]
        fn decimals_are_read_as_the_nearest_double(integer in -400_i32..400, decimals in "[0-9]{1,25}") {
            let text = format!("{integer}.{decimals}");
            prop_assert_eq!(read(&text), text.parse().ok());
        }

        #[test]
        fn takes_what_serde_json_takes(text in r#"[\[\]{},:"\\ue0123456789.\-+tfn rulase]{0,24}"#) {
            let mut json = Json::new(&text, 100);
            let taken = json.skip().and_then(|_| json.end()).is_ok();
            let is_json = serde_json::from_str::<&serde_json::value::RawValue>(&text).is_ok();
            prop_assert_eq!(taken, is_json, "{}", text);
        }
    }
}
