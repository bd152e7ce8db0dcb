//! What the answers of every search have in common: totals, counts of values, highlights, and how OpenSearch says them.

mod highlight;
mod hits;

use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;

pub use highlight::{Marks, Piece};
pub use hits::{Counted, Hit, One, SearchResponse};

/// The most words of a query.
pub const MOST_WORDS: usize = 20;

/// Counting stops here.
pub const COUNTED: u32 = 10_000;

/// By field its fragments, each in pieces; joined these are the text.
pub type Highlights = BTreeMap<String, Vec<Vec<Piece>>>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Total {
    pub value: u64,
    /// False where counting stopped.
    pub exact: bool,
}

/// A value and how many items have it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Count {
    pub value: String,
    pub count: u64,
}

/// The words of a query: pieces between spaces, without those that have neither letter nor digit.
pub fn words(text: &str) -> Result<Vec<String>, String> {
    let words: Vec<String> =
        text.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)).map(str::to_owned).collect();
    match words.len() {
        0 => Err("must have a letter or a digit".to_owned()),
        1..=MOST_WORDS => Ok(words),
        many => Err(format!("must have at most {MOST_WORDS} words, this has {many}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_and_punctuation_is_none() {
        assert_eq!(words(" bear  & Camp ").unwrap(), ["bear", "Camp"]);
        assert!(words("&& --").is_err());
        assert!(words(&"a ".repeat(20)).is_ok());
        assert!(words(&"a ".repeat(21)).is_err_and(|detail| detail.contains("21")));
    }
}
