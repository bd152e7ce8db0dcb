//! The form of a text in which names are compared: without case, marks and punctuation.

use std::ops::Range;

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

/// Returns the parts of a text between separators, each with its bytes and with the words to which it folds: several for
/// `½`.
pub fn tokens(text: &str) -> Vec<(Range<usize>, Vec<String>)> {
    let (mut tokens, mut start) = (Vec::new(), None);
    for (at, character) in text.char_indices().chain([(text.len(), ' ')]) {
        if is_in_token(character) {
            start = start.or(Some(at));
        } else if let Some(start) = start.take() {
            tokens.extend(token(text, start..at));
        }
    }
    tokens
}

/// Returns a part of a text without the apostrophes around it, which may be quotation marks.
fn token(text: &str, at: Range<usize>) -> Option<(Range<usize>, Vec<String>)> {
    let part = text.get(at.clone())?.trim_start_matches(is_apostrophe);
    let start = at.end - part.len();
    let part = part.trim_end_matches(is_apostrophe);
    let words = words(part);
    (!words.is_empty()).then(|| (start..start + part.len(), words))
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

/// Whether a character is no separator, or is one that folds to letters, as `№` does.
fn is_in_token(character: char) -> bool {
    !is_separator(character) || !character.is_ascii() && !fold(character.encode_utf8(&mut [0; 4])).is_empty()
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
    fn tokens_are_the_parts_of_the_text_that_fold_to_words() {
        let text = "‘Saint-Étienne’s’ №5 — 1½\u{a0}л.";
        let tokens: Vec<(&str, String)> =
            tokens(text).into_iter().map(|(at, words)| (text.get(at).unwrap(), words.join(" "))).collect();
        let expected = [("Saint", "saint"), ("Étienne’s", "etiennes"), ("№5", "no5"), ("1½", "11 2"), ("л", "л")];
        assert_eq!(tokens, expected.map(|(token, words)| (token, words.to_owned())));
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

        #[test]
        fn tokens_have_all_words_of_a_text(text in "\\PC{0,24}") {
            let of_tokens: Vec<String> = tokens(&text).into_iter().flat_map(|(_, words)| words).collect();
            proptest::prop_assert_eq!(of_tokens, words(&text));
        }
    }
}
