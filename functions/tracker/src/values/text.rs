//! Texts: shown as given, ordered without regard to case, composition and the amount of white space.

use icu_casemap::CaseMapper;
use icu_normalizer::ComposingNormalizerBorrowed;

use super::key::ValueKey;

/// The most characters of a text, composed.
const MAX_CHARACTERS: usize = 1024;

/// The most bytes of a text's key.
const MAX_KEY: usize = 1000;

/// The most bytes of a folded operand: a key that is cut keeps at least so many.
pub const MAX_OPERAND: usize = 997;

/// A text as it was given, if it may be one.
pub(super) fn text(given: &str) -> Option<String> {
    let composed = compose(given);
    let sound = |character: char| !character.is_control() || matches!(character, '\t' | '\n' | '\r');
    let fits = composed.chars().all(sound) && composed.chars().count() <= MAX_CHARACTERS;
    (fits && !folded(given).is_empty()).then(|| given.to_owned())
}

/// The key of a text: above 1000 bytes it is cut at a character's boundary.
pub(super) fn key(text: &str) -> ValueKey {
    let folded = folded(text);
    if folded.len() <= MAX_KEY {
        return ValueKey::whole(folded);
    }
    let end = folded.floor_char_boundary(MAX_KEY);
    ValueKey::cut(folded.get(..end).unwrap_or_default())
}

/// A text in the form in which texts are compared: composed, case folded, composed again, with runs of white space and
/// controls as one space, and none at its ends.
pub fn folded(text: &str) -> String {
    let folded = compose(&CaseMapper::new().fold_string(&compose(text))).into_owned();
    let blank = |character: char| character.is_whitespace() || character.is_control();
    let words = folded.split(blank).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// What a text is compared with in a filter: folded, unless it is too long to be told from keys that are cut.
pub fn text_operand(text: &str) -> Result<String, String> {
    let folded = folded(text);
    match folded.len() {
        0 => Err("must not be blank".to_owned()),
        1..=MAX_OPERAND => Ok(folded),
        bytes => Err(format!("takes {bytes} bytes when its case is folded, and at most {MAX_OPERAND} can be compared")),
    }
}

fn compose(text: &str) -> std::borrow::Cow<'_, str> {
    ComposingNormalizerBorrowed::new_nfc().normalize(text)
}
