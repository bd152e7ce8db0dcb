//! Types of the parts of keys. Systems add newtypes of their own.

use std::fmt::{self, Display, Write};
use std::str::FromStr;

use crate::ordered;

/// A part of a key. Its text obeys the rules of [`crate::template`], so that a client's text cannot extend into another
/// part. `FromStr` accepts exactly what `Display` writes.
pub trait KeyPart: Display + FromStr {
    /// Returns the part as written in an index that lists in order, with a number in its order-preserving form.
    fn ordered(&self) -> String {
        self.to_string()
    }
}

/// A text that is not valid as this part of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected {0}")]
pub struct NotAPart(pub &'static str);

/// A number in plain decimal, such as `12`, never `012` or `+12`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Number(pub u64);

impl Display for Number {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl FromStr for Number {
    type Err = NotAPart;

    fn from_str(text: &str) -> Result<Self, NotAPart> {
        let number = text.parse().map(Self).map_err(|_| NotAPart("a whole number"))?;
        if number.to_string() == text { Ok(number) } else { Err(NotAPart("a whole number without leading zeros")) }
    }
}

impl KeyPart for Number {
    fn ordered(&self) -> String {
        ordered::integer(self.0)
    }
}

/// Free text in a key, such as an address. In the key, `~ % # / ? \`, control characters, and colons at an end or
/// beside another colon are `~` and two hex digits, in capitals, for each byte: `a#b` is `a~23b`. Never empty.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Escaped(String);

impl Escaped {
    /// Creates a part from an unescaped text, which must not be empty.
    pub fn new(text: impl Into<String>) -> Result<Self, NotAPart> {
        let text = text.into();
        if text.is_empty() { Err(NotAPart("a text that is not empty")) } else { Ok(Self(text)) }
    }

    /// Returns the unescaped text.
    pub fn text(&self) -> &str {
        &self.0
    }
}

impl Display for Escaped {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut before = ':';
        let mut rest = self.0.chars();
        while let Some(character) = rest.next() {
            let after = rest.clone().next().unwrap_or(':');
            let lone_colon = character == ':' && before != ':' && after != ':';
            if lone_colon || !(matches!(character, '~' | '%' | '#' | '/' | '?' | '\\' | ':') || character.is_control())
            {
                formatter.write_char(character)?;
            } else {
                for byte in character.encode_utf8(&mut [0; 4]).bytes() {
                    write!(formatter, "~{byte:02X}")?;
                }
            }
            before = character;
        }
        Ok(())
    }
}

/// Parses escaped text, only in the one spelling that [`Escaped`] writes.
impl FromStr for Escaped {
    type Err = NotAPart;

    fn from_str(text: &str) -> Result<Self, NotAPart> {
        let fault = NotAPart("an escaped text");
        let mut bytes = Vec::with_capacity(text.len());
        let mut rest = text.bytes();
        while let Some(byte) = rest.next() {
            if byte == b'~' {
                let high = rest.next().and_then(hex_digit).ok_or(fault)?;
                let low = rest.next().and_then(hex_digit).ok_or(fault)?;
                bytes.push(high << 4 | low);
            } else {
                bytes.push(byte);
            }
        }
        let escaped = Self::new(String::from_utf8(bytes).map_err(|_| fault)?)?;
        if escaped.to_string() == text { Ok(escaped) } else { Err(fault) }
    }
}

impl KeyPart for Escaped {}

fn hex_digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::template;

    #[test]
    fn reserved_characters_are_escaped() {
        let cases = [
            ("a#b", "a~23b"),
            ("12 Main St., Apt. 4", "12 Main St., Apt. 4"),
            ("a::b", "a~3A~3Ab"),
            ("google:1", "google:1"),
            ("a:", "a~3A"),
            (":a", "~3Aa"),
            ("~%/?\\", "~7E~25~2F~3F~5C"),
            ("é\n\u{85}", "é~0A~C2~85"),
        ];
        for (text, escaped) in cases {
            assert_eq!(Escaped::new(text).unwrap().to_string(), escaped);
            assert_eq!(escaped.parse::<Escaped>().unwrap().text(), text);
        }
    }

    #[test]
    fn escaped_text_in_another_spelling_is_refused() {
        for text in ["", "~", "~2", "~2G", "~41", "~2f", "a#b", "a::b", "~C3", "a\n"] {
            assert!(text.parse::<Escaped>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn number_in_another_spelling_is_refused() {
        assert_eq!("12".parse(), Ok(Number(12)));
        for text in ["", "012", "+12", "-1", "1.0", "18446744073709551616"] {
            assert!(text.parse::<Number>().is_err(), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_back(text in "\\PC+|[~:#%A-F0-9\n]{1,12}|.+") {
            let escaped = Escaped::new(text.clone()).unwrap().to_string();
            let fits = template::fits("{first}::{last}", &format!("{escaped}::{escaped}"));
            prop_assert!(fits, "{}", escaped);
            prop_assert!(!escaped.contains("::"));
            let back: Escaped = escaped.parse().unwrap();
            prop_assert_eq!(back.text(), text);
        }
    }
}
