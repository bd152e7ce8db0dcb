//! Texts that a spreadsheet could take for a formula: each is written with one more quote before it, and read with one
//! less, so that none is ever run and all come back as they were.

use std::borrow::Cow;

/// A text as it is written into a cell.
pub fn guarded(text: &str) -> Cow<'_, str> {
    if is_formula(text) { Cow::Owned(format!("'{text}")) } else { Cow::Borrowed(text) }
}

/// A text as it is read from a cell.
pub fn unguarded(text: &str) -> &str {
    text.strip_prefix('\'').filter(|rest| is_formula(rest)).unwrap_or(text)
}

/// What a formula begins with; East Asian spreadsheets take the signs of full width, too.
const SIGNS: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];

/// What some spreadsheets pass over at the beginning of a cell.
const LINE_BEGINS: [char; 3] = ['\t', '\r', '\n'];

/// Whether, after any number of quotes, it is like `=1+1`, perhaps after spaces, or begins with a tab or a line end.
fn is_formula(text: &str) -> bool {
    let text = text.trim_start_matches('\'');
    text.starts_with(LINE_BEGINS) || text.trim_start_matches(is_passed_over).starts_with(SIGNS)
}

/// White space, and what is as good as it: marks of width zero and of byte order.
fn is_passed_over(letter: char) -> bool {
    letter.is_whitespace() || letter.is_control() || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn formulas_are_guarded_and_nothing_else() {
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
        fn what_is_written_comes_back_and_never_runs(text in "['=+@\t\r\n \u{3000}＝＋－＠\\-a]{0,6}") {
            let written = guarded(&text);
            prop_assert!(!written.trim_start().starts_with(SIGNS) && !written.starts_with(LINE_BEGINS));
            prop_assert_eq!(unguarded(&written), text.as_str());
        }
    }
}
