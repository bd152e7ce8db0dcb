//! The form of a text in which names are compared: without case, marks and punctuation.

use icu_casemap::CaseMapper;
use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};
use icu_properties::props::{GeneralCategory, GeneralCategoryGroup, Script};
use icu_properties::{CodePointMapData, CodePointMapDataBorrowed};

const CATEGORIES: CodePointMapDataBorrowed<'static, GeneralCategory> = CodePointMapData::<GeneralCategory>::new();
const SCRIPTS: CodePointMapDataBorrowed<'static, Script> = CodePointMapData::<Script>::new();

/// Returns the folded form of a text: words of lower-case letters and digits, one space between two words.
///
/// Marks are dropped after Latin, Greek and Cyrillic letters only: in other scripts they tell words apart. Apostrophes
/// are dropped, since they are inside a word. A folded text is its own folded form.
///
/// ```
/// use archive::fold::fold;
///
/// assert_eq!(fold("Saint-Étienne"), "saint etienne");
/// assert_eq!(fold("  O’Brien, Seán "), "obrien sean");
/// assert_eq!(fold("Łódź"), "lodz");
/// assert_eq!(fold("東京"), "東京");
/// ```
pub fn fold(text: &str) -> String {
    let decomposed = DecomposingNormalizerBorrowed::new_nfkd();
    let decomposed = text.split(is_apostrophe).map(|part| decomposed.normalize(part)).collect::<String>();
    let mut bare = String::with_capacity(decomposed.len());
    let mut keeps_marks = false;
    for character in decomposed.chars() {
        if !is_mark(character) {
            keeps_marks = character.is_alphanumeric()
                && !matches!(SCRIPTS.get(character), Script::Latin | Script::Greek | Script::Cyrillic);
        } else if !keeps_marks {
            continue;
        }
        bare.push(character);
    }
    let composed = ComposingNormalizerBorrowed::new_nfc().normalize(&bare);
    let lower = CaseMapper::new().fold_string(&composed);
    let mut folded = String::with_capacity(lower.len());
    let mut ends_word = false;
    for character in lower.chars() {
        if !is_word(character) {
            ends_word = true;
            continue;
        }
        if ends_word && !folded.is_empty() {
            folded.push(' ');
        }
        ends_word = false;
        match character {
            'ß' => folded.push_str("ss"),
            'æ' => folded.push_str("ae"),
            'œ' => folded.push_str("oe"),
            'ø' => folded.push('o'),
            'ł' => folded.push('l'),
            'đ' | 'ð' => folded.push('d'),
            'þ' => folded.push_str("th"),
            'ı' => folded.push('i'),
            other => folded.push(other),
        }
    }
    folded
}

/// Returns the words of a text in their folded form.
pub fn words(text: &str) -> Vec<String> {
    fold(text).split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

/// Returns the first `count` characters of a text.
pub fn first(text: &str, count: usize) -> &str {
    text.char_indices().nth(count).and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}

fn is_mark(character: char) -> bool {
    GeneralCategoryGroup::Mark.contains(CATEGORIES.get(character))
}

fn is_word(character: char) -> bool {
    is_mark(character) || character.is_alphanumeric()
}

/// Whether a character ends a word. Apostrophes are inside a word.
pub fn is_separator(character: char) -> bool {
    !is_word(character) && !is_apostrophe(character)
}

fn is_apostrophe(character: char) -> bool {
    matches!(character, '\'' | '’' | '‘' | 'ʼ' | 'ʻ' | '`' | '´')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_with_marks_and_special_letters_become_plain() {
        for (text, folded) in [
            ("Müller", "muller"),
            ("Ærholt", "aerholt"),
            ("Øholt", "oholt"),
            ("Weiß", "weiss"),
            ("Þór", "thor"),
            ("São Paulo", "sao paulo"),
            ("İstanbul", "istanbul"),
            ("Москва", "москва"),
            ("Ἀθῆναι", "αθηναι"),
            ("B.C. ‘Co’ — (old)", "b c co old"),
            ("  ", ""),
            ("\u{1ea5}", "a"),
        ] {
            assert_eq!(fold(text), folded, "{text}");
        }
    }

    #[test]
    fn marks_of_other_scripts_stay() {
        assert_ne!(fold("が"), fold("か"));
        assert_ne!(fold("कि"), fold("क"));
    }

    #[test]
    fn words_are_those_of_the_folded_text() {
        assert_eq!(words("Saint-Étienne, France"), ["saint", "etienne", "france"]);
        assert_eq!(words(" - "), Vec::<String>::new());
    }

    #[test]
    fn first_counts_characters_and_not_bytes() {
        assert_eq!((first("łódź", 2), first("a", 2), first("東京都", 2)), ("łó", "a", "東京"));
    }

    proptest::proptest! {
        #[test]
        fn folding_twice_changes_nothing(text in "\\PC{0,24}") {
            let folded = fold(&text);
            proptest::prop_assert_eq!(fold(&folded), folded);
        }
    }
}
