//! Values of attributes: in requests, as stored and shown, and their keys, by which the index sorts.

mod dates;
mod input;
mod key;
mod numbers;
mod text;

#[cfg(test)]
mod examples;

pub use input::{Input, InputOrNull, distinct};
pub use key::{ENDS, ENDS_CUT, ValueKey, after_exactly, exactly, number_key, number_of};
pub use text::{MAX_OPERAND, folded, text_operand};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::options::Options;

/// The type of an attribute's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum Type {
    /// A whole number of 64 bits.
    Int,
    /// A number of up to 38 digits.
    Decimal,
    /// A day: `2023-05-01`.
    Date,
    /// A time: RFC 3339 with an offset, stored in UTC.
    DateTime,
    /// 1 to 1024 characters.
    Text,
    /// One of the attribute's options.
    Choice,
}

/// A value as it is stored, in the one spelling of its type: a number without exponent, a day, a time in UTC, a text as it
/// was sent, the id of an option.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Plain(String);

impl Type {
    /// Reads a value of this type from a request. The error says what was expected.
    pub fn read(self, input: &Input, options: &Options) -> Result<Plain, String> {
        let plain = match self {
            Self::Int => numbers::int(input),
            Self::Decimal => numbers::decimal(input),
            Self::Date => dates::date(input.text()),
            Self::DateTime => dates::date_time(input.text()),
            Self::Text => input.text().and_then(text::text),
            Self::Choice => {
                return options.choose(input).map(|option| Plain(option.id.to_string()));
            }
        };
        plain.map(Plain).ok_or_else(|| match (self, input) {
            (Self::Int | Self::Decimal, Input::Number(_)) => format!("must be {}, preferably as text", self.expected()),
            _ => format!("must be {}", self.expected()),
        })
    }

    /// Completes "must be ...".
    const fn expected(self) -> &'static str {
        match self {
            Self::Int => "a whole number from -9223372036854775808 to 9223372036854775807",
            Self::Decimal => "a number of at most 38 digits from 1E-130 to 9.99E+125",
            Self::Date => "a calendar day as 2023-05-01",
            Self::DateTime => "a time with its offset and at most six fraction digits, as 2023-05-01T12:00:00+02:00",
            Self::Text => {
                "text of 1 to 1024 characters that is not blank and has no control characters except tabs and line ends"
            }
            Self::Choice => "an option of the attribute",
        }
    }

    /// The key of a value of this type.
    pub fn key(self, plain: &Plain) -> ValueKey {
        match self {
            // A stored text that is no number, which only a foreign write leaves, sorts as zero.
            Self::Int | Self::Decimal => {
                ValueKey::whole(table::ordered::number(&plain.0).unwrap_or_else(|| String::from("o")))
            }
            Self::Date | Self::DateTime | Self::Choice => ValueKey::whole(plain.0.clone()),
            Self::Text => text::key(&plain.0),
        }
    }
}

impl Plain {
    /// A value that is stored already.
    pub fn stored(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}
