//! The words of a stored name, of which a transcriber may not have been able to read every letter.
//!
//! `_` stands for one letter, `*` for some letters, `[ae]` for either letter, and `?` at the end for a doubtful word.

use crate::fold::{first, fold, words};

/// The most spellings of a word with either-letters.
const MAX_SPELLINGS: usize = 16;

/// The most letters in brackets that are alternatives. Longer texts, such as `[illegible]`, are gaps.
const MAX_ALTERNATIVES: usize = 6;

/// The fewest letters of a word with a gap. With fewer, the word would match too many queries.
const MIN_LETTERS: usize = 2;

/// The most letters of a word.
const MAX_LETTERS: usize = 60;

/// The most letters of a queried word for which `*` stands in every position.
const MAX_LETTERS_WITH_GAPS: usize = 24;

/// The gap of one letter and of some letters, as in the terms of search. A folded word has neither character.
const ONE: char = '_';
const SOME: char = '*';

/// A word of a stored name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// A word that was read in full.
    Certain(String),
    /// The possible spellings of a word, each with at most one gap.
    Uncertain(Vec<String>),
}

enum Piece {
    Letters(String),
    Gap(char),
    Either(Vec<char>),
}

/// Returns the words of a stored name.
pub fn readings(text: &str) -> Vec<Reading> {
    text.split(is_separator).flat_map(reading).collect()
}

/// Returns the terms of all uncertain readings that a word of a query matches: the word, and the word with one gap.
pub fn uncertain_terms(word: &str) -> Vec<String> {
    let letters: Vec<char> = word.chars().collect();
    let form = |start: usize, end: usize, gap: char| {
        let before = letters.iter().take(start);
        before.copied().chain([gap]).chain(letters.iter().skip(end).copied()).collect::<String>()
    };
    let mut terms = vec![word.to_owned()];
    if letters.len() > MIN_LETTERS {
        terms.extend((0..letters.len()).map(|start| form(start, start + 1, ONE)));
    }
    if letters.len() <= MAX_LETTERS_WITH_GAPS {
        for start in 0..=letters.len() {
            let ends = (start..=letters.len()).filter(|end| letters.len() - (end - start) >= MIN_LETTERS);
            terms.extend(ends.map(|end| form(start, end, SOME)));
        }
    }
    terms
}

/// Returns whether a term has a gap.
pub fn has_gap(term: &str) -> bool {
    term.contains(is_gap)
}

fn reading(token: &str) -> Vec<Reading> {
    if !token.contains(is_mark) {
        return words(token).into_iter().map(|word| Reading::Certain(first(&word, MAX_LETTERS).to_owned())).collect();
    }
    let mut spellings: Vec<String> = spellings(&pieces(token)).iter().filter_map(|form| with_one_gap(form)).collect();
    spellings.dedup();
    if spellings.is_empty() { Vec::new() } else { vec![Reading::Uncertain(spellings)] }
}

fn pieces(token: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = token;
    while let Some(mark) = rest.chars().next() {
        let after = rest.strip_prefix(mark).unwrap_or_default();
        rest = match mark {
            ONE | SOME => {
                pieces.push(Piece::Gap(mark));
                after
            }
            '?' => {
                // At the end the word is doubtful. Within the word the mark stands for a letter.
                pieces.extend((!after.is_empty()).then_some(Piece::Gap(ONE)));
                after
            }
            '[' => match after.split_once(']') {
                Some((inside, after)) => {
                    pieces.push(bracketed(inside));
                    after
                }
                None => after,
            },
            ']' => after,
            _ => {
                let (letters, after) =
                    rest.split_at_checked(rest.find(is_mark).unwrap_or(rest.len())).unwrap_or((rest, ""));
                pieces.push(Piece::Letters(fold(letters).replace(' ', "")));
                after
            }
        };
    }
    pieces
}

fn bracketed(inside: &str) -> Piece {
    let letters = fold(inside).replace(' ', "");
    if letters.is_empty() || letters.chars().count() > MAX_ALTERNATIVES || inside.contains(is_mark) {
        Piece::Gap(SOME)
    } else {
        Piece::Either(letters.chars().collect())
    }
}

/// Returns the combinations of the alternatives. Alternatives beyond the limit of spellings become gaps of one letter.
fn spellings(pieces: &[Piece]) -> Vec<String> {
    let mut spellings = vec![String::new()];
    for piece in pieces {
        match piece {
            Piece::Letters(letters) => spellings.iter_mut().for_each(|spelling| spelling.push_str(letters)),
            Piece::Either(letters) if spellings.len() * letters.len() <= MAX_SPELLINGS => {
                let with =
                    |spelling: &String| letters.iter().map(|letter| format!("{spelling}{letter}")).collect::<Vec<_>>();
                spellings = spellings.iter().flat_map(with).collect();
            }
            Piece::Either(_) => spellings.iter_mut().for_each(|spelling| spelling.push(ONE)),
            Piece::Gap(gap) => spellings.iter_mut().for_each(|spelling| spelling.push(*gap)),
        }
    }
    spellings
}

