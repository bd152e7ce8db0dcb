//! The words of a query: the clauses that find them in the folded fields of documents, and the same test of a word.

use serde_json::{Value, json};
use web::Fault;
use web::search::{MAX_WORDS, prefix, typos};

use crate::fold::words;
use crate::typos::is_within;

/// The points of a word of a name, of the beginning of one, of a word of another field, and of a word of any field with
/// typos.
const NAME: u32 = 10;
const PREFIX: u32 = 6;
const OTHER: u32 = 2;
const TYPO: u32 = 1;

/// The letters from which a word may have one typo, and two, as in [`typos`].
const LETTERS_OF_ONE_TYPO: usize = 3;
const LETTERS_OF_TWO_TYPOS: usize = 6;

/// The letters of the longest word that may have typos. For one of 100 letters the engine needs up to a second, and it
/// refuses some of 200.
const MAX_LETTERS_WITH_TYPOS: usize = 50;

/// One to [`MAX_WORDS`] folded words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words(Vec<String>);

impl Words {
    /// Parses the parameter `q`.
    pub fn parse(q: &str) -> Result<Self, Fault> {
        let words = words(q);
        match words.len() {
            0 => Err(Fault::parameter("q", "must contain a letter or a digit")),
            1..=MAX_WORDS => Ok(Self(words)),
            many => Err(Fault::parameter("q", format!("must have at most {MAX_WORDS} words and has {many}"))),
        }
    }

    /// Returns a clause for each word: the best of what it is in a document counts.
    pub fn clauses(&self, names: &[&str], others: &[&str]) -> Vec<Value> {
        self.0.iter().map(|word| clause(word, names, others)).collect()
    }

    /// Whether the clauses find this folded word of a document, in a name or in another field.
    pub fn finds(&self, found: &str, is_name: bool) -> bool {
        self.0.iter().any(|word| {
            word == found
                || is_name && found.starts_with(word.as_str())
                || max_typos(word).is_some_and(|edits| is_within(word, found, edits))
        })
    }
}

fn clause(word: &str, names: &[&str], others: &[&str]) -> Value {
    let term = |field: &str| json!({ "term": { field: word } });
    let mut queries: Vec<Value> =
        names.iter().flat_map(|name| [scored(NAME, term(name)), scored(PREFIX, prefix(name, word))]).collect();
    queries.extend(others.iter().map(|other| scored(OTHER, term(other))));
    if max_typos(word).is_some() {
        queries.extend(names.iter().chain(others).map(|field| scored(TYPO, typos(field, word, "and"))));
    }
    json!({ "dis_max": { "queries": queries } })
}

/// Returns how many typos a word may have. None if it may have none.
fn max_typos(word: &str) -> Option<usize> {
    match word.chars().count() {
        ..LETTERS_OF_ONE_TYPO => None,
        LETTERS_OF_ONE_TYPO..LETTERS_OF_TWO_TYPOS => Some(1),
        LETTERS_OF_TWO_TYPOS..=MAX_LETTERS_WITH_TYPOS => Some(2),
        _ => None,
    }
}

fn scored(points: u32, filter: Value) -> Value {
    json!({ "constant_score": { "filter": filter, "boost": points } })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_without_a_letter_or_with_21_words_is_refused() {
        assert_eq!(Words::parse("Saint-Étienne").unwrap().0, ["saint", "etienne"]);
        assert!(Words::parse("-- !").is_err());
        assert!(Words::parse(&"a ".repeat(20)).is_ok());
        assert!(Words::parse(&"a ".repeat(21)).is_err());
    }

    #[test]
    fn word_finds_itself_its_continuations_in_names_and_typos() {
        for (q, found, in_name, in_other) in [
            ("Parish", "parish", true, true),
            ("regist", "registers", true, false),
            ("parrish", "parish", true, true),
            ("parrisch", "parish", true, true),
            ("parrissch", "parish", false, false),
            ("tythe", "tithe", true, true),
            ("tytha", "tithe", false, false),
            ("ot", "to", false, false),
            ("barish", "parish", false, false),
            ("first parish", "parish", true, true),
        ] {
            let words = Words::parse(q).unwrap();
            assert_eq!((words.finds(found, true), words.finds(found, false)), (in_name, in_other), "{q} {found}");
        }
    }

    #[test]
    fn word_of_3_to_50_letters_has_clauses_with_typos() {
        for (letters, expected) in [(2, 0), (3, 2), (50, 2), (51, 0)] {
            let clauses = Words::parse(&"é".repeat(letters)).unwrap().clauses(&["name"], &["description"]);
            let of_typos = clauses.iter().map(|clause| clause.to_string().matches("fuzziness").count());
            assert_eq!(of_typos.collect::<Vec<_>>(), [expected], "{letters}");
        }
    }
}
