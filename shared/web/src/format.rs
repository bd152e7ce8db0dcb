//! Formats of strings besides those of JSON Schema: a name for `#[schema(format = "...")]`, a check, and the words of a
//! fault.

use crate::visible;

/// A format of a string.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    pub name: &'static str,
    pub check: fn(&str) -> bool,
    /// Completes "must be ...".
    pub expected: &'static str,
}

/// The formats of the platform besides those of JSON Schema.
pub(crate) const PLATFORM: &[Format] = &[
    Format { name: "key-part", check: is_key_part, expected: "a string without `#`, `::` or control characters" },
    Format {
        name: "readable",
        check: is_readable,
        expected: "a string with visible characters and without control characters",
    },
];

/// The formats of JSON Schema that the validator checks, in words.
const STANDARD: &[(&str, &str)] = &[
    ("date", "a date like 2025-12-31"),
    ("date-time", "a date and time like 2025-12-31T23:59:59Z (RFC 3339)"),
    ("time", "a time like 23:59:59Z (RFC 3339)"),
    ("duration", "a duration like P1DT12H (ISO 8601)"),
    ("email", "an email address"),
    ("uri", "a URI with a scheme"),
    ("uuid", "a UUID"),
];

/// Returns the words for a string of this format, as in "must be {expected}".
pub(crate) fn expected(name: &str, formats: &[Format]) -> String {
    let own = formats.iter().chain(PLATFORM).find(|format| format.name == name).map(|format| format.expected);
    let standard = || STANDARD.iter().find(|(standard, _)| *standard == name).map(|(_, expected)| *expected);
    own.or_else(standard).map_or_else(|| format!("of the format `{name}`"), str::to_owned)
}

/// Returns whether people can read the text. An empty one is checked by its minimum length.
fn is_readable(text: &str) -> bool {
    text.is_empty() || (visible::is_readable(text) && !text.chars().any(char::is_control))
}

/// Returns whether a text can be a part of a key without escaping.
fn is_key_part(text: &str) -> bool {
    !text.is_empty() && !text.contains('#') && !text.contains("::") && !text.chars().any(char::is_control)
}
