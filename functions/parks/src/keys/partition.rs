//! The partitions of counters and sequences.

use std::fmt;
use std::str::FromStr;

use table::part::NotAPart;

use crate::names::Kind;

/// The items of a partition, or the relationships of an item.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Partition(String);

impl Partition {
    /// The items under a partition key.
    pub fn of(pk: &str) -> Self {
        Self(pk.to_owned())
    }

    /// The relationships of the item with this key.
    pub fn relationships(pk: &str, sk: &str) -> Self {
        Self(format!("rel::{pk}::{sk}"))
    }
}

impl FromStr for Partition {
    type Err = NotAPart;

    fn from_str(text: &str) -> Result<Self, NotAPart> {
        let kind = text.strip_prefix("rel::").unwrap_or(text).split("::").next();
        let kind = kind.and_then(|kind| kind.parse::<Kind>().ok());
        kind.map(|_| Self(text.to_owned())).ok_or(NotAPart("the partition key of an entity"))
    }
}

impl fmt::Display for Partition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl table::KeyPart for Partition {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partition_of_an_unknown_kind_is_refused() {
        for text in ["geozone::bcparks_1", "rel::facility::bcparks_1::campground::1", "product::a::dayuse::1"] {
            assert_eq!(text.parse::<Partition>().unwrap().to_string(), text);
        }
        assert!("nothing::a".parse::<Partition>().is_err());
    }
}
