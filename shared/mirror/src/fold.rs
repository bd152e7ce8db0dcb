//! Folding the records of one key: what all of them together ask of the index.

use table::Rev;

/// What an image, or an item, says of its revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    Absent,
    /// There, with no valid revision.
    Unrevised,
    At(Rev),
}

/// The two images of one record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    pub old: Presence,
    pub new: Presence,
}

/// The records of one key up to here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fold {
    /// The highest number before the last image.
    pub top: Option<u64>,
    /// The last image.
    pub last: Presence,
}

/// What a folded group asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    Index(u64),
    Tombstone(u64),
    Stamp {
        above: Option<u64>,
    },
    /// The group ends lower than it began: what it began with must not stay visible until the stamp's own record.
    TombstoneAndStamp {
        version: u64,
        above: u64,
    },
    /// Nothing says which version to write: the table and the index are asked.
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

/// Adds the next record of the key, in order of sequence number. A removal counts as the old revision + 1.
pub fn fold(before: Option<Fold>, change: Change) -> Fold {
    let earlier = before.and_then(|fold| fold.top.max(fold.last.number()));
    let removed = u64::from(change.new == Presence::Absent);
    Fold { top: earlier.max(change.old.number().map(|old| old + removed)), last: change.new }
}

/// What to do with a group.
pub fn decide(fold: Fold) -> Decision {
    match (fold.last, fold.top) {
        (Presence::Absent, None) => Decision::Settle,
        (Presence::Absent, Some(top)) => Decision::Tombstone(top | 1),
        (Presence::Unrevised, None) => Decision::Stamp { above: None },
        (Presence::At(rev), top) if top.is_none_or(|top| rev.number() > top) => Decision::Index(rev.number()),
        (Presence::At(rev), Some(top)) if rev.number() == top => Decision::Stamp { above: Some(top) },
        (Presence::At(_) | Presence::Unrevised, top) => {
            let above = top.unwrap_or_default();
            Decision::TombstoneAndStamp { version: above | 1, above }
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

    /// Each record is its old and its new image: -1 for none, 0 for one without a revision.
    #[track_caller]
    fn check(records: &[(i64, i64)], expected: Decision) {
        let folded = records
            .iter()
            .fold(None, |before, &(old, new)| Some(fold(before, Change { old: image(old), new: image(new) })));
        assert_eq!(decide(folded.unwrap()), expected);
    }

    #[test]
    fn a_deleted_item_is_a_tombstone_above_everything_before() {
        check(&[(10, -1)], Decision::Tombstone(11));
        check(&[(-1, 10), (10, 14), (14, -1)], Decision::Tombstone(15));
        check(&[(20, -1), (-1, 10), (10, -1)], Decision::Tombstone(21));
        check(&[(14, 0), (0, -1)], Decision::Tombstone(15));
    }

    #[test]
    fn a_deleted_item_that_never_had_a_revision_is_settled() {
        check(&[(0, -1)], Decision::Settle);
        check(&[(-1, 0), (0, -1)], Decision::Settle);
    }

    #[test]
    fn an_item_that_has_risen_is_indexed() {
        check(&[(-1, 10)], Decision::Index(10));
        check(&[(10, 12), (12, 14)], Decision::Index(14));
        check(&[(10, -1), (-1, 12)], Decision::Index(12));
        check(&[(0, 12)], Decision::Index(12));
    }

    #[test]
    fn an_item_that_stands_still_is_stamped() {
        check(&[(10, 10)], Decision::Stamp { above: Some(10) });
        check(&[(10, 8), (8, 10)], Decision::Stamp { above: Some(10) });
        check(&[(-1, 0)], Decision::Stamp { above: None });
        check(&[(0, 0)], Decision::Stamp { above: None });
    }

    #[test]
    fn an_item_that_has_fallen_is_hidden_and_stamped() {
        check(&[(10, 8)], Decision::TombstoneAndStamp { version: 11, above: 10 });
        check(&[(10, 0)], Decision::TombstoneAndStamp { version: 11, above: 10 });
        check(&[(10, -1), (-1, 8)], Decision::TombstoneAndStamp { version: 11, above: 11 });
        check(&[(10, -1), (-1, 0)], Decision::TombstoneAndStamp { version: 11, above: 11 });
        check(&[(10, 20), (20, 14)], Decision::TombstoneAndStamp { version: 21, above: 20 });
    }
}
