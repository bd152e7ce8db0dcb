//! What counters count.

use std::fmt;
use std::str::FromStr;

use table::part::NotAPart;

use crate::names::Kind;

/// What a counter counts: the items of a partition, or the relationships of one item.
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
        let kind = text.strip_prefix("rel::").unwrap_or(text).split("::").next().unwrap_or_default();
        kind.parse::<Kind>().map(|_| Self(text.to_owned())).map_err(|_| NotAPart("the partition key of an entity"))
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
    fn a_counter_counts_what_has_a_kind() {
        for text in ["geozone::bcparks_1", "rel::facility::bcparks_1::campground::1", "product::a::dayuse::1"] {
            assert_eq!(text.parse::<Partition>().unwrap().to_string(), text);
        }
        assert!("nothing::a".parse::<Partition>().is_err());
    }
}
