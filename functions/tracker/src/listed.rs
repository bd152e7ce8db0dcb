//! Names in lists: in the order of their letters, whatever their case and accents are.
//!
//! An entry's sort key is the name as it is compared, U+0001, and the name as it is written, which a list tells without
//! reading more. An entry that an earlier version has written has the name alone, and keeps its place until it is renamed.

use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};

use crate::values::folded;

/// Before the name as it is written. No name holds it.
const WRITTEN: char = '\u{1}';

/// The most bytes of a sort key, and the most that a name of 200 characters takes of it with what is before it.
const MOST: usize = 1024;
const LONGEST: usize = 801;

/// A name as it is compared: its case folded, and without the marks above and below its letters.
pub fn key(name: &str) -> String {
    let apart = DecomposingNormalizerBorrowed::new_nfd().normalize(&folded(name)).into_owned();
    // The marks of Latin, Greek and Cyrillic letters. In other scripts a mark makes another letter.
    let bare: String = apart.chars().filter(|letter| !('\u{300}'..='\u{36f}').contains(letter)).collect();
    ComposingNormalizerBorrowed::new_nfc().normalize(&bare).into_owned()
}

/// The sort key of an entry of this name. Where both have no room, the name is whole.
pub fn entry(name: &str) -> String {
    format!("{}{WRITTEN}{name}", cut(&key(name), MOST.saturating_sub(name.len() + WRITTEN.len_utf8())))
}

/// The name of an entry.
pub fn name(entry: &str) -> &str {
    entry.split_once(WRITTEN).map_or(entry, |(_, name)| name)
}

/// What the sort key of each entry begins with whose name as it is compared begins so. Others may begin with it, too, where
/// this is so long that an entry may have no room for it.
pub fn beginning(key: &str) -> &str {
    cut(key, MOST - LONGEST)
}

fn cut(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_decide_before_case_and_accents() {
        let mut names =
            ["Zebra", "apple", "Éclair", "Apple", "eclair", "Banana", "Straße", "strasse 2", "Öl", "Ολυμπία"];
        names.sort_by_key(|name| entry(name));
        let ordered = ["Apple", "apple", "Banana", "eclair", "Éclair", "Öl", "Straße", "strasse 2", "Zebra", "Ολυμπία"];
        assert_eq!(names, ordered);
        assert_eq!((key("E\u{301}clair  X"), key("ο\u{301}λυ")), ("eclair x".to_owned(), "ολυ".to_owned()));
        assert_ne!(key("が"), key("か"));
    }

    #[test]
    fn an_entry_has_room_and_tells_its_name() {
        for name in ["a", "É", &"\u{10400}".repeat(200), &"ß".repeat(200), &"\u{390}".repeat(200), "\u{301}"] {
            let entry = entry(name);
            assert!(entry.len() <= MOST, "{}", entry.len());
            assert_eq!(super::name(&entry), name);
            assert!(entry.starts_with(beginning(&key(name))));
        }
        assert_eq!(name("As it was written"), "As it was written");
    }
}
