//! The character between two cells.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A delimiter of a CSV file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = CsvDelimiter)]
pub enum Delimiter {
    #[serde(rename = ",")]
    Comma,
    #[serde(rename = ";")]
    Semicolon,
    #[serde(rename = "\t")]
    Tab,
    #[serde(rename = "|")]
    Bar,
}

impl Delimiter {
    /// All delimiters. Of two that split a header equally often, the earlier one is chosen.
    pub const ALL: [Self; 4] = [Self::Comma, Self::Semicolon, Self::Tab, Self::Bar];

    /// Returns the delimiter as a character.
    pub fn character(self) -> char {
        match self {
            Self::Comma => ',',
            Self::Semicolon => ';',
            Self::Tab => '\t',
            Self::Bar => '|',
        }
    }
}
