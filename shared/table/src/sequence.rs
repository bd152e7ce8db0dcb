//! Sequences, which allocate numbers. They are the only items without a revision.

use crate::Key;

/// A sequence: an item with its last number in one attribute.
#[derive(Clone, Debug, PartialEq)]
pub struct Sequence {
    pub(crate) key: Key,
    pub(crate) attribute: &'static str,
    /// The highest number that it allocates, if it has one.
    pub(crate) max: Option<u64>,
}

impl Sequence {
    /// Returns a sequence with its last number in this attribute.
    pub fn counting(key: impl Into<Key>, attribute: &'static str) -> Self {
        Self { key: key.into(), attribute, max: None }
    }

    /// Sets the highest number that [`next_numbers`](crate::TableAccess::next_numbers) allocates.
    pub fn up_to(self, max: u64) -> Self {
        Self { max: Some(max), ..self }
    }
}

/// The sequence has its last number in `value`.
impl From<Key> for Sequence {
    fn from(key: Key) -> Self {
        Self::counting(key, "value")
    }
}
