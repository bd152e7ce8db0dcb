//! Texts are shown as they were sent, and compared without regard to case, composition and the amount of white space.

use icu_casemap::CaseMapper;
use icu_normalizer::ComposingNormalizerBorrowed;

use super::key::ValueKey;

/// Characters of a composed text.
const MAX_CHARACTERS: usize = 1024;

/// Bytes of a text's key.
const MAX_KEY: usize = 1000;

/// Bytes of a folded operand. A cut key has at least as many.
pub const MAX_OPERAND: usize = 997;

/// The text as it was sent, if it is valid.
pub(super) fn text(sent: &str) -> Option<String> {
    let composed = compose(sent);
    let is_valid = |character: char| !character.is_control() || matches!(character, '\t' | '\n' | '\r');
    let fits = composed.chars().all(is_valid) && composed.chars().count() <= MAX_CHARACTERS;
    (fits && !folded(sent).is_empty()).then(|| sent.to_owned())
}

/// The key of a text. Above 1000 bytes it is cut at the end of a character.
pub(super) fn key(text: &str) -> ValueKey {
    let mut folded = folded(text);
    if folded.len() <= MAX_KEY {
        return ValueKey::whole(folded);
    }
    folded.truncate(folded.floor_char_boundary(MAX_KEY));
    ValueKey::cut(folded)
}

/// The folded text, by which texts are compared: composed, without case, composed again, with each run of white space and
/// control characters as one space, and none at its ends.
pub fn folded(text: &str) -> String {
    let folded = compose(&CaseMapper::new().fold_string(&compose(text))).into_owned();
    let blank = |character: char| character.is_whitespace() || character.is_control();
    let words = folded.split(blank).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// The folded operand of a filter, unless it is too long to be compared with cut keys.
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
