//! Folding the stream records of one key into the one decision that they require of the index.

use table::Rev;

/// The presence and the revision of an item, in an image of a stream record or in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    Absent,
    /// The item exists and has no valid revision.
    Unrevised,
    At(Rev),
}

/// The two images of one record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    pub old: Presence,
    pub new: Presence,
}

/// The state of one key after the records that were folded so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fold {
    /// The highest revision before the last image.
    pub top: Option<u64>,
    /// The last image.
    pub last: Presence,
}

/// The decision for a folded group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    Index(u64),
    Tombstone(u64),
    Stamp {
        above: Option<u64>,
    },
    /// The group ends at a lower revision than it started with. The older document must not stay visible until the
    /// record of the stamp arrives.
    TombstoneAndStamp {
        version: u64,
        above: u64,
    },
    /// The records do not determine a version. The table and the index must be read.
    Settle,
}

impl Presence {
    pub fn number(self) -> Option<u64> {
        match self {
            Self::At(rev) => Some(rev.number()),
            Self::Absent | Self::Unrevised => None,
        }
    }
}

/// Adds the next record of the key, in the order of sequence numbers. A removal counts as the old revision + 1.
pub fn fold(before: Option<Fold>, change: Change) -> Fold {
    let earlier = before.and_then(|fold| fold.top.max(fold.last.number()));
    let removed = u64::from(change.new == Presence::Absent);
    Fold { top: earlier.max(change.old.number().map(|old| old + removed)), last: change.new }
}

/// Decides how a folded group is indexed.
pub fn decide(fold: Fold) -> Decision {
    match (fold.last, fold.top) {
        (Presence::Absent, None) => Decision::Settle,
        (Presence::Absent, Some(top)) => Decision::Tombstone(top | 1),
        (Presence::Unrevised, None) => Decision::Stamp { above: None },
        (Presence::At(rev), None) => Decision::Index(rev.number()),
        (Presence::At(rev), Some(top)) if rev.number() > top => Decision::Index(rev.number()),
        (Presence::At(rev), Some(top)) if rev.number() == top => Decision::Stamp { above: Some(top) },
        (Presence::At(_) | Presence::Unrevised, Some(top)) => {
            Decision::TombstoneAndStamp { version: top | 1, above: top }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(rev: i64) -> Presence {
        match rev {
            -1 => Presence::Absent,
            0 => Presence::Unrevised,
            rev => Presence::At(Rev::new(rev.unsigned_abs()).unwrap()),
        }
    }

    /// Checks the decision for records, each given as the revisions of its old and new image: -1 for no image, 0 for an
    /// image without a revision.
    #[track_caller]
    fn check(records: &[(i64, i64)], expected: Decision) {
        let folded = records
            .iter()
            .fold(None, |before, &(old, new)| Some(fold(before, Change { old: image(old), new: image(new) })));
        assert_eq!(decide(folded.unwrap()), expected);
    }

    #[test]
    fn deleted_item_becomes_a_tombstone_above_all_earlier_revisions() {
        check(&[(10, -1)], Decision::Tombstone(11));
        check(&[(-1, 10), (10, 14), (14, -1)], Decision::Tombstone(15));
        check(&[(20, -1), (-1, 10), (10, -1)], Decision::Tombstone(21));
        check(&[(14, 0), (0, -1)], Decision::Tombstone(15));
    }

    #[test]
    fn deleted_item_without_a_revision_is_settled() {
        check(&[(0, -1)], Decision::Settle);
        check(&[(-1, 0), (0, -1)], Decision::Settle);
    }

    #[test]
    fn item_with_a_higher_revision_is_indexed() {
        check(&[(-1, 10)], Decision::Index(10));
        check(&[(10, 12), (12, 14)], Decision::Index(14));
        check(&[(10, -1), (-1, 12)], Decision::Index(12));
        check(&[(0, 12)], Decision::Index(12));
    }

    #[test]
    fn item_with_an_unchanged_revision_is_stamped() {
        check(&[(10, 10)], Decision::Stamp { above: Some(10) });
        check(&[(10, 8), (8, 10)], Decision::Stamp { above: Some(10) });
        check(&[(-1, 0)], Decision::Stamp { above: None });
        check(&[(0, 0)], Decision::Stamp { above: None });
    }

    #[test]
    fn item_with_a_lower_revision_is_hidden_and_stamped() {
        check(&[(10, 8)], Decision::TombstoneAndStamp { version: 11, above: 10 });
        check(&[(10, 0)], Decision::TombstoneAndStamp { version: 11, above: 10 });
        check(&[(10, -1), (-1, 8)], Decision::TombstoneAndStamp { version: 11, above: 11 });
        check(&[(10, -1), (-1, 0)], Decision::TombstoneAndStamp { version: 11, above: 11 });
        check(&[(10, 20), (20, 14)], Decision::TombstoneAndStamp { version: 21, above: 20 });
    }
}
