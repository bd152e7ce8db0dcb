//! The fragments of a text with its found words. They are of the item's present text: a document has the folded one,
//! without case and accents.

use std::ops::Range;

use web::search::Piece;

use crate::fold::tokens;

/// The characters of a fragment of a long text, and those of them before its first found word.
const FRAGMENT: usize = 160;
const BEFORE: usize = 60;

/// The most fragments of a long text.
const MAX_FRAGMENTS: usize = 3;

/// Returns a whole text as one fragment. None if it has no found word.
pub fn whole(text: &str, is_found: impl Fn(&str) -> bool) -> Option<Vec<Piece>> {
    let hits = hits(text, is_found);
    (!hits.is_empty()).then(|| pieces(text, &(0..text.len()), &hits))
}

/// Returns the fragments of a text around its found words, each from the beginning of a word to the end of one. A text
/// that is not longer than a fragment is one.
pub fn fragments(text: &str, is_found: impl Fn(&str) -> bool) -> Vec<Vec<Piece>> {
    let hits = hits(text, is_found);
    let mut fragments: Vec<Range<usize>> = Vec::new();
    for hit in &hits {
        let last_end = match fragments.last_mut() {
            // The word may be longer than what was left of the fragment.
            Some(last) if hit.start < last.end => {
                last.end = last.end.max(hit.end);
                continue;
            }
            Some(last) => last.end,
            None => 0,
        };
        if fragments.len() == MAX_FRAGMENTS {
            break;
        }
        let start = if text.chars().nth(FRAGMENT).is_none() { 0 } else { start_before(text, hit.start).max(last_end) };
        fragments.push(start..end_after(text, start).max(hit.end));
    }
    fragments.iter().map(|fragment| pieces(text, fragment, &hits)).collect()
}

/// Returns where the found words are.
fn hits(text: &str, is_found: impl Fn(&str) -> bool) -> Vec<Range<usize>> {
    let found = tokens(text).into_iter().filter(|(_, words)| words.iter().any(|word| is_found(word)));
    found.map(|(at, _)| at).collect()
}

/// Returns the start of the fragment of a word: that of a word before it.
fn start_before(text: &str, word: usize) -> usize {
    let before = text.get(..word).unwrap_or(text);
    let Some((first, _)) = before.char_indices().rev().nth(BEFORE) else { return 0 };
    let mut context = before.char_indices().skip_while(|(at, _)| *at < first);
    let space = context.find(|(_, character)| character.is_whitespace());
    space.map_or(first, |(at, space)| at + space.len_utf8())
}

/// Returns the end of the fragment that starts here: that of a word.
fn end_after(text: &str, start: usize) -> usize {
    let rest = text.get(start..).unwrap_or(text);
    let Some((limit, _)) = rest.char_indices().nth(FRAGMENT) else { return text.len() };
    let space = rest.char_indices().take_while(|(at, _)| *at <= limit).filter(|(_, letter)| letter.is_whitespace());
    start + space.last().map_or(limit, |(at, _)| at)
}

fn pieces(text: &str, fragment: &Range<usize>, hits: &[Range<usize>]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut piece = |at: Range<usize>, hit: bool| {
        if let Some(text) = text.get(at).filter(|text| !text.is_empty()) {
            pieces.push(Piece { text: text.to_owned(), hit });
        }
    };
    let mut end = fragment.start;
    for hit in hits.iter().filter(|hit| fragment.start <= hit.start && hit.end <= fragment.end) {
        piece(end..hit.start, false);
        piece(hit.clone(), true);
        end = hit.end;
    }
    piece(end..fragment.end, false);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes pieces with brackets around hits.
    fn written(pieces: &[Piece]) -> String {
        let written = |piece: &Piece| if piece.hit { format!("[{}]", piece.text) } else { piece.text.clone() };
        pieces.iter().map(written).collect()
    }

    fn is_found(word: &str) -> bool {
        word == "etienne"
    }

    #[test]
    fn found_words_are_marked_as_the_text_writes_them() {
        let marked = |text: &str| whole(text, is_found).map(|pieces| written(&pieces));
        assert_eq!(marked("Saint-Étienne, ‘ÉTIENNE’"), Some("Saint-[Étienne], ‘[ÉTIENNE]’".to_owned()));
        assert_eq!(marked("Étienne"), Some("[Étienne]".to_owned()));
        assert_eq!(marked("Étiennes"), None);
        assert_eq!(marked(""), None);
    }

    #[test]
    fn long_text_has_up_to_three_fragments_of_whole_words() {
        let short = format!("{}Étienne", "ö ".repeat(76));
        assert_eq!(fragments(&short, is_found).len(), 1);
        assert_eq!(written(&fragments(&short, is_found)[0]), short.replace("Étienne", "[Étienne]"));
        let far = "wörd ".repeat(50);
        let long = format!("{far}Étienne étienne {far}Étienne. {far}Étienne {far}Étienne");
        let of_long: Vec<String> = fragments(&long, is_found).iter().map(|pieces| written(pieces)).collect();
        assert_eq!(of_long.len(), 3);
        for (fragment, hits) in of_long.iter().zip(["[Étienne] [étienne]", "[Étienne].", "[Étienne]"]) {
            assert!(fragment.contains(hits), "{fragment}");
            let text = fragment.replace(['[', ']'], "");
            assert!(long.contains(&text) && text.chars().count() <= FRAGMENT, "{text}");
            assert!(text.split(' ').all(|word| ["wörd", "Étienne", "étienne", "Étienne."].contains(&word)), "{text}");
        }
        assert!(fragments(&far, is_found).is_empty());
    }

    #[test]
    fn fragment_of_a_text_without_spaces_has_its_found_word() {
        let dashes = "-".repeat(300);
        let text = format!("{dashes}étienne{dashes}");
        let of_text = fragments(&text, is_found);
        assert_eq!(of_text.len(), 1);
        assert!(written(&of_text[0]).contains("-[étienne]-"));
        // A word at the end of a fragment is in it as a whole.
        let text = format!("étienne{}étienne{dashes}", "-".repeat(150));
        let expected = format!("[étienne]{}[étienne]", "-".repeat(150));
        assert_eq!(fragments(&text, is_found).iter().map(|pieces| written(pieces)).collect::<Vec<_>>(), [expected]);
    }
}
