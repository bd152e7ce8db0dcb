//! Given names and surname of a name in one column.

use crate::fold::fold;
use crate::particles::is_particle;

/// Splits a name into given names and surname: at the first comma, otherwise the last word with the particles before it
/// is the surname. A single word is a surname.
pub fn split(name: &str) -> (String, String) {
    if let Some((surname, given)) = name.split_once(',') {
        return (joined(given.split_whitespace()), joined(surname.split_whitespace()));
    }
    let words: Vec<&str> = name.split_whitespace().collect();
    let Some((_, before)) = words.split_last() else { return Default::default() };
    let particles = before.iter().rev().take_while(|word| is_particle(&fold(word))).count();
    let (given, surname) = words.split_at(before.len() - particles);
    (joined(given.iter().copied()), joined(surname.iter().copied()))
}

fn joined<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, given: &str, surname: &str) {
        assert_eq!(split(name), (given.to_owned(), surname.to_owned()), "{name}");
    }

    #[test]
    fn name_is_split_at_its_comma() {
        check("Pugh, Evan", "Evan", "Pugh");
        check("van den Berg,  Jan  Pieter", "Jan Pieter", "van den Berg");
        check("Pugh,", "", "Pugh");
        check(", Evan", "Evan", "");
        check("Pugh, Evan, the elder", "Evan, the elder", "Pugh");
    }

    #[test]
    fn last_word_with_its_particles_is_the_surname() {
        check("Evan Pugh", "Evan", "Pugh");
        check("Ludwig van Beethoven", "Ludwig", "van Beethoven");
        check("Jean Marie de la Fontaine", "Jean Marie", "de la Fontaine");
        check("Johann Von Der Heide", "Johann", "Von Der Heide");
        check("Dafydd ap Gwilym", "Dafydd", "ap Gwilym");
        check("van der Berg", "", "van der Berg");
        check("Pugh", "", "Pugh");
        check("  ", "", "");
        check("Anna de", "Anna", "de");
    }

    #[test]
    fn uncertain_readings_stay_as_written() {
        check("Ev_n P[uo]gh?", "Ev_n", "P[uo]gh?");
        check("Wm. Pu*", "Wm.", "Pu*");
    }

    proptest::proptest! {
        #[test]
        fn no_letter_of_a_name_is_lost(name in "[\\PC&&[^,]]{0,40}") {
            let (given, surname) = split(&name);
            let words: Vec<&str> = name.split_whitespace().collect();
            proptest::prop_assert_eq!(format!("{given} {surname}").trim().to_owned(), words.join(" "));
        }
    }
}
