//! Texts that a spreadsheet could evaluate as a formula. Such a text is written with a leading quote, which is removed
//! on reading, so that it is never evaluated and does not change.

use std::borrow::Cow;

/// Adds a leading quote to a text that could be a formula, before it is written into a cell.
pub fn guarded(text: &str) -> Cow<'_, str> {
    if is_formula(text) { Cow::Owned(format!("'{text}")) } else { Cow::Borrowed(text) }
}

/// Removes the quote that [`guarded`] has added to the text of a cell.
pub fn unguarded(text: &str) -> &str {
    text.strip_prefix('\'').filter(|rest| is_formula(rest)).unwrap_or(text)
}

/// The signs with which a formula starts. East Asian spreadsheets also accept the full-width signs.
const SIGNS: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];

/// The characters that some spreadsheets ignore at the start of a cell.
const IGNORED_AT_START: [char; 3] = ['\t', '\r', '\n'];

/// Whether the text, after any number of quotes, could be a formula: it starts with a tab or a line break, or with a
/// sign after white space, such as ` =1+1`.
fn is_formula(text: &str) -> bool {
    let text = text.trim_start_matches('\'');
    text.starts_with(IGNORED_AT_START) || text.trim_start_matches(is_ignored).starts_with(SIGNS)
}

/// Whether a spreadsheet may ignore the character: white space, control characters, zero-width characters and
/// byte-order marks.
fn is_ignored(letter: char) -> bool {
    letter.is_whitespace() || letter.is_control() || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_formulas_are_guarded() {
        for (text, written) in [
            ("=1+1", "'=1+1"),
            ("'=x", "''=x"),
            ("-5", "'-5"),
            ("@a", "'@a"),
            ("\n=1+1", "'\n=1+1"),
            ("\na", "'\na"),
            (" =1+1", "' =1+1"),
            ("\u{3000}\u{a0}-1", "'\u{3000}\u{a0}-1"),
            ("\u{feff}=1", "'\u{feff}=1"),
            ("＝1+1", "'＝1+1"),
            ("' ＠a", "'' ＠a"),
            (" a", " a"),
            (" ' =1", " ' =1"),
            ("'a", "'a"),
            ("a=1", "a=1"),
            ("", ""),
            ("'", "'"),
        ] {
            assert_eq!(guarded(text), written);
            assert_eq!(unguarded(written), text);
        }
    }

    proptest! {
        #[test]
        fn guarded_text_is_no_formula_and_is_read_back(text in "['=+@\t\r\n \u{3000}＝＋－＠\\-a]{0,6}") {
            let written = guarded(&text);
            prop_assert!(!written.trim_start().starts_with(SIGNS) && !written.starts_with(IGNORED_AT_START));
            prop_assert_eq!(unguarded(&written), text.as_str());
        }
    }
}