/// Returns the spelling with several gaps joined to one, which then has the letters between them. None if too few
/// letters are left.
fn with_one_gap(spelling: &str) -> Option<String> {
    let spelling = first(spelling, MAX_LETTERS);
    let (start, end) = (spelling.find(is_gap), spelling.rfind(is_gap));
    let form = match (start, end) {
        (Some(start), Some(end)) if start < end => {
            format!("{}{SOME}{}", spelling.get(..start)?, spelling.get(end + 1..)?)
        }
        _ => spelling.to_owned(),
    };
    let letters = form.chars().filter(|character| !is_gap(*character)).count();
    let enough = if start.is_some() { MIN_LETTERS } else { 1 };
    (letters >= enough).then_some(form)
}

fn is_gap(character: char) -> bool {
    matches!(character, ONE | SOME)
}

fn is_mark(character: char) -> bool {
    matches!(character, ONE | SOME | '?' | '[' | ']')
}

/// Whether a character ends a word. Others that are no letters, such as apostrophes and accents, are left to folding.
fn is_separator(character: char) -> bool {
    character.is_whitespace()
        || (character.is_ascii_punctuation() && !is_mark(character) && !matches!(character, '\'' | '`'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forms(text: &str) -> Vec<String> {
        let uncertain = |reading| match reading {
            Reading::Certain(_) => Vec::new(),
            Reading::Uncertain(forms) => forms,
        };
        readings(text).into_iter().flat_map(uncertain).collect()
    }

    #[test]
    fn words_without_marks_are_certain() {
        assert_eq!(
            readings("O’Brien, Seán"),
            [Reading::Certain("obrien".to_owned()), Reading::Certain("sean".to_owned()),]
        );
        assert_eq!(readings(" - "), []);
    }

    #[test]
    fn uncertain_letters_become_spellings_with_at_most_one_gap() {
        for (text, expected) in [
            ("P_gh", vec!["p_gh"]),
            ("Pu*", vec!["pu*"]),
            ("P[uo]gh", vec!["pugh", "pogh"]),
            ("P[ÜO]gh_", vec!["pugh_", "pogh_"]),
            ("Pugh?", vec!["pugh"]),
            ("P?gh", vec!["p_gh"]),
            ("P__gh", vec!["p*gh"]),
            ("M_ll_r", vec!["m*r"]),
            ("Pu[illegible]", vec!["pu*"]),
            ("[ab][cd][ef][gh][ij]", vec![]),
        ] {
            let forms = forms(text);
            if text.starts_with("[ab]") {
                assert_eq!((forms.len(), forms[0].as_str()), (16, "aceg_"));
            } else {
                assert_eq!(forms, expected, "{text}");
            }
        }
    }

    #[test]
    fn word_with_fewer_than_two_letters_beside_a_gap_is_not_found() {
        for text in ["*", "_", "?", "P*", "[?]", "_ _", "[]"] {
            assert_eq!(readings(text), [], "{text}");
        }
    }

    #[test]
    fn every_reading_of_a_word_with_a_gap_is_a_term_of_the_word() {
        let terms = uncertain_terms("pugh");
        for form in ["pugh", "p_gh", "_ugh", "pug_", "pu*", "*gh", "p*h", "pugh*", "pu*gh"] {
            assert!(terms.contains(&form.to_owned()), "{form}");
        }
        assert!(!terms.contains(&"p*".to_owned()) && !terms.contains(&"*".to_owned()));
        assert!(uncertain_terms(&"a".repeat(MAX_LETTERS_WITH_GAPS)).len() < 400);
    }

    proptest::proptest! {
        #[test]
        fn any_text_has_readings(text in "[\\PC_*?\\[\\]]{0,24}") {
            for form in forms(&text) {
                proptest::prop_assert!(form.matches(is_gap).count() <= 1);
            }
        }

        #[test]
        fn word_with_a_letter_replaced_is_found_by_the_word(word in "[a-zé]{3,20}", at in 0_usize..20) {
            let gapped: String = word.chars().enumerate().map(|(index, letter)| if index == at { '_' } else { letter }).collect();
            let terms = uncertain_terms(&fold(&word));
            proptest::prop_assert!(at >= word.chars().count() || forms(&gapped).iter().all(|form| terms.contains(form)));
        }
    }
}
