//! The parts of keys. Each is a type of its own, so that no key can be built from other text.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_with::{DeserializeFromStr, SerializeDisplay};
use sha2::{Digest, Sha256};
use table::part::NotAPart;
use table::{Escaped, KeyPart, ordered};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use crate::fold::{first, fold};

/// The lowest and the highest id. All have ten digits, so that their order as text is their order as numbers.
pub const FIRST_ID: u64 = 1_000_000_000;
pub const LAST_ID: u64 = 9_999_999_999;

/// The highest id that the sequence gives out. Ids above it belong to the gazetteer.
pub const LAST_OF_SEQUENCE: u64 = 7_999_999_999;

/// The pattern of an id in the API description.
const ID_PATTERN: &str = "^[1-9][0-9]{9}$";

/// Declares the id of an entity: a number of ten digits, and in JSON and in keys its text.
macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident,)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, SerializeDisplay, DeserializeFromStr)]
        pub struct $name(u64);

        impl $name {
            /// Returns the id with this number, if it has ten digits.
            pub const fn new(number: u64) -> Option<Self> {
                if FIRST_ID <= number && number <= LAST_ID { Some(Self(number)) } else { None }
            }

            pub const fn number(self) -> u64 {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(formatter)
            }
        }

        impl FromStr for $name {
            type Err = NotAPart;

            /// Accepts one spelling only, since another would be another key.
            fn from_str(text: &str) -> Result<Self, NotAPart> {
                let number = text.parse().ok().and_then(Self::new);
                number.filter(|id| id.to_string() == text).ok_or(NotAPart("an id of ten digits"))
            }
        }

        impl KeyPart for $name {}

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                ObjectBuilder::new().schema_type(Type::String).pattern(Some(ID_PATTERN)).into()
            }
        }

        impl ToSchema for $name {}
    )+};
}

ids! {
    CategoryId,
    CollectionId,
    PostId,
    /// The id of a record in one run. Readers see the id of its first publication, its permanent id.
    RecordId,
    PlaceId,
    UserId,
    ReportId,
}

web::id! {
    /// The id of an upload, which names its file.
    pub struct UploadId
}

/// The number of a run of a post, from 1; run 0 is a post without one. In keys the order of its text is its order as a
/// number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(transparent)]
pub struct RunNumber(pub u32);

impl RunNumber {
    /// Returns the attribute of this run in items that have one for each run.
    pub fn attribute(self) -> String {
        format!("run_{}", self.0)
    }
}

impl fmt::Display for RunNumber {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&ordered::integer(self.0.into()))
    }
}

impl FromStr for RunNumber {
    type Err = NotAPart;

    fn from_str(text: &str) -> Result<Self, NotAPart> {
        let number = ordered::parse_integer(text).and_then(|number| u32::try_from(number).ok());
        number.map(Self).ok_or(NotAPart("the number of a run in its form that sorts"))
    }
}

impl KeyPart for RunNumber {}

/// The household of a record: 1 to 120 characters, escaped in keys and in JSON.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, SerializeDisplay, DeserializeFromStr)]
pub struct Household(Escaped);

impl Household {
    pub const MAX_CHARACTERS: usize = 120;

    /// Escaped characters take several bytes, and a key has at most 512.
    const MAX_KEY_BYTES: usize = 480;

    /// Returns the household with this name, unless the name is empty or too long.
    pub fn new(name: &str) -> Result<Self, NotAPart> {
        let too_long = NotAPart("a household of at most 120 characters");
        let part = Escaped::new(name)?;
        let fits = name.chars().count() <= Self::MAX_CHARACTERS && part.to_string().len() <= Self::MAX_KEY_BYTES;
        if fits { Ok(Self(part)) } else { Err(too_long) }
    }

    /// Returns the name as the file has it.
    pub fn name(&self) -> &str {
        self.0.text()
    }
}

impl fmt::Display for Household {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl FromStr for Household {
    type Err = NotAPart;

