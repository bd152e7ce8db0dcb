//! The sounds of a word, as codes of Daitch-Mokotoff Soundex (digits) and Double Metaphone (letters).

use std::sync::LazyLock;

use rphonetic::{DaitchMokotoffSoundex, DoubleMetaphone};

use crate::fold::first;

/// The most letters that are encoded. The codes are shorter.
const MAX_LETTERS: usize = 24;

/// The most codes of one word. The branches of Daitch-Mokotoff double with each ambiguous letter.
const MAX_CODES: usize = 16;

/// The length of Double Metaphone's codes.
const METAPHONE_LENGTH: usize = 6;

static DAITCH_MOKOTOFF: LazyLock<DaitchMokotoffSoundex> = LazyLock::new(DaitchMokotoffSoundex::default);

/// Returns the codes of a folded word. A word with other letters than a to z has none.
pub fn sounds(word: &str) -> Vec<String> {
    let word = first(word, MAX_LETTERS);
    if word.len() < 2 || !word.bytes().all(|letter| letter.is_ascii_lowercase()) {
        return Vec::new();
    }
    let mut codes = DAITCH_MOKOTOFF.inner_soundex(word, true);
    codes.truncate(MAX_CODES);
    let metaphone = DoubleMetaphone::new(Some(METAPHONE_LENGTH)).double_metaphone(word);
    codes.extend([metaphone.primary(), metaphone.alternate()]);
    codes.retain(|code| code.bytes().any(|character| character != b'0'));
    codes.sort_unstable();
    codes.dedup();
    codes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alike(first: &str, second: &str) -> bool {
        let second = sounds(second);
        sounds(first).iter().any(|code| second.contains(code))
    }

    #[test]
    fn spellings_of_a_name_sound_alike() {
        for (name, other) in
            [("muller", "miller"), ("pugh", "pugg"), ("meyer", "maier"), ("schmidt", "smith"), ("kowalski", "kovalsky")]
        {
            assert!(alike(name, other), "{name} {other}");
        }
        assert!(!alike("evan", "margaret"));
    }

    #[test]
    fn words_without_latin_letters_have_no_sounds() {
        assert_eq!(sounds("иванов"), Vec::<String>::new());
        assert_eq!(sounds("j"), Vec::<String>::new());
        assert_eq!(sounds("1850"), Vec::<String>::new());
    }

    proptest::proptest! {
        #[test]
        fn any_word_has_a_few_codes(word in "[a-z]{0,40}") {
            proptest::prop_assert!(sounds(&word).len() <= MAX_CODES + 2);
        }
    }
}
