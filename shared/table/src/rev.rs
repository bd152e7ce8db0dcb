//! Revisions: the number on every item that orders its versions, also across delete and re-create.

use std::fmt;

/// A revision: an even number, `0 < rev < 2^53`. Any other value in a table counts as no revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rev(u64);

/// The attribute of the revision in every table.
pub const ATTRIBUTE: &str = "rev";

/// The difference between consecutive revisions.
pub(crate) const STEP: u64 = 2;

const LIMIT: u64 = 1 << 53;

impl Rev {
    /// Returns a number as a revision, if it is valid.
    pub const fn new(number: u64) -> Option<Self> {
        if number > 0 && number < LIMIT && number.is_multiple_of(2) { Some(Self(number)) } else { None }
    }

    /// Parses DynamoDB's text of a number. Fractions, signs and exponents are invalid.
    pub fn parse(text: &str) -> Option<Self> {
        if !text.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        text.parse().ok().and_then(Self::new)
    }

    /// Returns the next revision of an item: `max(2 * now in microseconds, old + 2)`.
    pub fn next(old: Option<Self>, now_micros: i64) -> Self {
        let clock = u64::try_from(now_micros).unwrap_or(0).saturating_mul(2).max(2);
        let grown = old.map_or(0, |rev| rev.0 + STEP);
        Self(clock.max(grown).min(LIMIT - STEP))
    }

    pub const fn number(self) -> u64 {
        self.0
    }
}

impl fmt::Display for Rev {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_that_is_odd_or_out_of_range_is_no_revision() {
        for text in ["0", "-2", "3", "4.0", "4e2", "", "9007199254740992", "18446744073709551616", "two"] {
            assert_eq!(Rev::parse(text), None, "{text}");
        }
        assert_eq!(Rev::parse("9007199254740990").map(Rev::number), Some(9_007_199_254_740_990));
    }

    #[test]
    fn revision_grows_while_the_clock_stands_still() {
        let first = Rev::next(None, 10);
        let second = Rev::next(Some(first), 10);
        assert_eq!((first.number(), second.number()), (20, 22));
    }
}