    /// Parses the form of keys.
    fn from_str(text: &str) -> Result<Self, NotAPart> {
        Self::new(text.parse::<Escaped>()?.text())
    }
}

impl KeyPart for Household {}

impl PartialSchema for Household {
    fn schema() -> RefOr<Schema> {
        let form = "The number of the household, in which `~` and two hex digits stand for each byte of a reserved \
            character: `12 ~2F 3` for `12 / 3`";
        let schema = ObjectBuilder::new().schema_type(Type::String).description(Some(form));
        schema.min_length(Some(1)).max_length(Some(Self::MAX_KEY_BYTES)).into()
    }
}

impl ToSchema for Household {
    /// The schema of the household itself has the shorter name.
    fn name() -> Cow<'static, str> {
        "HouseholdId".into()
    }
}

/// The folded name of a category.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FoldedName(String);

impl FoldedName {
    /// The longest folded name in bytes. A key has at most 512.
    const MAX_BYTES: usize = 480;

    /// Returns the folded form of a name, unless nothing is left of it or too much.
    pub fn of(name: &str) -> Result<Self, NotAPart> {
        fold(name).parse()
    }
}

impl fmt::Display for FoldedName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl FromStr for FoldedName {
    type Err = NotAPart;

    fn from_str(text: &str) -> Result<Self, NotAPart> {
        if text.is_empty() {
            Err(NotAPart("a name with a letter or a digit"))
        } else if text.len() > Self::MAX_BYTES {
            Err(NotAPart("a shorter name"))
        } else if fold(text) == text {
            Ok(Self(text.to_owned()))
        } else {
            Err(NotAPart("a folded name"))
        }
    }
}

impl KeyPart for FoldedName {}

/// The first two characters of the folded full name of a place. They divide places into partitions of the index.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PlacePrefix(String);

impl PlacePrefix {
    /// Returns the prefix of a folded full name, or none if that is empty.
    pub fn of(folded: &str) -> Option<Self> {
        first(folded, 2).parse().ok()
    }
}

impl fmt::Display for PlacePrefix {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl FromStr for PlacePrefix {
    type Err = NotAPart;

    fn from_str(text: &str) -> Result<Self, NotAPart> {
        let is_reserved = |character: char| matches!(character, '#' | ':') || character.is_control();
        if (1..=2).contains(&text.chars().count()) && !text.chars().any(is_reserved) {
            Ok(Self(text.to_owned()))
        } else {
            Err(NotAPart("one or two characters"))
        }
    }
}

impl KeyPart for PlacePrefix {}

/// A whole name of a place, folded and without spaces: `saintetienne`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PlaceWord(String);

impl PlaceWord {
    /// The longest word in bytes. A key has at most 512.
    const MAX_BYTES: usize = 480;

    /// Returns the word of a name, unless nothing is left of it or too much.
    pub fn of(name: &str) -> Result<Self, NotAPart> {
        // Letters that were apart may compose, so what is left is folded again.
        fold(&fold(name).replace(' ', "")).parse()
    }
}

impl fmt::Display for PlaceWord {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl FromStr for PlaceWord {
    type Err = NotAPart;

