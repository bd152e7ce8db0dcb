//! The stamp: a revision that did not grow is corrected in the table, never in the index.

use table::Rev;

/// Returns the revision to give to an item: `max(2 * now in microseconds, old + 2, the next one above all that were
/// seen)`. Returns `None` if no valid revision is left above those that were seen.
pub fn stamp(now_micros: i64, old: Option<Rev>, above: Option<u64>) -> Option<Rev> {
    let clock = u64::try_from(now_micros).unwrap_or_default().saturating_mul(2);
    let grown = old.map_or(2, |rev| rev.number() + 2);
    let risen = above.map_or(2, |seen| (seen | 1).saturating_add(1));
    Rev::new(clock.max(grown).max(risen))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamp_is_above_the_clock_the_item_and_the_index() {
        let rev = |number| Rev::new(number);
        for (now, old, above, expected) in [
            (50, None, None, rev(100)),
            (50, rev(200), None, rev(202)),
            (50, rev(8), Some(200), rev(202)),
            (50, rev(8), Some(201), rev(202)),
            (-1, None, None, rev(2)),
            (50, rev((1 << 53) - 2), None, None),
            (50, rev(8), Some(u64::MAX), None),
        ] {
            assert_eq!(stamp(now, old, above), expected, "{now} {old:?} {above:?}");
        }
    }
}
