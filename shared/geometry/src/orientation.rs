//! Exact orientation predicates.

use std::cmp::Ordering;

use robust::{Coord, orient2d};

use crate::Position;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Left,
    On,
    Right,
}

/// Returns on which side of the line from `from` to `to` a position lies.
#[inline]
pub(crate) fn side(from: Position, to: Position, position: Position) -> Side {
    let coord = |[x, y]: Position| Coord { x, y };
    let turn = orient2d(coord(from), coord(to), coord(position));
    if turn > 0.0 {
        Side::Left
    } else if turn < 0.0 {
        Side::Right
    } else {
        Side::On
    }
}

/// The order in which a sweep line reaches positions: from west to east, on one meridian from south to north.
#[inline]
pub(crate) fn sweep_order([x, y]: &Position, [other_x, other_y]: &Position) -> Ordering {
    x.total_cmp(other_x).then(y.total_cmp(other_y))
}

/// Returns whether a simple ring, without its closing position, runs counterclockwise, by the turn at its westernmost
/// position.
pub(crate) fn is_counterclockwise(ring: &[Position]) -> bool {
    let Some(last) = ring.len().checked_sub(1) else { return false };
    let west =
        (0..ring.len()).zip(ring).min_by(|(_, one), (_, other)| sweep_order(one, other)).map_or(0, |(west, _)| west);
    let at = |index: usize| ring.get(index % ring.len()).copied().unwrap_or_default();
    match side(at(west + last), at(west), at(west + 1)) {
        Side::Left => true,
        Side::Right => false,
        // The ring has a spike there.
        Side::On => doubled_signed_area(ring) > 0.0,
    }
}

/// Returns twice the area of a ring in square degrees, negative if the ring runs clockwise.
pub(crate) fn doubled_signed_area(ring: &[Position]) -> f64 {
    let Some([origin_x, origin_y]) = ring.first().copied() else { return 0.0 };
    ring.iter().zip(ring.iter().skip(1)).fold(0.0, |area, ([x, y], [next_x, next_y])| {
        area + (x - origin_x) * (next_y - origin_y) - (next_x - origin_x) * (y - origin_y)
    })
}

/// Returns whether all positions lie on one line.
pub(crate) fn are_collinear(positions: impl IntoIterator<Item = Position>) -> bool {
    let mut positions = positions.into_iter();
    let Some(first) = positions.next() else { return true };
    let Some(second) = positions.find(|other| *other != first) else { return true };
    positions.all(|other| side(first, second, other) == Side::On)
}
