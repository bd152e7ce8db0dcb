//! The text of a place in a register or a query, as the words by which it is looked up.

use std::collections::{BTreeMap, BTreeSet};

use crate::fold::{fold, words};
use crate::names::PlaceWord;

/// The words of a text that count.
const MAX_UNITS: usize = 8;

/// The most words that one name is looked up by, in a text without commas.
const MAX_RUN: usize = 4;

/// The most lookups of a text: all runs of up to four of eight words.
pub const MAX_LOOKUPS: usize = 26;

/// The spellings of an archive's registers: words to ignore, and abbreviations with what they stand for. All folded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spellings {
    noise: BTreeSet<String>,
    abbreviations: BTreeMap<String, String>,
}

/// The text of a place. A unit is what a name uses up: a part between commas, or one word of a text without commas.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlaceText {
    units: Vec<String>,
    runs: Vec<Run>,
}

/// Units that may be one name together.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// A bit for each unit.
    pub units: Units,
    /// The words by which the name is looked up. The one with expanded abbreviations is first.
    pub words: Vec<PlaceWord>,
}

/// A set of units, a bit for each.
pub type Units = u8;

impl Spellings {
    pub fn new<'a>(
        noise: impl IntoIterator<Item = &'a String>,
        abbreviations: impl IntoIterator<Item = (&'a String, &'a String)>,
    ) -> Self {
        Self {
            noise: noise.into_iter().map(|word| fold(word)).collect(),
            abbreviations: abbreviations.into_iter().map(|(short, long)| (fold(short), fold(long))).collect(),
        }
    }

    fn expand<'a>(&'a self, word: &'a str) -> &'a str {
        self.abbreviations.get(word).map_or(word, String::as_str)
    }
}

impl PlaceText {
    /// Splits a text at its commas, or at its spaces if it has none.
    pub fn parse(text: &str, spellings: &Spellings) -> Self {
        if text.contains(',') { Self::of_parts(text, spellings) } else { Self::of_words(text, spellings) }
    }

    fn of_parts(text: &str, spellings: &Spellings) -> Self {
        let mut parsed = Self::default();
        for part in text.split(',') {
            let mut words = words(part);
            words.retain(|word| !spellings.noise.contains(word));
            if words.is_empty() || parsed.units.len() == MAX_UNITS {
                continue;
            }
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            parsed.runs.extend(Run::new(bit(parsed.units.len()), &words, spellings, words.len() > 1));
            parsed.units.push(part.trim().to_owned());
        }
        parsed
    }

    fn of_words(text: &str, spellings: &Spellings) -> Self {
        let mut all: Vec<(String, String)> = Vec::new();
        for written in text.split_whitespace() {
            let folded = words(written);
            // A hyphen joins several words. They are shown folded then.
            let alone = folded.len() == 1;
            let shown = |word: &String| if alone { written.to_owned() } else { word.clone() };
            all.extend(folded.into_iter().map(|word| (shown(&word), word)));
        }
        all.retain(|(_, word)| !spellings.noise.contains(word));
        all.truncate(MAX_UNITS);
        let folded: Vec<&str> = all.iter().map(|(_, word)| word.as_str()).collect();
        let mut runs = Vec::new();
        for length in 1..=MAX_RUN {
            for (begin, words) in folded.windows(length).enumerate() {
                let units = (begin..begin + length).fold(0, |units, unit| units | bit(unit));
                runs.extend(Run::new(units, words, spellings, folded.len() > 1));
            }
        }
        Self { units: all.into_iter().map(|(shown, _)| shown).collect(), runs }
    }

    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// Returns the words to look up. Words with unexpanded abbreviations are last, as far as they fit.
    pub fn lookups(&self) -> Vec<&PlaceWord> {
        let expanded = self.runs.iter().filter_map(|run| run.words.first());
        let written = self.runs.iter().flat_map(|run| run.words.iter().skip(1));
        let mut lookups = Vec::new();
        for word in expanded.chain(written) {
            if lookups.len() < MAX_LOOKUPS && !lookups.contains(&word) {
                lookups.push(word);
            }
        }
        lookups
    }

