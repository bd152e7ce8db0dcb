//! The names of places: full names, their folded forms, and the words by which a text finds a place.

use std::collections::BTreeSet;

use crate::fold::fold;
use crate::names::PlaceWord;

/// The separator of the levels of a full name.
pub const SEPARATOR: &str = ", ";

/// The full name of a place: its own name, then those of its ancestors, the country last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FullName {
    /// As it is shown, such as `New York, New York, United States`.
    pub readable: String,
    /// Folded level by level, such as `new york, new york, united states`.
    pub folded: String,
}

impl FullName {
    /// Returns the full name of a place in a parent, or of a place that is in no other.
    pub fn new(name: &str, parent: Option<&Self>) -> Self {
        let below = |name: String, parent: Option<&String>| match parent {
            Some(parent) => name + SEPARATOR + parent,
            None => name,
        };
        Self {
            readable: below(name.to_owned(), parent.map(|parent| &parent.readable)),
            folded: below(fold(name), parent.map(|parent| &parent.folded)),
        }
    }
}

/// Folds the beginning of a full name level by level. A comma at its end stays, since the name of the first level is
/// complete then.
pub fn fold_beginning(text: &str) -> String {
    text.split(',').map(fold).collect::<Vec<_>>().join(SEPARATOR)
}

/// Returns the folded names of a place's ancestors, the nearest first.
pub fn ancestors(folded_full_name: &str) -> impl Iterator<Item = &str> {
    folded_full_name.split(SEPARATOR).skip(1)
}

/// Returns the words of a place: those of its name and of its alternative names. A name without a letter or digit has
/// none, and neither has one that is too long for a key.
pub fn words<'a>(name: &'a str, alternatives: impl IntoIterator<Item = &'a String>) -> BTreeSet<PlaceWord> {
    let names = std::iter::once(name).chain(alternatives.into_iter().map(String::as_str));
    names.filter_map(|name| PlaceWord::of(name).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn full_name(levels: &[&str]) -> FullName {
        let (name, parents) = levels.split_first().unwrap();
        let parent = (!parents.is_empty()).then(|| full_name(parents));
        FullName::new(name, parent.as_ref())
    }

    #[test]
    fn full_name_is_folded_level_by_level_and_never_collapsed() {
        let york = full_name(&["New York", "New York", "United States"]);
        assert_eq!(york.readable, "New York, New York, United States");
        assert_eq!(york.folded, "new york, new york, united states");
        let bonaire = full_name(&["Kralendijk", "Bonaire, Saint Eustatius and Saba"]);
        assert_eq!(ancestors(&bonaire.folded).collect::<Vec<_>>(), ["bonaire saint eustatius and saba"]);
        assert_eq!(ancestors(&full_name(&["Wales"]).folded).count(), 0);
    }

    #[test]
    fn beginning_of_a_full_name_keeps_its_levels() {
        for (text, folded) in [("Paris, Te", "paris, te"), ("Paris,", "paris, "), ("SÃO p", "sao p"), (" Y, F", "y, f")]
        {
            assert_eq!(fold_beginning(text), folded, "{text}");
        }
    }

    #[test]
    fn words_are_whole_names_without_spaces() {
        let alternatives = ["St-Étienne".to_owned(), "SAINT ETIENNE".to_owned(), "—".to_owned()];
        let expected = ["saintetienne", "stetienne"].map(|word| word.parse().unwrap());
        assert_eq!(words("Saint-Étienne", &alternatives), BTreeSet::from(expected));
        assert!(words(&"x".repeat(500), []).is_empty());
    }
}
