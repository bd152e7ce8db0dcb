//! The words of a queried name, and the clauses and tests of their tiers.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::particles::{parted, spellings};
use super::reading::uncertain_terms;
use super::related::related;
use super::sounds::sounds;
use super::terms::{NameTerms, Part};
use super::tier::Tier;
use crate::fold::{fold, is_separator, words};
use crate::typos::is_within;

/// The most words and characters of a queried name.
const MAX_WORDS: usize = 10;
const MAX_CHARACTERS: usize = 100;

/// The letters before the first wildcard of a word.
const LETTERS_BEFORE_WILDCARD: usize = 2;

/// The most `*` of a word, and the most `?` after the first of them. The engine follows every position at which a `*` may
/// end, so each `?` after it doubles the work, and with about 15 the engine refuses the query.
const MAX_STARS: usize = 2;
const MAX_LETTERS_AFTER_STAR: usize = 8;

/// The letters from which a word may have one typo, and two.
const LETTERS_OF_ONE_TYPO: usize = 4;
const LETTERS_OF_TWO_TYPOS: usize = 8;

/// The tiers in which a word may match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Matching {
    #[default]
    All,
    Exact,
}

/// A queried name: words that must all match one person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedName {
    parts: &'static [Part],
    matching: Matching,
    words: Vec<AskedWord>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum AskedWord {
    /// The word, and the word joined with its particles.
    Spelled(Vec<String>),
    /// The pattern, and the pattern joined with the particles before it.
    Patterns(Vec<String>),
}

/// A test of one field of a stored name.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Test {
    Words(Vec<String>),
    Wildcard(String),
    Uncertain(Vec<String>),
    /// Uncertain readings of the word after a prefix that is a word of its own, as in `Mc D_nald`.
    UncertainAfter {
        prefix: &'static str,
        terms: Vec<String>,
    },
    Sounds(Vec<String>),
    Typo {
        word: String,
        edits: usize,
    },
    FirstLetter(String),
}

impl AskedName {
    /// Parses given names.
    pub fn given(text: &str, matching: Matching) -> Result<Self, String> {
        Self::parse(text, &[Part::Given], matching)
    }

    /// Parses a surname.
    pub fn surname(text: &str, matching: Matching) -> Result<Self, String> {
        Self::parse(text, &[Part::Surname], matching)
    }

    /// Parses a name whose words may each be a given name or a part of the surname.
    pub fn either(text: &str, matching: Matching) -> Result<Self, String> {
        Self::parse(text, &[Part::Given, Part::Surname], matching)
    }

    fn parse(text: &str, parts: &'static [Part], matching: Matching) -> Result<Self, String> {
        if text.chars().count() > MAX_CHARACTERS {
            return Err(format!("must have at most {MAX_CHARACTERS} characters"));
        }
        let mut written = Vec::new();
        for token in text.split(|character: char| character.is_whitespace() || character == ',') {
            if token.contains(['_', '[', ']']) {
                return Err(
                    "must have `?` for one letter and `*` for some; `_` and brackets are not allowed".to_owned()
                );
            }
            if !token.contains(is_wildcard) {
                written.extend(words(token));
            } else if matching == Matching::Exact {
                return Err("must not have wildcards with `exact`".to_owned());
            } else {
                // A stored name is divided at its punctuation, too.
                let parts = token.split(|character| is_separator(character) && !is_wildcard(character));
                written.extend(parts.flat_map(asked_words));
            }
        }
        if written.iter().any(|word| word.chars().count() > MAX_CHARACTERS) {
            return Err(format!("must have words of at most {MAX_CHARACTERS} letters"));
        }
        let asked: Vec<AskedWord> = spellings(&written).into_iter().map(AskedWord::new).collect::<Result<_, _>>()?;
        match asked.len() {
            0 => Err("must contain a letter".to_owned()),
            1..=MAX_WORDS => Ok(Self { parts, matching, words: asked }),
            many => Err(format!("must have at most {MAX_WORDS} words and has {many}")),
        }
    }

