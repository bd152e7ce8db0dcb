//! Sequences: the one kind of item without a revision.

use crate::Key;

/// A sequence: an item that counts in one attribute and has no revision.
#[derive(Clone, Debug, PartialEq)]
pub struct Sequence {
    pub(crate) key: Key,
    pub(crate) attribute: &'static str,
}

impl Sequence {
    /// A sequence that counts in this attribute.
    pub fn counting(key: impl Into<Key>, attribute: &'static str) -> Self {
        Self { key: key.into(), attribute }
    }
}

/// Counts in `value`.
impl From<Key> for Sequence {
    fn from(key: Key) -> Self {
        Self::counting(key, "value")
    }
}
