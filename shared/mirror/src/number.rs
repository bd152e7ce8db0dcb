//! Numbers as text, copied digit for digit from the table to the index.

/// A number as DynamoDB stores it: decimal text of up to 38 digits. It is never converted to a binary number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number<'a>(&'a str);

impl<'a> Number<'a> {
    /// Creates a number from its text. Returns `None` if the text is not a JSON number.
    pub fn new(text: &'a str) -> Option<Self> {
        is_number(text).then_some(Self(text))
    }

    pub const fn as_str(self) -> &'a str {
        self.0
    }

    /// Returns the number as an integer, if it is one of 64 bits.
    pub fn integer(self) -> Option<i64> {
        self.0.parse().ok()
    }
}

/// Whether the text is a number by JSON's grammar, so that it can be copied into a document.
fn is_number(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))),
        None => (unsigned, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_a_number_only_by_the_grammar_of_json() {
        for text in ["0", "-0", "10.50", "1e400", "12345678901234567890123456789012345678", "-1.5E-130"] {
            assert!(is_number(text), "{text}");
        }
        for text in ["", "-", "+1", ".5", "5.", "01", "1e", "NaN", "0x1", "1 ", "１"] {
            assert!(!is_number(text), "{text}");
        }
    }
}
