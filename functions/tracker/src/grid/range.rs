//! Ranges of the index's sort keys: the tests of a column in its partition.

use table::Query;

use super::{Comparison, Test};
use crate::values::{after_exactly, exactly};

/// One range of `Data` in one partition of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Range {
    All,
    BeginsWith(String),
    /// At or after this.
    From(String),
    /// Before this.
    Below(String),
    /// From the first to the second, both included. No sort key equals the second.
    Between(String, String),
}

impl Range {
    /// The sort keys of exactly this value.
    pub fn exactly(key: &str) -> Self {
        Self::BeginsWith(exactly(key))
    }

    /// The range of all sort keys that pass these tests; `Some(None)` if none can. None for tests that are not one range.
    pub fn of(tests: &[&Test]) -> Option<Option<Self>> {
        if let [Test::Prefix(prefix)] = tests {
            return Some(Some(Self::BeginsWith(prefix.clone())));
        }
        let (mut lower, mut upper) = (None::<String>, None::<String>);
        for test in tests {
            match test {
                Test::NotEmpty => {}
                Test::Compare(comparison @ (Comparison::From | Comparison::Above), key) => {
                    let bound = if *comparison == Comparison::From { exactly(key) } else { after_exactly(key) };
                    lower = Some(lower.map_or(bound.clone(), |known| known.max(bound)));
                }
                Test::Compare(comparison, key) => {
                    let bound = if *comparison == Comparison::Below { exactly(key) } else { after_exactly(key) };
                    upper = Some(upper.map_or(bound.clone(), |known| known.min(bound)));
                }
                Test::Is(_) | Test::Prefix(_) | Test::Empty => return None,
            }
        }
        Some(Self::bounded(lower, upper))
    }

    /// [`Self::of`] where sort keys are only the numbers of issues: every comparison includes its operand.
    pub fn of_numbers(tests: &[&Test]) -> Option<Option<Self>> {
        let (mut lower, mut upper) = (None::<String>, None::<String>);
        for test in tests {
            match test {
                Test::Compare(Comparison::From, key) => {
                    lower = Some(lower.map_or(key.clone(), |known| known.max(key.clone())));
                }
                Test::Compare(Comparison::UpTo, key) => {
                    let bound = exactly(key);
                    upper = Some(upper.map_or(bound.clone(), |known| known.min(bound)));
                }
                _ => return None,
            }
        }
        Some(Self::bounded(lower, upper))
    }

    fn bounded(lower: Option<String>, upper: Option<String>) -> Option<Self> {
        match (lower, upper) {
            (None, None) => Some(Self::All),
            (Some(lower), None) => Some(Self::From(lower)),
            (None, Some(upper)) => Some(Self::Below(upper)),
            (Some(lower), Some(upper)) if lower > upper => None,
            (Some(lower), Some(upper)) => Some(Self::Between(lower, upper)),
        }
    }

    /// Restricts a query to this range.
    pub fn query<'a>(&self, query: Query<'a>) -> Query<'a> {
        match self.clone() {
            Self::All => query,
            Self::BeginsWith(prefix) => query.begins_with(prefix),
            Self::From(lower) => query.from(lower),
            Self::Below(upper) => query.below(upper),
            Self::Between(lower, upper) => query.between(lower, upper),
        }
    }

    /// Whether a sort key is in this range.
    #[cfg(test)]
    pub fn holds(&self, data: &str) -> bool {
        match self {
            Self::All => true,
            Self::BeginsWith(prefix) => data.starts_with(prefix),
            Self::From(lower) => data >= lower.as_str(),
            Self::Below(upper) => data < upper.as_str(),
            Self::Between(lower, upper) => (lower.as_str()..=upper.as_str()).contains(&data),
        }
    }
}
