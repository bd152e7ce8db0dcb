//! A reader that walks JSON text and hands out slices of it.

use std::borrow::Cow;

use super::special::special;

/// Text that is not the expected JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no {expected} at byte {at}")]
pub(crate) struct Malformed {
    pub(crate) expected: &'static str,
    pub(crate) at: usize,
}

/// A position in JSON text. Skipped values are checked only for balanced brackets and quotes. Returned values are
/// checked fully.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// Reads an object: `member` is called with each name and must read or skip the value.
    pub(crate) fn object(
        &mut self,
        mut member: impl FnMut(&mut Self, Cow<'a, str>) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        self.expect(b'{', "object")?;
        if self.take(b'}') {
            return Ok(());
        }
        loop {
            let name = self.string()?;
            self.expect(b':', "colon")?;
            member(self, name)?;
            if !self.take(b',') {
                return self.expect(b'}', "end of an object");
            }
        }
    }

    /// Reads an array: `element` is called before each value and must read or skip it.
    pub(crate) fn array(
        &mut self,
        mut element: impl FnMut(&mut Self) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        self.expect(b'[', "array")?;
        if self.take(b']') {
            return Ok(());
        }
        loop {
            element(self)?;
            if !self.take(b',') {
                return self.expect(b']', "end of an array");
            }
        }
    }

    /// Reads a string, which is borrowed unless it has escapes.
    pub(crate) fn string(&mut self) -> Result<Cow<'a, str>, Malformed> {
        let (raw, escaped) = self.raw_string()?;
        if escaped {
            unescape(raw).map(Cow::Owned).ok_or(self.malformed("valid escape"))
        } else {
            Ok(Cow::Borrowed(raw))
        }
    }

    /// Reads `true` or `false`.
    pub(crate) fn flag(&mut self) -> Result<bool, Malformed> {
        match self.value()? {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(self.malformed("boolean")),
        }
    }

    /// Skips one value of any kind and returns its text.
    pub(crate) fn value(&mut self) -> Result<&'a str, Malformed> {
        self.space();
        let from = self.at;
        let mut depth = 0_usize;
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.raw_string()?;
                }
                Some(b'{' | b'[') => {
                    depth += 1;
                    self.at += 1;
                }
                Some(b'}' | b']') if depth > 0 => {
                    depth -= 1;
                    self.at += 1;
                }
                Some(b',' | b':' | b' ' | b'\n' | b'\r' | b'\t') if depth > 0 => {
                    self.at += 1;
                    continue;
                }
                Some(b'-' | b'0'..=b'9' | b'a'..=b'z') => self.word(),
                _ => return Err(self.malformed("value")),
            }
            if depth == 0 {
                return self.text.get(from..self.at).ok_or(self.malformed("value"));
            }
        }
    }

    /// Calls `read`. Returns the text that it consumed, and its result.
    pub(crate) fn spanned<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, Malformed>,
    ) -> Result<(&'a str, T), Malformed> {
        self.space();
        let from = self.at;
        let read = read(self)?;
        let text = self.text.get(from..self.at).ok_or(self.malformed("value"))?;
        Ok((text, read))
    }

    /// Whether only white space is left.
    pub(crate) fn at_end(&mut self) -> bool {
        self.space();
        self.peek().is_none()
    }

    pub(crate) fn malformed(&self, expected: &'static str) -> Malformed {
        Malformed { expected, at: self.at }
    }

    /// Reads a string without unescaping it. Returns its contents, and whether they have escapes.
    #[inline]
    fn raw_string(&mut self) -> Result<(&'a str, bool), Malformed> {
        self.expect(b'"', "string")?;
        let from = self.at;
        let mut escaped = false;
        loop {
            let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
            let Some(offset) = special(rest) else { return Err(self.malformed("end of a string")) };
            let at = self.at + offset;
            match rest.get(offset) {
                Some(b'"') => {
                    self.at = at + 1;
                    let raw = self.text.get(from..at).ok_or(self.malformed("string"))?;
                    return Ok((raw, escaped));
                }
                Some(b'\\') => {
                    escaped = true;
                    self.at = at + 2;
                }
                _ => return Err(self.malformed("end of a string")),
            }
        }
    }

    fn word(&mut self) {
        while let Some(b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'E') = self.peek() {
            self.at += 1;
        }
    }

    #[inline]
    fn space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Skips this byte and the white space before it, if the byte is next.
    #[inline]
    fn take(&mut self, byte: u8) -> bool {
        self.space();
        let found = self.peek() == Some(byte);
        if found {
            self.at += 1;
        }
        found
    }

    #[inline]
    fn expect(&mut self, byte: u8, what: &'static str) -> Result<(), Malformed> {
        if self.take(byte) { Ok(()) } else { Err(self.malformed(what)) }
    }
}

/// Replaces the escapes of a string. Returns `None` if one is invalid or half of a surrogate pair is missing.
fn unescape(raw: &str) -> Option<String> {
    let mut text = String::with_capacity(raw.len());
    let mut characters = raw.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            text.push(character);
            continue;
        }
        text.push(match characters.next()? {
            same @ ('"' | '\\' | '/') => same,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => match code_unit(&mut characters)? {
                high @ 0xd800..=0xdbff => {
                    let escape = (characters.next()?, characters.next()?);
                    let low = code_unit(&mut characters)?;
                    if escape != ('\\', 'u') || !(0xdc00..=0xdfff).contains(&low) {
                        return None;
                    }
                    char::from_u32(0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00))?
                }
                unit => char::from_u32(unit)?,
            },
            _ => return None,
        });
    }
    Some(text)
}

fn code_unit(characters: &mut std::str::Chars<'_>) -> Option<u32> {
    (0..4).try_fold(0, |unit, _| Some(unit * 16 + characters.next()?.to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn string_equals_that_of_serde_json() {
        for text in [r#""""#, r#""plain é""#, r#""a\"b\\c\/d\b\f\n\r\t""#, r#""\u00e9\ud83d\ude00""#] {
            let expected: String = serde_json::from_str(text).unwrap();
            assert_eq!(Reader::new(text).string().unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn invalid_string_is_refused() {
        for text in [r#"""#, r#""\"#, r#""\x""#, r#""\ud83d""#, r#""\ud83dA""#, r#""\u12""#, "\"a\nb\"", "7"] {
            assert!(Reader::new(text).string().is_err(), "{text}");
        }
    }

    #[test]
    fn value_is_skipped_as_a_whole() {
        for (text, value) in [
            (r#" {"a":[1,{"b":"}"}],"c":null} ,"#, r#"{"a":[1,{"b":"}"}],"c":null}"#),
            ("-1.5E+3,", "-1.5E+3"),
            (r#""a\"b" "#, r#""a\"b""#),
            ("[ ]", "[ ]"),
        ] {
            assert_eq!(Reader::new(text).value().unwrap(), value);
        }
        for text in ["", "}", ",", "{", "[[]"] {
            assert!(Reader::new(text).value().is_err(), "{text}");
        }
    }

    #[test]
    fn members_and_elements_are_read_in_order() {
        let mut seen = Vec::new();
        let mut reader = Reader::new(r#" { "a" : [1, 2] , "b\n" : {} } "#);
        reader
            .object(|reader, name| {
                seen.push((name.into_owned(), reader.value()?));
                Ok(())
            })
            .unwrap();
        assert_eq!(seen, [("a".to_owned(), "[1, 2]"), ("b\n".to_owned(), "{}")]);
        assert!(reader.at_end());
    }
}
