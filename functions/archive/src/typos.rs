//! The distance of words with typos, as the engine's fuzzy queries measure it.

/// Returns whether two words with the same first letter differ in at most as many letters added, left out, replaced or
/// swapped with the next.
pub fn is_within(word: &str, other: &str, edits: usize) -> bool {
    if word.chars().next() != other.chars().next() {
        return false;
    }
    let (word, other): (Vec<char>, Vec<char>) = (word.chars().collect(), other.chars().collect());
    if word.len().abs_diff(other.len()) > edits {
        return false;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    let mut last = None;
    for letter in &word {
        let mut next = vec![row.first().map_or(1, |first| first + 1)];
        let mut other_last = None;
        for (index, other_letter) in other.iter().enumerate() {
            let at = |row: &[usize], index: usize| row.get(index).copied().unwrap_or(usize::MAX / 2);
            let mut least = (at(&row, index + 1) + 1).min(at(&next, index) + 1);
            least = least.min(at(&row, index) + usize::from(letter != other_letter));
            if last == Some(other_letter) && other_last == Some(letter) {
                least = least.min(at(&before, index.wrapping_sub(1)) + 1);
            }
            next.push(least);
            other_last = Some(other_letter);
        }
        before = std::mem::replace(&mut row, next);
        last = Some(letter);
    }
    row.last().is_some_and(|distance| *distance <= edits)
}
