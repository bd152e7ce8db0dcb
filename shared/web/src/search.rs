//! The common parts of all search responses: totals, counts of values, highlights, and their form in OpenSearch.

mod highlight;
mod hits;
mod keys;
mod words;

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

pub use highlight::{Marks, Piece};
pub use hits::{Counted, Hit, One, SearchResponse};
pub use keys::FoundKeys;
pub use words::Words;

/// The most words of a query.
pub const MAX_WORDS: usize = 20;

/// The number of hits up to which a total is exact.
pub const MAX_COUNT: u32 = 10_000;

/// The fragments of each field in pieces, which concatenate to the text.
pub type Highlights = BTreeMap<String, Vec<Vec<Piece>>>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Total {
    pub value: u64,
    /// False if there are more hits than were counted.
    pub exact: bool,
}

/// A value and how many items have it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Count {
    pub value: String,
    pub count: u64,
}

/// The most characters of a prefix. Lucene refuses prefixes of about 1 000 bytes, and a character has up to four.
const MAX_PREFIX: usize = 200;

/// Returns the query for documents with a term of this beginning. A longer text is cut: folding may lengthen what a client
/// has sent.
pub fn prefix(field: &str, text: &str) -> Value {
    let end = text.char_indices().nth(MAX_PREFIX).map_or(text.len(), |(end, _)| end);
    json!({ "prefix": { field: text.get(..end).unwrap_or(text) } })
}

/// Returns the query for documents with the words of a text, each with at most one typo from three letters and two from
/// six, none in the first letter. `operator` is `and` if all words must be found, or `or`.
///
/// It expands to all terms within the distance: the default of the nearest 50 changes as other items are written.
pub fn typos(field: &str, text: &str, operator: &str) -> Value {
    json!({ "match": { field: {
        "query": text,
        "operator": operator,
        "fuzziness": "AUTO:3,6",
        "prefix_length": 1,
        "fuzzy_rewrite": "constant_score",
    } } })
}

/// Splits a query into words at spaces. Words without a letter or digit are ignored.
pub fn words(text: &str) -> Result<Vec<String>, String> {
    let words: Vec<String> =
        text.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)).map(str::to_owned).collect();
    match words.len() {
        0 => Err("must contain a letter or a digit".to_owned()),
        1..=MAX_WORDS => Ok(words),
        many => Err(format!("must have at most {MAX_WORDS} words and has {many}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_has_at_most_800_bytes() {
        assert_eq!(prefix("name", "pu"), json!({ "prefix": { "name": "pu" } }));
        assert_eq!(prefix("name", &"𝒜".repeat(201)), json!({ "prefix": { "name": "𝒜".repeat(200) } }));
    }

    #[test]
    fn query_of_more_than_20_words_or_of_punctuation_only_is_refused() {
        assert_eq!(words(" bear  & Camp ").unwrap(), ["bear", "Camp"]);
        assert!(words("&& --").is_err());
        assert!(words(&"a ".repeat(20)).is_ok());
        assert!(words(&"a ".repeat(21)).is_err_and(|detail| detail.contains("21")));
    }
}
