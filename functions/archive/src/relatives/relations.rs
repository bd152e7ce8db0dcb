//! The words for the relations to the head of a household.

use crate::fold::fold;

/// A relation to the head of a household.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    Head,
    Wife,
    Husband,
    Son,
    Daughter,
    Father,
    Mother,
    Brother,
    Sister,
}

/// The words with their abbreviations, folded: English, Welsh with its mutations, German, French, Dutch, Polish and
/// Hungarian, a line each.
///
/// A word that means different relations in two languages is in no list. So is any single letter: `S` is a son or a
/// servant, `F` is *fils*, *femme* or *fille*, `H` is head or husband. "Man" is a husband in Dutch and a farm servant in
/// English, HV is *huisvrouw* and *Haushaltsvorstand*.
const WORDS: [(Relation, &[&str]); 9] = [
    (
        Relation::Head,
        &[
            "head",
            "hd",
            "head of household",
            "head of the household",
            "head of family",
            "head of the family",
            "head of house",
            "pen",
            "pen teulu",
            "penteulu",
            "pen y teulu",
            "pen y ty",
            "pennaeth",
            "haushaltsvorstand",
            "haushaltungsvorstand",
            "vorstand",
            "haushaltsvorst",
            "familienoberhaupt",
            "oberhaupt",
            "familienhaupt",
            "haupt",
            "hausvater",
            "wohnungsinhaber",
            "chef",
            "chef de menage",
            "chef de famille",
            "ch de menage",
            "ch de famille",
            "chef de la famille",
            "hoofd",
            "gezinshoofd",
            "hoofd van het gezin",
            "hoofd van het huisgezin",
            "hoofdbewoner",
            "glowa",
            "glowa rodziny",
            "glowa domu",
            "glowa gospodarstwa",
            "gl rodziny",
            "csaladfo",
            "csalad feje",
            "haztartasfo",
            "haztartas feje",
            "csf",
        ],
    ),
    (
        Relation::Wife,
        &[
            "wife",
            "wif",
            "wfe",
            "gwraig",
            "wraig",
            "ehefrau",
            "ehefr",
            "frau",
            "eheweib",
            "weib",
            "hausfrau",
            "gattin",
            "ehegattin",
            "femme",
            "epouse",
            "sa femme",
            "son epouse",
            "ep",
            "fme",
            "vrouw",
            "echtgenote",
            "huisvrouw",
            "zijn vrouw",
            "echtg te",
            "zona",
            "malzonka",
            "feleseg",
            "felesege",
            "neje",
            "hitvese",
            "fel",
        ],
    ),
    (
        Relation::Husband,
        &[
            "husband",
            "husb",
            "hus",
            "gwr",
            "ehemann",
            "ehem",
            "mann",
            "gatte",
            "ehegatte",
            "mari",
            "epoux",
            "son mari",
            "son epoux",
            "echtgenoot",
            "haar man",
            "maz",
            "malzonek",
            "ferj",
            "ferje",
        ],
    ),
    (
        Relation::Son,
        &[
            "son",
            "sn",
            "mab",
            "fab",
            "sohn",
            "sohnchen",
            "fils",
            "son fils",
            "leur fils",
            "fs",
            "zoon",
            "zn",
            "syn",
            "fia",
            "fiu",
            "fiuk",
            "fiugyermek",
        ],
    ),
    (
        Relation::Daughter,
        &[
            "daughter",
            "daur",
            "dau",
            "daugh",
            "daught",
            "daugr",
            "dtr",
            "dghtr",
            "dght",
            "daughr",
            "merch",
            "ferch",
            "tochter",
            "tocht",
            "tcht",
            "tochterchen",
            "tocht r",
            "fille",
            "sa fille",
            "leur fille",
            "flle",
            "dochter",
            "docht",
            "corka",
            "cora",
            "lanya",
            "leanya",
            "lany",
            "leany",
            "leanygyermek",
        ],
    ),
    (
        Relation::Father,
        &[
            "father", "fath", "fathr", "dad", "tad", "nhad", "vater", "vat", "pere", "son pere", "vader", "vad",
            "ojciec", "ojc", "apa", "apja", "atyja", "edesapja",
        ],
    ),
    (
        Relation::Mother,
        &[
            "mother",
            "moth",
            "mothr",
            "mthr",
            "mum",
            "mam",
            "mutter",
            "mutt",
            "mere",
            "sa mere",
            "moeder",
            "moed",
            "matka",
            "anya",
            "anyja",
            "edesanyja",
        ],
    ),
    (
        Relation::Brother,
        &[
            "brother",
            "bro",
            "broth",
            "brothr",
            "br",
            "brawd",
            "frawd",
            "mrawd",
            "bruder",
            "brud",
            "frere",
            "son frere",
            "broer",
            "broeder",
            "broed",
            "brat",
            "fiver",
            "fivere",
            "fiutestver",
            "fiutestvere",
            "occs",
            "occse",
            "baty",
            "batyja",
        ],
    ),
    (
        Relation::Sister,
        &[
            "sister",
            "sist",
            "sis",
            "sistr",
            "chwaer",
            "schwester",
            "schw",
            "schwest",
            "soeur",
            "sa soeur",
            "zuster",
            "zus",
            "zust",
            "siostra",
            "siostr",
            "nover",
            "novere",
            "novertestver",
            "hug",
            "huga",
        ],
    ),
];

/// The longest text in bytes that is read.
const MAX_BYTES: usize = 100;

/// Returns the relation that a text of a file names, if it is one of a household's family.
pub fn read(text: &str) -> Option<Relation> {
    // A cell may have 10 000 characters.
    if text.len() > MAX_BYTES {
        return None;
    }
    let folded = fold(text);
    WORDS.iter().find(|(_, words)| words.contains(&folded.as_str())).map(|(relation, _)| *relation)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_is_folded_and_means_one_relation() {
        for (relation, words) in WORDS {
            for word in words {
                assert_eq!(fold(word), *word);
                let meanings = WORDS.iter().flat_map(|(_, words)| *words).filter(|other| *other == word).count();
                assert_eq!((read(word), meanings), (Some(relation), 1), "{word}");
            }
        }
    }

    #[test]
    fn words_are_read_without_regard_to_case_accents_and_dots() {
        for (text, relation) in [
            ("HEAD", Relation::Head),
            ("Dau.", Relation::Daughter),
            ("Épouse", Relation::Wife),
            ("Gŵr", Relation::Husband),
            ("Sœur", Relation::Sister),
            ("córka", Relation::Daughter),
            ("Głowa rodziny", Relation::Head),
            ("családfő", Relation::Head),
            ("öccse", Relation::Brother),
        ] {
            assert_eq!(read(text), Some(relation), "{text}");
        }
    }

    #[test]
    fn other_relations_and_words_of_two_meanings_are_none() {
        for text in [
            "",
            "Son-in-law",
            "Daughter in law",
            "Stepson",
            "Grandson",
            "Lodger",
            "Servant",
            "Wife of lodger",
            "Visitor",
            "S",
            "F",
            "H",
            "D",
            "W",
            "Man",
            "HV",
            "Knecht",
            "Magd",
            "Domestique",
            "Schwiegersohn",
            "Kleinzoon",
            "Wnuk",
            "Unoka",
            "Nephew",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
