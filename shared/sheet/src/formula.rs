//! Texts that a spreadsheet would take for a formula: each is written with one more quote before it, and read with one
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

/// Whether it is like `=1+1`, after any number of quotes.
fn is_formula(text: &str) -> bool {
    text.trim_start_matches('\'').starts_with(['=', '+', '@', '\t', '\r', '-'])
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
        fn what_is_written_comes_back_and_never_runs(text in "['=+@\t\r\\-a]{0,6}") {
            let written = guarded(&text);
            prop_assert!(!written.starts_with(['=', '+', '@', '\t', '\r', '-']));
            prop_assert_eq!(unguarded(&written), text.as_str());
        }
    }
}
