//! The sort keys of names in lists, which ignore case and accents.
//!
//! An entry's sort key is the folded name, U+0001, and the name as it is written, so a list needs no other read. An
//! entry of an earlier version has the name alone, and keeps its place until the name is updated.

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};

use crate::values::folded;

/// Precedes the name as it is written. No name contains it.
const WRITTEN: char = '\u{1}';

/// Bytes of a sort key, and of a name of 200 characters with [`WRITTEN`] in it.
const MAX_BYTES: usize = 1024;
const MAX_NAME_BYTES: usize = 801;

/// The folded name: without case, and without the marks above and below its letters.
pub fn key(name: &str) -> String {
    let decomposed = DecomposingNormalizerBorrowed::new_nfd().normalize(&folded(name)).into_owned();
    // The marks of Latin, Greek and Cyrillic letters. In other scripts a mark makes another letter.
    let bare: String = decomposed.chars().filter(|letter| !('\u{300}'..='\u{36f}').contains(letter)).collect();
    ComposingNormalizerBorrowed::new_nfc().normalize(&bare).into_owned()
}

/// The sort key of a name. If there is no room for both, the folded name is cut.
pub fn entry(name: &str) -> String {
    format!("{}{WRITTEN}{name}", cut(&key(name), MAX_BYTES.saturating_sub(name.len() + WRITTEN.len_utf8())))
}

/// The name of an entry.
pub fn name(entry: &str) -> &str {
    entry.split_once(WRITTEN).map_or(entry, |(_, name)| name)
}

/// The prefix of the sort keys of all names whose folded name starts with this. Where it is so long that it may be cut,
/// sort keys of other names may start with it, too.
pub fn beginning(key: &str) -> &str {
    cut(key, MAX_BYTES - MAX_NAME_BYTES)
}

/// The text up to the last character that ends within this number of bytes.
fn cut(text: &str, bytes: usize) -> &str {
    text.split_at_checked(text.floor_char_boundary(bytes)).map_or(text, |(start, _)| start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_by_letters_before_case_and_accents() {
        let mut names =
            ["Zebra", "apple", "Éclair", "Apple", "eclair", "Banana", "Straße", "strasse 2", "Öl", "Ολυμπία"];
        names.sort_by_key(|name| entry(name));
        let ordered = ["Apple", "apple", "Banana", "eclair", "Éclair", "Öl", "Straße", "strasse 2", "Zebra", "Ολυμπία"];
        assert_eq!(names, ordered);
        assert_eq!((key("E\u{301}clair  X"), key("ο\u{301}λυ")), ("eclair x".to_owned(), "ολυ".to_owned()));
        assert_ne!(key("が"), key("か"));
    }

    #[test]
    fn entry_fits_and_contains_its_name() {
        for name in ["a", "É", &"\u{10400}".repeat(200), &"ß".repeat(200), &"\u{390}".repeat(200), "\u{301}"] {
            let entry = entry(name);
            assert!(entry.len() <= MAX_BYTES, "{}", entry.len());
            assert_eq!(super::name(&entry), name);
            assert!(entry.starts_with(beginning(&key(name))));
        }
        assert_eq!(name("As it was written"), "As it was written");
    }
}
