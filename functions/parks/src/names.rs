//! The parts of keys. Each has its own type, so that a key cannot be built from a wrong text.

use std::fmt;
use std::str::FromStr;

use table::part::NotAPart;

/// The id of a collection, case-sensitive: `[A-Za-z0-9][A-Za-z0-9_-]{0,62}`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CollectionId(String);

impl CollectionId {
    pub const EXPECTED: &str = "1 to 63 letters, digits, `_` or `-`, beginning with a letter or digit";

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for CollectionId {
    type Err = NotAPart;

    fn from_str(text: &str) -> Result<Self, NotAPart> {
        let starts = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
        let continues = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        if starts && continues && text.len() <= 63 { Ok(Self(text.to_owned())) } else { Err(NotAPart(Self::EXPECTED)) }
    }
}

impl fmt::Display for CollectionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl table::KeyPart for CollectionId {}

/// Declares an enumeration of names in keys. The texts are `tt`, because the macro of the schema reads no `literal`.
macro_rules! names {
    ($(#[$doc:meta])* $name:ident { $($variant:ident = $text:tt),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize, utoipa::ToSchema)]
        pub enum $name {
            $(#[serde(rename = $text)] $variant),+
        }

        impl $name {
            pub const ALL: &[Self] = &[$(Self::$variant),+];
            pub const EXPECTED: &str = concat!("one of", $(" ", $text),+);

            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text),+
                }
            }
        }

        impl FromStr for $name {
            type Err = NotAPart;

            fn from_str(text: &str) -> Result<Self, NotAPart> {
                Self::ALL.iter().copied().find(|name| name.as_str() == text).ok_or(NotAPart(Self::EXPECTED))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(self.as_str())
            }
        }

        impl table::KeyPart for $name {}
    };
}

names! {
    /// The kinds of items; the first part of their partition key.
    Kind {
        Collection = "collection",
        Geozone = "geozone",
        Facility = "facility",
        Activity = "activity",
        Product = "product",
    }
}

impl Kind {
    /// Whether items of this kind have a boundary and a path.
    pub const fn is_on_map(self) -> bool {
        matches!(self, Self::Geozone | Self::Facility | Self::Activity)
    }

    /// Whether items of this kind have children.
    pub const fn has_children(self) -> bool {
        matches!(self, Self::Collection | Self::Activity)
    }
}

names! {
    FacilityType {
        Campground = "campground",
        Structure = "structure",
        Parking = "parking",
        Trail = "trail",
        AccessPoint = "accessPoint",
        Viewpoint = "viewpoint",
        NaturalFeature = "naturalFeature",
        DayUseArea = "dayUseArea",
    }
}

names! {
    ActivityType {
        DayUse = "dayuse",
        Camping = "camping",
        BackcountryCamping = "backcountryCamping",
        GroupCamping = "groupCamping",
        CabinStay = "cabinStay",
        Boating = "boating",
        Canoeing = "canoeing",
        Hiking = "hiking",
    }
}

names! {
    /// One of an item's two shapes.
    ShapeName {
        Boundary = "boundary",
        Path = "path",
    }
}

/// The SHA-256 of a shape's canonical form, in lower-case hex.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sha256(String);

impl Sha256 {
    pub const EXPECTED: &str = "64 lower-case hexadecimal digits";

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Sha256 {
    type Err = NotAPart;

    fn from_str(text: &str) -> Result<Self, NotAPart> {
        let hex = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if hex && text.len() == 64 { Ok(Self(text.to_owned())) } else { Err(NotAPart(Self::EXPECTED)) }
    }
}

impl fmt::Display for Sha256 {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl table::KeyPart for Sha256 {}

/// The id of an upload: a UUID v7 in its canonical text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UploadId(uuid::Uuid);

impl UploadId {
    pub fn new() -> Self {
        Self(uuid::Uuid::now_v7())
    }
}

impl Default for UploadId {
    fn default() -> Self {
        Self::new()
    }
}

impl<'de> serde::Deserialize<'de> for UploadId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <String as serde::Deserialize>::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

impl FromStr for UploadId {
    type Err = NotAPart;

    fn from_str(text: &str) -> Result<Self, NotAPart> {
        let id = uuid::Uuid::parse_str(text).map_err(|_| NotAPart("a UUID"))?;
        // Other spellings of the same UUID would be other keys.
        if id.to_string() == text { Ok(Self(id)) } else { Err(NotAPart("a UUID in lower case with hyphens")) }
    }
}

impl fmt::Display for UploadId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl table::KeyPart for UploadId {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collection_id_with_a_delimiter_is_refused() {
        for text in ["", "_a", "-a", "a::b", "a#b", "a b", "a\n", "é", &"a".repeat(64)] {
            assert!(text.parse::<CollectionId>().is_err(), "{text:?}");
        }
        assert!("bcparks_1".parse::<CollectionId>().is_ok());
        assert!("a".repeat(63).parse::<CollectionId>().is_ok());
    }

    #[test]
    fn prefix_of_a_type_is_refused() {
        assert!("camp".parse::<FacilityType>().is_err());
        assert_eq!("campground".parse(), Ok(FacilityType::Campground));
    }

    #[test]
    fn other_spellings_of_an_upload_id_are_refused() {
        let id = UploadId::new().to_string();
        assert!(id.parse::<UploadId>().is_ok());
        assert!(id.to_uppercase().parse::<UploadId>().is_err() || id == id.to_uppercase());
        assert!(id.replace('-', "").parse::<UploadId>().is_err());
    }
}
