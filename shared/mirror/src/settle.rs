//! Settling a key: the document's version was read first, then the item; together they say what is missing.

use crate::fold::Presence;

/// What brings a document to its item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
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
pub fn settle(version: Option<u64>, item: Presence) -> Resolution {
    match (item, version) {
        (Presence::Absent, None) => Resolution::Done,
        (Presence::Absent, Some(version)) => Resolution::Tombstone(version | 1),
        (Presence::Unrevised, above) => Resolution::Stamp { above },
        (Presence::At(rev), Some(version)) if rev.number() == version => Resolution::Done,
        (Presence::At(rev), Some(version)) if rev.number() < version => Resolution::Stamp { above: Some(version) },
        (Presence::At(rev), _) => Resolution::Index(rev.number()),
    }
}

/// What is missing, by the document's version, which was read first, and the item. Other than in a settle, an item at
/// the document's version is indexed once more: its document may be another's, or be made of a shape that was lost.
pub fn repair(version: Option<u64>, item: Presence) -> Resolution {
    match (item, version) {
        (Presence::Absent, None) => Resolution::Done,
        // Over an equal one, too: the document at an odd version may be a live one.
        (Presence::Absent, Some(version)) => Resolution::Tombstone(version | 1),
        (Presence::Unrevised, above) => Resolution::Stamp { above },
        (Presence::At(rev), Some(version)) if rev.number() < version => Resolution::Stamp { above: Some(version) },
        (Presence::At(rev), _) => Resolution::Index(rev.number()),
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
            (None, Presence::Absent, Resolution::Done),
            (Some(10), Presence::Absent, Resolution::Tombstone(11)),
            (Some(11), Presence::Absent, Resolution::Tombstone(11)),
            (None, Presence::Unrevised, Resolution::Stamp { above: None }),
            (Some(10), Presence::Unrevised, Resolution::Stamp { above: Some(10) }),
            (Some(11), at(10), Resolution::Stamp { above: Some(11) }),
            (Some(10), at(10), Resolution::Done),
            (Some(10), at(12), Resolution::Index(12)),
            (None, at(12), Resolution::Index(12)),
        ] {
            assert_eq!(settle(version, item), expected, "{version:?} {item:?}");
        }
    }

    #[test]
    fn a_repair_writes_an_item_at_its_own_version_again() {
        let at = |rev| Presence::At(Rev::new(rev).unwrap());
        for (version, item, expected) in [
            (None, Presence::Absent, Resolution::Done),
            (Some(11), Presence::Absent, Resolution::Tombstone(11)),
            (Some(10), Presence::Absent, Resolution::Tombstone(11)),
            (None, Presence::Unrevised, Resolution::Stamp { above: None }),
            (Some(10), Presence::Unrevised, Resolution::Stamp { above: Some(10) }),
            (Some(11), at(10), Resolution::Stamp { above: Some(11) }),
            (Some(12), at(10), Resolution::Stamp { above: Some(12) }),
            (Some(10), at(10), Resolution::Index(10)),
            (Some(10), at(12), Resolution::Index(12)),
            (None, at(12), Resolution::Index(12)),
        ] {
            assert_eq!(repair(version, item), expected, "{version:?} {item:?}");
        }
    }
}
