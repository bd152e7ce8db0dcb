//! The kinds of reactions: one emoji, or a name such as `:wave:`.

use std::fmt;
use std::str::FromStr;

use web::Fault;

/// The most bytes of a kind.
const MAX_BYTES: usize = 32;

/// The kind of a reaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReactionKind(String);

impl ReactionKind {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ReactionKind {
    type Err = Fault;

    /// Accepts each spelling of an emoji, and returns the one that Unicode recommends for display, so that a kind is
    /// counted once.
    fn from_str(text: &str) -> Result<Self, Fault> {
        let kind = emojis::get(text).map(|emoji| emoji.as_str()).or_else(|| Some(text).filter(|text| is_name(text)));
        let kind = kind.filter(|kind| kind.len() <= MAX_BYTES);
        kind.map(|kind| Self(kind.to_owned())).ok_or_else(|| {
            Fault::parameter("reaction", "must be one emoji of at most 32 bytes, or a name such as `:wave:`")
        })
    }
}

impl fmt::Display for ReactionKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Whether the text is `:[a-z0-9_+-]{1,30}:`.
fn is_name(text: &str) -> bool {
    let name = text.strip_prefix(':').and_then(|rest| rest.strip_suffix(':'));
    name.is_some_and(|name| {
        (1..=30).contains(&name.len())
            && name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'+' | b'-'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_emoji_or_a_name_is_a_kind() {
        let long = format!(":{}:", "a".repeat(30));
        for text in ["👍", "👍🏽", "❤️", "👩‍🚀", "🇨🇦", "1️⃣", ":wave:", ":+1:", ":a-b_2:", &long]
        {
            assert_eq!(text.parse::<ReactionKind>().unwrap().as_str(), text);
        }
    }

    #[test]
    fn emoji_in_another_spelling_is_the_same_kind() {
        assert_eq!("\u{2764}".parse::<ReactionKind>(), "\u{2764}\u{fe0f}".parse::<ReactionKind>());
    }

    #[test]
    fn other_text_is_no_kind() {
        let long = format!(":{}:", "a".repeat(31));
        for text in ["", "a", "1", "👍👍", "👍a", " 👍", ":", "::", ":a", "a:", ":A:", ":a b:", ":é:", "❤️❤️", &long]
        {
            assert!(text.parse::<ReactionKind>().is_err(), "{text}");
        }
        // Two people with skin tones who kiss have 35 bytes.
        assert!("👩🏽‍❤️‍💋‍👨🏿".parse::<ReactionKind>().is_err());
    }
}