    fn from_str(text: &str) -> Result<Self, NotAPart> {
        let fits = (1..=Self::MAX_BYTES).contains(&text.len()) && !text.contains(' ') && fold(text) == text;
        if fits { Ok(Self(text.to_owned())) } else { Err(NotAPart("a folded name without spaces")) }
    }
}

impl KeyPart for PlaceWord {}

/// The SHA-256 of a user's sort key, in lower-case hex.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UserHash(String);

impl UserHash {
    pub fn of(sort_key: &str) -> Self {
        Self(Sha256::digest(sort_key).iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

impl fmt::Display for UserHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl FromStr for UserHash {
    type Err = NotAPart;

    fn from_str(text: &str) -> Result<Self, NotAPart> {
        let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        if text.len() == 64 && text.bytes().all(is_hex) {
            Ok(Self(text.to_owned()))
        } else {
            Err(NotAPart("64 hex digits in lower case"))
        }
    }
}

impl KeyPart for UserHash {}

/// The source of a reader's reports in one hour: the SHA-256 of the hour, the network and the caller with a secret, in
/// lower-case hex. It does not tell who has reported.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ReportSource(String);

impl ReportSource {
    /// Returns the digest of these parts. Different parts have different digests.
    pub fn of(parts: &[&str]) -> Self {
        let mut digest = Sha256::new();
        for part in parts {
            digest.update((part.len() as u64).to_be_bytes());
            digest.update(part);
        }
        Self(digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

impl fmt::Display for ReportSource {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl FromStr for ReportSource {
    type Err = NotAPart;

    fn from_str(text: &str) -> Result<Self, NotAPart> {
        UserHash::from_str(text).map(|UserHash(hash)| Self(hash))
    }
}

impl KeyPart for ReportSource {}

/// The role of a user. Each role includes those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum Role {
    /// Searches and reads, as anyone does.
    #[default]
    None,
    /// Makes posts and publishes them.
    Volunteer,
    /// Keeps categories, collections and everybody's posts.
    Editor,
    /// Keeps users, settings and places.
    Administrator,
}

/// The status of a post.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum PostStatus {
    Draft,
    Publishing,
    Published,
    Unpublishing,
    Deleting,
    Error,
}

impl PostStatus {
    /// Whether a run or a deletion works on the post.
    pub const fn is_in_transit(self) -> bool {
        matches!(self, Self::Publishing | Self::Unpublishing | Self::Deleting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_has_ten_digits_in_one_spelling() {
        let id: PostId = "1000000012".parse().unwrap();
        assert_eq!((id.number(), id.to_string().as_str()), (1_000_000_012, "1000000012"));
        for text in ["", "12", "0000000012", "+1000000012", "10000000000", "100000001x"] {
            assert!(text.parse::<PostId>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn run_numbers_sort_as_numbers() {
        let numbers = [0, 1, 2, 9, 10, 11, 100].map(|number| RunNumber(number).to_string());
        assert!(numbers.is_sorted(), "{numbers:?}");
        assert_eq!("b10".parse(), Ok(RunNumber(10)));
        assert!("10".parse::<RunNumber>().is_err());
        assert_eq!(RunNumber(10).attribute(), "run_10");
    }

    #[test]
    fn household_is_escaped_and_has_120_characters_at_most() {
        let household = Household::new("12 / 3#b").unwrap();
        assert_eq!((household.to_string().as_str(), household.name()), ("12 ~2F 3~23b", "12 / 3#b"));
        assert_eq!(household.to_string().parse(), Ok(household));
        assert!(Household::new(&"ł".repeat(120)).is_ok());
        assert!(Household::new(&"ł".repeat(121)).is_err());
        assert!(Household::new(&"\u{85}".repeat(120)).is_err());
        assert!(Household::new("").is_err());
    }

    #[test]
    fn folded_name_needs_a_letter_or_digit() {
        assert_eq!(FoldedName::of("bÍrths").unwrap(), FoldedName::of("Births").unwrap());
        assert!(FoldedName::of("- !").is_err());
        assert!("Births".parse::<FoldedName>().is_err());
        assert!(FoldedName::of(&"\u{fdfa}".repeat(100)).is_err());
    }

    #[test]
    fn prefix_of_a_place_counts_characters() {
        let prefix = |name: &str| PlacePrefix::of(&fold(name)).map(|prefix| prefix.to_string());
        assert_eq!(prefix("Łódź").as_deref(), Some("lo"));
        assert_eq!(prefix("東京").as_deref(), Some("東京"));
        assert_eq!(PlacePrefix::of("y, france").map(|prefix| prefix.to_string()).as_deref(), Some("y,"));
        assert_eq!(prefix(""), None);
    }

    #[test]
    fn word_of_a_place_has_no_spaces() {
        assert_eq!(PlaceWord::of("Saint-Étienne").unwrap().to_string(), "saintetienne");
        assert!(PlaceWord::of("--").is_err());
    }

    #[test]
    fn roles_include_those_before_them() {
        assert!(Role::None < Role::Volunteer && Role::Volunteer < Role::Editor && Role::Editor < Role::Administrator);
    }
}
