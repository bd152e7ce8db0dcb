//! On which side of a line a position lies, exactly.

use std::cmp::Ordering;

use robust::{Coord, orient2d};

use crate::Position;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    On,
    Right,
}

/// On which side of the line from `from` to `to` lies `of`.
#[inline]
pub(crate) fn side(from: Position, to: Position, of: Position) -> Side {
    let coord = |[x, y]: Position| Coord { x, y };
    let turn = orient2d(coord(from), coord(to), coord(of));
    if turn > 0.0 {
        Side::Left
    } else if turn < 0.0 {
        Side::Right
    } else {
        Side::On
    }
}

/// West to east, and south to north on one meridian: the order in which a sweep meets positions.
#[inline]
pub(crate) fn sweep_order([x, y]: &Position, [other_x, other_y]: &Position) -> Ordering {
    x.total_cmp(other_x).then(y.total_cmp(other_y))
}

/// Which way a ring runs, without its closing position, that does not cross itself: by its turn in the west.
pub(crate) fn is_counterclockwise(ring: &[Position]) -> bool {
    let west =
        (0..ring.len()).zip(ring).min_by(|(_, one), (_, other)| sweep_order(one, other)).map_or(0, |(west, _)| west);
    let at = |index: usize| ring.get(index % ring.len()).copied().unwrap_or_default();
    match side(at(west + ring.len() - 1), at(west), at(west + 1)) {
        Side::Left => true,
        Side::Right => false,
        // It runs back along itself there.
        Side::On => doubled_area(ring) > 0.0,
    }
}

/// Twice the area, negative if the ring runs clockwise; square degrees.
pub(crate) fn doubled_area(ring: &[Position]) -> f64 {
    let Some([origin_x, origin_y]) = ring.first().copied() else { return 0.0 };
    ring.iter().zip(ring.iter().skip(1)).fold(0.0, |area, ([x, y], [next_x, next_y])| {
        area + (x - origin_x) * (next_y - origin_y) - (next_x - origin_x) * (y - origin_y)
    })
}

/// Whether all positions lie on one line.
pub(crate) fn on_one_line(positions: impl IntoIterator<Item = Position>) -> bool {
    let mut each = positions.into_iter();
    let Some(first) = each.next() else { return true };
    let Some(second) = each.find(|other| *other != first) else { return true };
    each.all(|other| side(first, second, other) == Side::On)
}
