//! How closely a word of a query matches a stored name.

use serde::Serialize;
use utoipa::ToSchema;

/// How closely a word matches, the closest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = MatchTier)]
pub enum Tier {
    /// The same folded word.
    Exact,
    /// A word that the wildcards of the query allow.
    Wildcard,
    /// A nickname, an abbreviation, or the form of another language.
    Nickname,
    /// A reading that the transcriber was not certain of.
    Uncertain,
    /// A word that sounds alike.
    Sounds,
    /// A word with one or two other letters.
    Typo,
    /// The first letter of a given name.
    Initial,
}

impl Tier {
    /// Returns the points of a word that matches in this tier.
    pub const fn points(self) -> u32 {
        match self {
            Self::Exact => 10,
            Self::Wildcard => 8,
            Self::Nickname => 7,
            Self::Uncertain => 6,
            Self::Sounds => 5,
            Self::Typo => 4,
            Self::Initial => 3,
        }
    }
}
