//! Items of the sample: their names, and the requests that create them.

use std::fmt::{self, Display, Formatter};

/// Names an item before it has a number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Name {
    /// The path of the list that the item is posted to.
    pub list: String,
    /// Unique in its list.
    pub id: String,
}

/// A request that creates an item.
#[derive(Clone, Debug)]
pub struct Feature {
    pub name: Name,
    pub display_name: String,
    /// JSON.
    pub body: String,
}

/// A facility.
#[derive(Clone, Debug)]
pub struct Place {
    pub name: Name,
    pub display_name: String,
    pub collection: String,
    pub sub_type: String,
    pub location: [f64; 2],
}

impl Display for Name {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.list, self.id)
    }
}
