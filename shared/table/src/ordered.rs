//! Numbers as text whose byte order is the order of the numbers, for sort keys: `2` before `10`, `-3` before `-2.5`.

/// A whole number: a letter for its count of digits (`a` is one), then the digits. `7` is `a7`, `10` is `b10`.
pub fn integer(number: u64) -> String {
    let digits = number.to_string();
    let count = (b'a'..=b'z').nth(digits.len() - 1).map_or('z', char::from);
    format!("{count}{digits}")
}

/// The number that [`integer`] wrote, if the text is its one spelling.
pub fn parse_integer(text: &str) -> Option<u64> {
    let number = text.get(1..)?.parse().ok()?;
    (integer(number) == text).then_some(number)
}
