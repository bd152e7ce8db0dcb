//! Settling a key: the document's version was read first, then the item; together they say what is missing.

use crate::fold::Presence;

/// What brings a document to its item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settlement {
    /// The item is above the document: index it at its revision.
    Index(u64),
    /// The document is the item's, or neither is there.
    Done,
    /// The item is below the document, or has no revision.
    Stamp { above: Option<u64> },
    /// The item is gone: a tombstone at this version or over an equal one.
    Tombstone(u64),
}

/// Never the other way round: an item that was read first may be older than the document that is compared with it.
pub fn settle(version: Option<u64>, item: Presence) -> Settlement {
    match (item, version) {
        (Presence::Absent, None) => Settlement::Done,
        (Presence::Absent, Some(version)) => Settlement::Tombstone(version | 1),
        (Presence::Unrevised, above) => Settlement::Stamp { above },
        (Presence::At(rev), Some(version)) if rev.number() == version => Settlement::Done,
        (Presence::At(rev), Some(version)) if rev.number() < version => Settlement::Stamp { above: Some(version) },
        (Presence::At(rev), _) => Settlement::Index(rev.number()),
    }
}

#[cfg(test)]
mod tests {
    use table::Rev;

    use super::*;

    #[test]
    fn the_item_decides() {
        let at = |rev| Presence::At(Rev::new(rev).unwrap());
        for (version, item, expected) in [
            (None, Presence::Absent, Settlement::Done),
            (Some(10), Presence::Absent, Settlement::Tombstone(11)),
            (Some(11), Presence::Absent, Settlement::Tombstone(11)),
            (None, Presence::Unrevised, Settlement::Stamp { above: None }),
            (Some(10), Presence::Unrevised, Settlement::Stamp { above: Some(10) }),
            (Some(11), at(10), Settlement::Stamp { above: Some(11) }),
            (Some(10), at(10), Settlement::Done),
            (Some(10), at(12), Settlement::Index(12)),
            (None, at(12), Settlement::Index(12)),
        ] {
            assert_eq!(settle(version, item), expected, "{version:?} {item:?}");
        }
    }
}
