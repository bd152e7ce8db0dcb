//! Particles and prefixes of surnames, which are written apart, joined to the name, or not at all.

use std::iter;

use crate::particles::is_particle;

/// Prefixes that are a part of the surname, written apart or joined to it: `Mc Donald`, `O Brien`.
const PREFIXES: [&str; 4] = ["mc", "mac", "o", "fitz"];

/// Returns whether a folded word is a prefix of the next word.
pub fn is_prefix(word: &str) -> bool {
    PREFIXES.contains(&word)
}

/// Returns the prefix of a folded word and the rest of it, if it begins with a prefix.
pub fn parted(word: &str) -> Option<(&'static str, &str)> {
    let mut parts = PREFIXES.into_iter().filter_map(|prefix| Some((prefix, word.strip_prefix(prefix)?)));
    parts.find(|(_, rest)| !rest.is_empty())
}

/// Returns the spellings that are none of the words: those joined with the particles or prefixes before them. `van der berg`
/// gives `vanderberg`. What a query may look for is stored.
pub fn joined(words: &[String]) -> Vec<String> {
    spellings(words).into_iter().flatten().filter(|spelling| !words.contains(spelling)).collect()
}

/// Joins each prefix with its word, and returns the words with all their spellings: the word alone, and joined with the
/// particles before it. Particles are dropped unless there is no other word.
pub fn spellings(words: &[String]) -> Vec<Vec<String>> {
    let mut spellings = Vec::new();
    let (mut particles, mut prefix) = (String::new(), String::new());
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        let is_last = words.peek().is_none();
        if is_prefix(word) && !is_last {
            prefix.push_str(word);
        } else if is_particle(word) && !(is_last && spellings.is_empty()) {
            particles.push_str(word);
        } else {
            let word = format!("{}{word}", std::mem::take(&mut prefix));
            let with_particles = (!particles.is_empty()).then(|| format!("{}{word}", std::mem::take(&mut particles)));
            spellings.push(iter::once(word).chain(with_particles).collect());
        }
    }
    spellings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fold::words;

    #[test]
    fn particles_and_prefixes_are_joined_with_the_next_word() {
        assert_eq!(joined(&words("van der Berg")), ["vanderberg"]);
        assert_eq!(joined(&words("Mc Donald")), ["mcdonald"]);
        assert_eq!(joined(&words("Pugh de la")), Vec::<String>::new());
        assert_eq!(joined(&words("O o")), ["oo"]);
    }

    #[test]
    fn word_with_a_prefix_is_parted_from_it() {
        assert_eq!(parted("mcdonald"), Some(("mc", "donald")));
        assert_eq!(parted("macdonald"), Some(("mac", "donald")));
        assert_eq!((parted("mc"), parted("pugh")), (None, None));
    }

    #[test]
    fn particles_of_a_query_may_be_missing_and_prefixes_may_not() {
        assert_eq!(spellings(&words("van der Berg")), [["berg", "vanderberg"]]);
        assert_eq!(spellings(&words("Mc Donald")), [["mcdonald"]]);
        assert_eq!(spellings(&words("De La")), [["la", "dela"]]);
        assert_eq!(spellings(&words("O")), [["o"]]);
        assert_eq!(spellings(&words("Smith de")), [["smith"]]);
    }
}
