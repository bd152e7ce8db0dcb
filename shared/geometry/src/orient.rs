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