    /// Returns the units that are not in the set, as they were written.
    pub fn without(&self, used: Units) -> Vec<String> {
        self.units.iter().enumerate().filter(|(unit, _)| used & bit(*unit) == 0).map(|(_, text)| text.clone()).collect()
    }
}

impl Run {
    /// Returns the run of these words, unless they are too long for a key.
    fn new(units: Units, words: &[&str], spellings: &Spellings, expands: bool) -> Option<Self> {
        let expanded = words.iter().map(|word| if expands { spellings.expand(word) } else { word });
        let mut forms = Vec::new();
        for form in [expanded.collect::<Vec<_>>().join(" "), words.join(" ")] {
            if let Ok(word) = PlaceWord::of(&form)
                && !forms.contains(&word)
            {
                forms.push(word);
            }
        }
        (!forms.is_empty()).then_some(Self { units, words: forms })
    }
}

/// Returns the set of one unit. There are at most eight.
fn bit(unit: usize) -> Units {
    u32::try_from(unit).ok().and_then(|unit| Units::checked_shl(1, unit)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spellings() -> Spellings {
        let abbreviations = [("St", "saint"), ("Co.", "county"), ("N", "new")];
        let abbreviations: Vec<_> =
            abbreviations.iter().map(|(short, long)| (short.to_string(), long.to_string())).collect();
        let noise = ["near".to_owned(), "Parish".to_owned()];
        Spellings::new(&noise, abbreviations.iter().map(|(short, long)| (short, long)))
    }

    fn lookups(text: &str) -> Vec<String> {
        PlaceText::parse(text, &spellings()).lookups().into_iter().map(PlaceWord::to_string).collect()
    }

    #[test]
    fn part_between_commas_is_one_word() {
        assert_eq!(lookups("New York, United States"), ["newyork", "unitedstates"]);
        assert_eq!(lookups(",Bala,, Wales ,"), ["bala", "wales"]);
    }

    #[test]
    fn text_without_commas_has_every_run_of_up_to_four_words() {
        assert_eq!(lookups("a b c"), ["a", "b", "c", "ab", "bc", "abc"]);
        assert_eq!(lookups("a b c d e f g h i").len(), MAX_LOOKUPS);
        assert!(!lookups("a b c d e f g h i").contains(&"i".to_owned()));
        assert!(!lookups("a b c d e").contains(&"abcde".to_owned()));
    }

    #[test]
    fn noise_words_go() {
        assert_eq!(lookups("near Bala, Wales"), ["bala", "wales"]);
        assert_eq!(lookups("Bala parish"), ["bala"]);
        assert_eq!(lookups("parish, near"), Vec::<String>::new());
    }

    #[test]
    fn abbreviations_expand_in_parts_of_several_words() {
        assert_eq!(lookups("St. Davids, N"), ["saintdavids", "n", "stdavids"]);
        assert_eq!(lookups("st"), ["st"]);
        assert_eq!(lookups("N York"), ["new", "york", "newyork", "n", "nyork"]);
    }

    #[test]
    fn units_are_shown_as_they_were_written() {
        let shown = |text: &str, used| PlaceText::parse(text, &spellings()).without(used);
        assert_eq!(shown("Bedrock, Colorado", 0b10), ["Bedrock"]);
        assert_eq!(shown("near Évian-les-Bains, (France)", 0b01), ["(France)"]);
        assert_eq!(shown("Évian les-Bains", 0b010), ["Évian", "bains"]);
    }

    proptest::proptest! {
        #[test]
        fn any_text_has_few_lookups_that_fit_a_key(text in "[\\PC, ]{0,200}") {
            let parsed = PlaceText::parse(&text, &spellings());
            let lookups = parsed.lookups();
            proptest::prop_assert!(lookups.len() <= MAX_LOOKUPS);
            proptest::prop_assert!(parsed.runs().iter().all(|run| run.units != 0));
        }
    }
}
