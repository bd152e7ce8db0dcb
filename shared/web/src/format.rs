//! Formats of text beyond those of JSON Schema: a name for `#[schema(format = "...")]`, a check, and the words in
//! which a fault says what was expected.

use crate::visible;

/// A format of text.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    pub name: &'static str,
    pub check: fn(&str) -> bool,
    /// Completes "must be ...".
    pub expected: &'static str,
}

/// What the platform knows beside the formats of JSON Schema.
pub(crate) const PLATFORM: &[Format] = &[
    Format { name: "key-part", check: is_key_part, expected: "text without `#`, `::` or control characters" },
    Format { name: "readable", check: is_readable, expected: "text that can be read, without control characters" },
];

/// Those of JSON Schema that a validator checks by itself, in words.
const STANDARD: &[(&str, &str)] = &[
    ("date", "a calendar day as 2025-12-31"),
    ("date-time", "a time as 2025-12-31T23:59:59Z (RFC 3339)"),
    ("time", "a time of day as 23:59:59Z (RFC 3339)"),
    ("duration", "a duration as P1DT12H (ISO 8601)"),
    ("email", "an email address"),
    ("uri", "a URI with its scheme"),
    ("uuid", "a UUID"),
];

/// What a text of this format must be, as in "must be {expected}".
pub(crate) fn expected(name: &str, formats: &[Format]) -> String {
    let own = formats.iter().chain(PLATFORM).find(|format| format.name == name).map(|format| format.expected);
    let standard = || STANDARD.iter().find(|(standard, _)| *standard == name).map(|(_, expected)| *expected);
    own.or_else(standard).map_or_else(|| format!("of the format `{name}`"), str::to_owned)
}

/// A name for people. That it is empty is its length's to say.
fn is_readable(text: &str) -> bool {
    text.is_empty() || (visible::is_readable(text) && !text.chars().any(char::is_control))
}

/// What may stand in a key as it is.
fn is_key_part(text: &str) -> bool {
    !text.is_empty() && !text.contains('#') && !text.contains("::") && !text.chars().any(char::is_control)
}
