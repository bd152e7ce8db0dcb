//! The words for the sexes in a column that is mapped to the sex.

use super::Sex;
use crate::fold::fold;
use crate::mapping::PersonRole;

/// English, Welsh, German, French, Dutch, Polish, Hungarian, Spanish and Latin words, folded.
///
/// Single letters are `m`, `f` and the German `w`. Others mean different sexes: `b` is *boy* or *benyw*, `k` is *Knabe* or
/// *kobieta*, `v` is *varón* or *vrouw*, `h` is *homme* or *hembra*.
const MALE: [&str; 33] = [
    "m",
    "male",
    "man",
    "boy",
    "gwryw",
    "gwrywaidd",
    "bachgen",
    "mannlich",
    "mannl",
    "maennlich",
    "mann",
    "knabe",
    "masculin",
    "masc",
    "homme",
    "garcon",
    "mannelijk",
    "jongen",
    "mezczyzna",
    "meski",
    "chlopiec",
    "ferfi",
    "fiu",
    "masculino",
    "varon",
    "hombre",
    "masculinus",
    "vir",
    "filius",
    "son",
    "sohn",
    "fils",
    "zoon",
];
const FEMALE: [&str; 32] = [
    "f",
    "w",
    "fem",
    "female",
    "woman",
    "girl",
    "benyw",
    "benywaidd",
    "merch",
    "weiblich",
    "weibl",
    "frau",
    "madchen",
    "feminin",
    "feminine",
    "femme",
    "fille",
    "vrouwelijk",
    "vrouw",
    "meisje",
    "kobieta",
    "zenski",
    "dziewczynka",
    "no",
    "leany",
    "femenino",
    "hembra",
    "mujer",
    "femina",
    "filia",
    "tochter",
    "daughter",
];

/// The longest cell in bytes that is read.
const MAX_BYTES: usize = 100;

/// Reads a cell. A word that is not known, or means different sexes in two languages, is none.
pub fn read(text: &str) -> Option<Sex> {
    // A cell may have 10 000 characters.
    if text.len() > MAX_BYTES {
        return None;
    }
    let folded = fold(text);
    let is_in = |words: &[&str]| words.contains(&folded.as_str());
    if is_in(&MALE) {
        Some(Sex::Male)
    } else if is_in(&FEMALE) {
        Some(Sex::Female)
    } else {
        None
    }
}

/// Returns the sex that a role tells.
pub const fn of_role(role: PersonRole) -> Option<Sex> {
    match role {
        PersonRole::Father | PersonRole::Groom | PersonRole::BrideFather | PersonRole::GroomFather => Some(Sex::Male),
        PersonRole::Mother | PersonRole::Bride | PersonRole::BrideMother | PersonRole::GroomMother => Some(Sex::Female),
        PersonRole::Principal | PersonRole::Spouse | PersonRole::Other => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_every_language_are_read() {
        for text in ["M", "male", "Männl.", "gwryw", "homme", "mannelijk", "mężczyzna", "férfi", "filius"] {
            assert_eq!(read(text), Some(Sex::Male), "{text}");
        }
        for text in ["F", "Female", "W", "weibl.", "benyw", "féminin", "vrouw", "kobieta", "nő", "filia"] {
            assert_eq!(read(text), Some(Sex::Female), "{text}");
        }
        for text in ["", "?", "B", "G", "H", "K", "V", "unknown", "M/F", "Infant"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn no_word_means_both_sexes_and_all_are_folded() {
        assert!(MALE.iter().all(|word| !FEMALE.contains(word)));
        assert!(MALE.iter().chain(&FEMALE).all(|word| fold(word) == *word));
    }
}
