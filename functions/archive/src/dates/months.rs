//! The names of months in English, German, French, Dutch, Spanish, Latin, Welsh, Polish and Hungarian.

/// The names, folded, with the forms that registers use in dates.
const NAMES: [&[&str]; 12] = [
    &[
        "january",
        "januar",
        "janner",
        "jenner",
        "janvier",
        "januari",
        "enero",
        "januarius",
        "januarii",
        "ianuarius",
        "ianuarii",
        "ionawr",
        "styczen",
        "stycznia",
    ],
    &[
        "february",
        "februar",
        "feber",
        "fevrier",
        "februari",
        "febrero",
        "februarius",
        "februarii",
        "chwefror",
        "chwefrol",
        "luty",
        "lutego",
    ],
    &["march", "marz", "maerz", "mars", "maart", "marzo", "martius", "martii", "mawrth", "marzec", "marca", "marcius"],
    &["april", "avril", "abril", "aprilis", "ebrill", "kwiecien", "kwietnia"],
    &["may", "mai", "mei", "mayo", "maius", "maii", "maj", "maja", "majus"],
    &["june", "juni", "juin", "junio", "junius", "junii", "iunius", "iunii", "mehefin", "czerwiec", "czerwca"],
    &["july", "juli", "juillet", "julio", "julius", "julii", "iulius", "iulii", "gorffennaf", "lipiec", "lipca"],
    &["august", "aout", "augustus", "augusti", "agosto", "awst", "sierpien", "sierpnia", "augusztus"],
    &["september", "septembre", "septiembre", "setiembre", "septembris", "medi", "wrzesien", "wrzesnia", "szeptember"],
    &["october", "oktober", "octobre", "octubre", "octobris", "hydref", "pazdziernik", "pazdziernika"],
    &["november", "novembre", "noviembre", "novembris", "tachwedd", "listopad", "listopada"],
    &["december", "dezember", "decembre", "diciembre", "decembris", "rhagfyr", "grudzien", "grudnia"],
];

/// Abbreviations that are not the beginning of a name.
const ABBREVIATIONS: [&[&str]; 12] =
    [&[], &[], &["mrz", "mrt", "mch"], &[], &[], &[], &["jly"], &[], &[], &[], &[], &["xber", "xbre", "xbris", "xbr"]];

/// The months as Roman numerals, folded.
pub const NUMERALS: [&str; 12] = ["i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii"];

/// The fewest letters of an abbreviated name.
const MIN_LETTERS: usize = 3;

/// Returns the month that a folded word names. An abbreviation is the beginning of a name, of at least three letters,
/// and not of names of two months: `jui` may be June or July in French.
pub fn month(word: &str) -> Option<i8> {
    if let Some(month) = only(&ABBREVIATIONS, |name| name == word).or_else(|| only(&NAMES, |name| name == word)) {
        return Some(month);
    }
    if word.chars().count() < MIN_LETTERS {
        return None;
    }
    only(&NAMES, |name| name.starts_with(word))
}

/// Returns the month that a folded Roman numeral numbers, as in `3.III.1850`.
pub fn numeral(word: &str) -> Option<i8> {
    (1..).zip(NUMERALS).find(|(_, numeral)| *numeral == word).map(|(month, _)| month)
}

/// Returns the only month with a name of this kind.
fn only(months: &[&[&str]; 12], is_named: impl Fn(&str) -> bool) -> Option<i8> {
    let mut named = (1..).zip(months).filter(|(_, names)| names.iter().any(|name| is_named(name)));
    let (month, _) = named.next()?;
    named.next().is_none().then_some(month)
}

#[cfg(test)]
pub fn names(month: i8) -> impl Iterator<Item = &'static str> {
    let index = usize::try_from(month - 1).unwrap();
    NAMES[index].iter().chain(ABBREVIATIONS[index]).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_and_abbreviation_means_one_month() {
        for number in 1..=12 {
            for name in names(number) {
                assert_eq!(month(name), Some(number), "{name}");
            }
        }
    }

    #[test]
    fn beginning_of_a_name_is_its_month() {
        for (word, number) in [
            ("jan", 1),
            ("ene", 1),
            ("febr", 2),
            ("fev", 2),
            ("mar", 3),
            ("maw", 3),
            ("apr", 4),
            ("avr", 4),
            ("abr", 4),
            ("mai", 5),
            ("jun", 6),
            ("jul", 7),
            ("juil", 7),
            ("aug", 8),
            ("aou", 8),
            ("ago", 8),
            ("sept", 9),
            ("okt", 10),
            ("oct", 10),
            ("nov", 11),
            ("dez", 12),
            ("dic", 12),
            ("dec", 12),
            ("paz", 10),
            ("gor", 7),
            ("chw", 2),
        ] {
            assert_eq!(month(word), Some(number), "{word}");
        }
    }

    #[test]
    fn beginning_of_two_months_is_none() {
        for word in ["ju", "jui", "ma", "m", "janu ary", "", "year", "maximum"] {
            assert_eq!(month(word), None, "{word}");
        }
    }
}
