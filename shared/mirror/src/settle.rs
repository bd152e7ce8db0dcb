//! Settling a key. The document's version is read first, then the item. Together they determine what must be written.

use crate::fold::Presence;

/// The write that makes a document equal to its item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// The item has a higher revision than the document: index it at its revision.
    Index(u64),
    /// The document has the item's revision, or neither exists.
    Done,
    /// The item has a lower revision than the document, or none.
    Stamp { above: Option<u64> },
    /// The item does not exist: write a tombstone at this version, also over an equal version.
    Tombstone(u64),
}

/// Decides what must be written, from the document's version and the item. The version must be read first: an item that
/// was read before it may be older than the document.
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

/// Decides what a repair must write, from the document's version, which must be read first, and the item. Unlike
/// [`settle`], it indexes an item at the document's version again, since the document may have other content or lack a
/// lost shape.
pub fn repair(version: Option<u64>, item: Presence) -> Resolution {
    match (item, version) {
        (Presence::Absent, None) => Resolution::Done,
        // A document at an odd version may be live, so the tombstone also replaces an equal version.
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
    fn version_and_item_decide_the_resolution() {
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
    fn repair_indexes_an_item_at_an_equal_version_again() {
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
