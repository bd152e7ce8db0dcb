//! Visible and invisible characters.

use icu_properties::CodePointSetData;
use icu_properties::props::DefaultIgnorableCodePoint;

use crate::Fault;

/// A Braille cell without dots, which is no white space by its properties but looks like it.
const BLANK_CELL: char = '\u{2800}';

/// Returns whether a display shows nothing for a character (`Default_Ignorable_Code_Point` of Unicode), as for U+200B or U+FEFF.
pub fn is_invisible(letter: char) -> bool {
    CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(letter)
}

/// Returns whether a text has a character that people can read.
pub fn is_readable(text: &str) -> bool {
    let blank = |letter: char| letter.is_whitespace() || letter.is_control() || letter == BLANK_CELL;
    text.chars().any(|letter| !blank(letter) && !is_invisible(letter))
}

/// The fault of a name without a visible character, or with a control character. The schema checks its length.
pub fn name_fault(pointer: &str, name: &str) -> Option<Fault> {
    let is_valid = is_readable(name) && !name.chars().any(char::is_control);
    (!is_valid).then(|| Fault::pointer(pointer, "must have a visible character and no control characters"))
}

/// The fault of a name that may be empty.
pub fn optional_name_fault(pointer: &str, name: &str) -> Option<Fault> {
    if name.is_empty() { None } else { name_fault(pointer, name) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_invisible_characters_is_not_readable() {
        for text in ["", " \t", "\u{200b}", "\u{feff}\u{a0}", "\u{3164}", "\u{2800}", "\u{e0041}", "\u{7}"] {
            assert!(!is_readable(text), "{text:?}");
        }
        for text in ["a", "\u{200b}a", "é", "👩\u{200d}🚒", "あ"] {
            assert!(is_readable(text), "{text:?}");
        }
    }
}