    /// Returns the parts of a name that the words are compared with.
    pub const fn parts(&self) -> &'static [Part] {
        self.parts
    }

    /// Returns a clause for each word, whose score is the points of its best tier. `path` is that of the nested names.
    pub fn clauses(&self, path: &str) -> Vec<Value> {
        let clause = |word: &AskedWord| {
            let tiers = self.parts.iter().flat_map(|part| {
                let scored = |(tier, test): (Tier, Test)| {
                    json!({ "constant_score": { "filter": test.clause(path, *part), "boost": tier.points() } })
                };
                word.tiers(*part, self.matching).into_iter().map(scored)
            });
            json!({ "dis_max": { "queries": tiers.collect::<Vec<_>>() } })
        };
        self.words.iter().map(clause).collect()
    }

    /// Returns the best part and tier of each word, as search decides. None if a word does not match.
    pub fn matched(&self, given: &NameTerms, surname: &NameTerms) -> Option<Vec<(Part, Tier)>> {
        let best = |word: &AskedWord| {
            let tiers = self.parts.iter().flat_map(|part| {
                let terms = match part {
                    Part::Given => given,
                    Part::Surname => surname,
                };
                let tiers = word.tiers(*part, self.matching).into_iter();
                tiers.filter(|(_, test)| test.matches(terms)).map(|(tier, _)| (*part, tier))
            });
            tiers.reduce(|best, other| if other.1.points() > best.1.points() { other } else { best })
        };
        self.words.iter().map(best).collect()
    }
}

impl AskedWord {
    /// Parses the spellings of a word or a pattern. The first has no particles.
    fn new(spellings: Vec<String>) -> Result<Self, String> {
        let Some(pattern) = spellings.first().filter(|word| word.contains(is_wildcard)) else {
            return Ok(Self::Spelled(spellings));
        };
        if pattern.chars().take_while(|character| !is_wildcard(*character)).count() < LETTERS_BEFORE_WILDCARD {
            return Err("must have at least two letters before a wildcard".to_owned());
        }
        let (_, after_star) = pattern.split_once('*').unwrap_or_default();
        if pattern.matches('*').count() > MAX_STARS || after_star.matches('?').count() > MAX_LETTERS_AFTER_STAR {
            return Err(format!(
                "must have at most {MAX_STARS} `*` in a word, and at most {MAX_LETTERS_AFTER_STAR} `?` after a `*`"
            ));
        }
        Ok(Self::Patterns(spellings))
    }

    /// Returns the tests of the word, the best tier first.
    fn tiers(&self, part: Part, matching: Matching) -> Vec<(Tier, Test)> {
        let spellings = match self {
            Self::Patterns(patterns) => {
                return patterns.iter().map(|pattern| (Tier::Wildcard, Test::Wildcard(pattern.clone()))).collect();
            }
            Self::Spelled(spellings) => spellings,
        };
        let mut tiers = vec![(Tier::Exact, Test::Words(spellings.clone()))];
        if matching == Matching::Exact {
            return tiers;
        }
        let of_each = |terms: fn(&str) -> Vec<String>| {
            let mut all: Vec<String> = spellings.iter().flat_map(|word| terms(word)).collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        if part == Part::Given {
            let names = of_each(|word| related(word).into_iter().map(str::to_owned).collect());
            tiers.extend((!names.is_empty()).then_some((Tier::Nickname, Test::Words(names))));
        }
        tiers.push((Tier::Uncertain, Test::Uncertain(of_each(uncertain_terms))));
        tiers.extend(
            spellings
                .first()
                .and_then(|word| parted(word))
                .map(|(prefix, rest)| (Tier::Uncertain, Test::UncertainAfter { prefix, terms: uncertain_terms(rest) })),
        );
        let sounds = of_each(sounds);
        tiers.extend((!sounds.is_empty()).then_some((Tier::Sounds, Test::Sounds(sounds))));
        tiers.extend(spellings.iter().filter_map(|word| {
            let edits = match word.chars().count() {
                ..LETTERS_OF_ONE_TYPO => return None,
                LETTERS_OF_ONE_TYPO..LETTERS_OF_TWO_TYPOS => 1,
                LETTERS_OF_TWO_TYPOS.. => 2,
            };
            Some((Tier::Typo, Test::Typo { word: word.clone(), edits }))
        }));
        if part == Part::Given {
            tiers.extend(spellings.iter().filter_map(|word| {
                let first = word.chars().next()?.to_string();
                // A query for an initial finds every name that begins with it, and a query for a name finds its initial.
                let test = if first == *word { Test::FirstLetter(first) } else { Test::Words(vec![first]) };
                Some((Tier::Initial, test))
            }));
        }
        tiers
    }
}

impl Test {
    /// Returns the query for documents whose field passes the test. It never scores by the index's statistics, since it
    /// is the filter of a constant score.
    fn clause(&self, path: &str, part: Part) -> Value {
        let field = |name: &str| format!("{path}.{name}");
        let words = field(part.words_field());
        match self {
            Self::Words(terms) => json!({ "terms": { words: terms } }),
            Self::Wildcard(pattern) => json!({ "wildcard": { words: { "value": pattern } } }),
            Self::Uncertain(terms) => json!({ "terms": { field(part.uncertain_field()): terms } }),
            Self::UncertainAfter { prefix, terms } => json!({ "bool": { "filter": [
                { "term": { words: prefix } },
                { "terms": { field(part.uncertain_field()): terms } },
            ] } }),
            Self::Sounds(codes) => json!({ "terms": { field(part.sounds_field()): codes } }),
            // By default only the 50 nearest terms of the index match, so a match would depend on other documents.
            // OpenSearch has no limit with this rewrite. Other engines may need a higher limit, too.
            Self::Typo { word, edits } => json!({ "fuzzy": { words: {
                "value": word,
                "fuzziness": edits,
                "prefix_length": 1,
                "max_expansions": 10_000,
                "rewrite": "constant_score",
            } } }),
            Self::FirstLetter(letter) => json!({ "prefix": { words: { "value": letter } } }),
        }
    }

