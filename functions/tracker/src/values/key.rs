//! Keys of values, and the sort keys of the index: `{value key}␁{number key}`.

use table::ordered;

/// Ends a key that is whole (U+0001).
pub const ENDS: char = '\u{1}';

/// Ends a key that was cut (U+0002): it sorts after the whole key of the same text.
pub const ENDS_CUT: char = '\u{2}';

/// A value in a form whose byte order is the order of the values. It never contains [`ENDS`] or [`ENDS_CUT`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ValueKey {
    text: String,
    cut: bool,
}

impl ValueKey {
    pub fn whole(text: impl Into<String>) -> Self {
        Self { text: text.into(), cut: false }
    }

    pub(super) fn cut(text: impl Into<String>) -> Self {
        Self { text: text.into(), cut: true }
    }

    /// The sort key in the index, for the issue of this number.
    pub fn data(&self, number: u64) -> String {
        let end = if self.cut { ENDS_CUT } else { ENDS };
        format!("{}{end}{}", self.text, number_key(number))
    }

    /// The key in search documents. A cut key ends in [`ENDS_CUT`].
    pub fn keyword(&self) -> String {
        if self.cut { format!("{}{ENDS_CUT}", self.text) } else { self.text.clone() }
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// The key of an issue's number.
pub fn number_key(number: u64) -> String {
    ordered::number(&number.to_string()).unwrap_or_else(|| {
        // DynamoDB refuses the empty key, so nothing is written.
        table::never!("the number {number} has no key");
        String::new()
    })
}

/// The number of an issue, from its key alone or from the end of a value's sort key.
pub fn number_of(data: &str) -> Option<u64> {
    let key = data.rsplit([ENDS, ENDS_CUT]).next()?;
    ordered::parse_number(key)?.parse().ok()
}

/// The prefix of the sort keys of exactly this value.
pub fn exactly(key: &str) -> String {
    format!("{key}{ENDS}")
}

/// A bound after the sort keys of this value and before those of every greater value.
pub fn after_exactly(key: &str) -> String {
    format!("{key}{ENDS_CUT}")
}