    /// Returns whether a stored name passes the test.
    fn matches(&self, stored: &NameTerms) -> bool {
        let any = |asked: &[String], terms: &[String]| asked.iter().any(|term| terms.contains(term));
        match self {
            Self::Words(words) => any(words, &stored.words),
            Self::Wildcard(pattern) => stored.words.iter().any(|word| is_like(word, pattern)),
            Self::Uncertain(terms) => any(terms, &stored.uncertain),
            Self::UncertainAfter { prefix, terms } => {
                stored.words.iter().any(|word| word == prefix) && any(terms, &stored.uncertain)
            }
            Self::Sounds(codes) => any(codes, &stored.sounds),
            Self::Typo { word, edits } => stored.words.iter().any(|other| is_within(word, other, *edits)),
            Self::FirstLetter(letter) => stored.words.iter().any(|word| word.starts_with(letter.as_str())),
        }
    }
}

/// Returns the folded words of a part of a name. One with wildcards is a pattern.
fn asked_words(part: &str) -> Vec<String> {
    if part.contains(is_wildcard) { vec![pattern(part)] } else { words(part) }
}

/// Returns the folded pattern of a word with wildcards.
fn pattern(token: &str) -> String {
    let mut pattern = String::new();
    for piece in token.split_inclusive(is_wildcard) {
        let letters = piece.trim_end_matches(is_wildcard);
        pattern.push_str(&fold(letters).replace(' ', ""));
        pattern.extend(piece.chars().last().filter(|character| is_wildcard(*character)));
    }
    pattern
}

fn is_wildcard(character: char) -> bool {
    matches!(character, '*' | '?')
}

/// Returns whether a word is like a pattern.
fn is_like(word: &str, pattern: &str) -> bool {
    // The lengths of the beginning of the word that the beginning of the pattern allows.
    let letters: Vec<char> = word.chars().collect();
    let mut lengths = vec![false; letters.len() + 1];
    if let Some(none) = lengths.first_mut() {
        *none = true;
    }
    for character in pattern.chars() {
        lengths = if character == '*' {
            let shortest = lengths.iter().position(|allowed| *allowed).unwrap_or(lengths.len());
            (0..lengths.len()).map(|length| length >= shortest).collect()
        } else {
            let allows = |letter: &char| character == '?' || character == *letter;
            let after = lengths.iter().zip(&letters).map(|(allowed, letter)| *allowed && allows(letter));
            std::iter::once(false).chain(after).collect()
        };
    }
    lengths.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tier(asked: &str, stored: &str) -> Option<Tier> {
        let name = AskedName::surname(asked, Matching::All).unwrap();
        name.matched(&NameTerms::default(), &NameTerms::new(stored)).map(|matched| matched[0].1)
    }

    fn given_tier(asked: &str, stored: &str) -> Option<Tier> {
        let name = AskedName::given(asked, Matching::All).unwrap();
        name.matched(&NameTerms::new(stored), &NameTerms::default()).map(|matched| matched[0].1)
    }

    #[test]
    fn word_matches_in_its_best_tier() {
        for (asked, stored, expected) in [
            ("Pugh", "PUGH", Some(Tier::Exact)),
            ("Pu*", "Pugh", Some(Tier::Wildcard)),
            ("P?gh", "Pugh", None),
            ("Pu?h", "Pugh", Some(Tier::Wildcard)),
            ("Pugh", "P_gh", Some(Tier::Uncertain)),
            ("Pugh", "P[uo]gh", Some(Tier::Uncertain)),
            ("Pugh", "Pu*", Some(Tier::Uncertain)),
            ("Pugh", "Pugh?", Some(Tier::Uncertain)),
            ("Pugg", "Pugh", Some(Tier::Sounds)),
            ("Miller", "Müller", Some(Tier::Sounds)),
            ("Jnoes", "Jones", Some(Tier::Sounds)),
            ("Harrison", "Harpisen", Some(Tier::Typo)),
            ("Jones", "Janus Smith", Some(Tier::Sounds)),
            ("Jones", "Smith", None),
            ("Wm", "William", None),
        ] {
            let found = (!asked.starts_with("P?")).then(|| tier(asked, stored)).flatten();
            assert_eq!(found, expected, "{asked} {stored}");
        }
        for (asked, stored, expected) in [
            ("Will", "Wm.", Some(Tier::Nickname)),
            ("John", "J.", Some(Tier::Initial)),
            ("J", "John", Some(Tier::Initial)),
            ("Hans", "Johann Georg", Some(Tier::Nickname)),
            ("Evan", "Margaret", None),
        ] {
            assert_eq!(given_tier(asked, stored), expected, "{asked} {stored}");
        }
    }

    #[test]
    fn particles_may_be_missing_or_joined_on_either_side() {
        for (asked, stored) in [
            ("Berg", "van der Berg"),
            ("van der Berg", "Berg"),
            ("van der Berg", "Vanderberg"),
            ("Vanderberg", "van der Berg"),
            ("Mc Donald", "McDonald"),
            ("McDonald", "Mc Donald"),
        ] {
            assert_eq!(tier(asked, stored), Some(Tier::Exact), "{asked} {stored}");
        }
    }

    #[test]
    fn pattern_or_uncertain_word_is_joined_with_what_is_before_it() {
        for (asked, stored, expected) in [
            ("van der Be*", "van der Berg", Tier::Wildcard),
            ("van der Be*", "Berg", Tier::Wildcard),
            ("van der Be*", "Vanderberg", Tier::Wildcard),
            ("Mc Don*", "McDonald", Tier::Wildcard),
            ("Mc Don*", "Mc Donald", Tier::Wildcard),
            ("McDon*", "Mc Donald", Tier::Wildcard),
            ("Mc D*", "McDonald", Tier::Wildcard),
            ("McDonald", "Mc D_nald", Tier::Uncertain),
            ("Mc Donald", "Mc D_nald", Tier::Uncertain),
            ("O'Brien", "O Br*n", Tier::Uncertain),
            ("van der Berg", "van der B_rg", Tier::Uncertain),
        ] {
            assert_eq!(tier(asked, stored), Some(expected), "{asked} {stored}");
        }
        for (asked, stored) in [("Mc Don*", "Donald"), ("McDonald", "D_nald"), ("Mc Donald", "Mac D_nald")] {
            assert_eq!(tier(asked, stored), None, "{asked} {stored}");
        }
    }

    #[test]
    fn name_with_wildcards_is_divided_where_a_stored_name_is() {
        for (asked, stored) in [
            ("Lloyd-Geo*", "Lloyd-George"),
            ("Lloyd–Geo*", "Lloyd-George"),
            ("Llo*-George", "Lloyd George"),
            ("Jean.Bap?iste", "Jean-Baptiste"),
            ("O'Br*", "O’Brien"),
        ] {
            assert!(tier(asked, stored).is_some(), "{asked} {stored}");
        }
        assert_eq!(tier("Lloyd-Geo*", "Lloyd"), None);
        assert!(AskedName::surname("Lloyd-*", Matching::All).is_err());
    }

    #[test]
    fn pattern_that_the_engine_refuses_is_refused() {
        let asks = |text: &str| AskedName::surname(text, Matching::All).is_ok();
        for text in ["Pu*g?", "aa*a*", "aa??????????????????", "aa*????*????", "aa??*????????", "aa* bb* cc*"] {
            assert!(asks(text), "{text}");
        }
        for text in ["aa***", "aa*a*a*", "aa*a?????????", "aa*????*?????"] {
            assert!(!asks(text), "{text}");
        }
    }

    #[test]
    fn every_word_must_match() {
        let name = AskedName::either("Evan Pugh", Matching::All).unwrap();
        let matched = |given: &str, surname: &str| name.matched(&NameTerms::new(given), &NameTerms::new(surname));
        assert_eq!(matched("Evan", "Pugh"), Some(vec![(Part::Given, Tier::Exact), (Part::Surname, Tier::Exact)]));
        assert_eq!(matched("Evan", "Jones"), None);
    }

    #[test]
    fn exact_matching_has_one_tier() {
        let name = AskedName::surname("Miller", Matching::Exact).unwrap();
        assert_eq!(
            name.clauses("people"),
            [json!({ "dis_max": { "queries": [
                { "constant_score": { "filter": { "terms": { "people.surname": ["miller"] } }, "boost": 10 } }
            ] } })]
        );
        assert_eq!(name.matched(&NameTerms::default(), &NameTerms::new("Müller")), None);
    }

    #[test]
    fn text_without_letters_and_early_wildcards_are_refused() {
        for text in
            ["", " - ", "*", "P*", "*ugh", "P?gh", "P_gh", "[ab]c", "van d*", &"a ".repeat(11), &"a".repeat(101)]
        {
            assert!(AskedName::surname(text, Matching::All).is_err(), "{text}");
        }
        assert!(AskedName::surname("Pu*", Matching::Exact).is_err());
    }

    #[test]
    fn typos_are_counted_from_four_letters_and_begin_with_the_same_letter() {
        let typo = |asked: &str, edits: usize, stored: &str| is_within(asked, stored, edits);
        assert!(typo("jones", 1, "jnoes") && typo("jones", 1, "jone") && typo("jones", 1, "joness"));
        assert!(!typo("jones", 1, "bones") && !typo("jones", 1, "joneson") && typo("jones", 2, "joneson"));
        let tiers = |word: &str| AskedWord::Spelled(vec![word.to_owned()]).tiers(Part::Surname, Matching::All);
        let edits = |word: &str| {
            tiers(word).into_iter().find_map(|(_, test)| match test {
                Test::Typo { edits, .. } => Some(edits),
                _ => None,
            })
        };
        assert_eq!(
            (edits("łee"), edits("łeel"), edits("łeellee"), edits("łeelleel")),
            (None, Some(1), Some(1), Some(2))
        );
    }

    #[test]
    fn wildcards_stand_for_letters() {
        for (pattern, like, unlike) in [("pu*", "pu", "p"), ("pu*h", "pugh", "pughe"), ("pu?h", "pugh", "puh")] {
            assert!(is_like(like, pattern) && !is_like(unlike, pattern), "{pattern}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_name_finds_itself_exactly(text in "[\\PC&&[^_*?\\[\\]]]{0,40}") {
            if let Ok(name) = AskedName::surname(&text, Matching::All) {
                let matched = name.matched(&NameTerms::default(), &NameTerms::new(&text));
                proptest::prop_assert!(matched.is_some_and(|tiers| tiers.iter().all(|(_, tier)| *tier == Tier::Exact)));
            }
        }

        #[test]
        fn any_text_is_asked_or_refused(text in "\\PC{0,110}") {
            if let Ok(name) = AskedName::either(&text, Matching::All) {
                proptest::prop_assert!(!name.clauses("people").is_empty());
            }
        }
    }
}
