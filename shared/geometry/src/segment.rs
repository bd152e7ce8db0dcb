//! The intersection of two segments.

use std::cmp::Ordering;

use crate::Position;
use crate::orientation::{Side, side, sweep_order};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IntersectionKind {
    Cross,
    Overlap,
    /// They have one point in common and do not cross. Within one ring this is a fault, too.
    Touch,
}

impl IntersectionKind {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Cross => "crosses",
            Self::Overlap => "overlaps",
            Self::Touch => "touches",
        }
    }
}

/// Returns how two segments, each with its endpoints in sweep order, intersect, and where.
pub(crate) fn intersect(one: [Position; 2], other: [Position; 2]) -> Option<(IntersectionKind, Position)> {
    use IntersectionKind::{Cross, Overlap, Touch};
    use Side::{Left, On, Right};
    let of_other = other.map(|end| side(one[0], one[1], end));
    let of_one = one.map(|end| side(other[0], other[1], end));
    let apart = |sides: [Side; 2]| matches!(sides, [Left, Left] | [Right, Right]);
    if apart(of_other) || apart(of_one) {
        return None;
    }
    if of_other == [On, On] {
        let start = if sweep_order(&one[0], &other[0]).is_lt() { other[0] } else { one[0] };
        let end = if sweep_order(&one[1], &other[1]).is_lt() { one[1] } else { other[1] };
        return match sweep_order(&start, &end) {
            Ordering::Less => Some((Overlap, start)),
            Ordering::Equal => Some((Touch, start)),
            Ordering::Greater => None,
        };
    }
    match (of_other, of_one) {
        ([On, _], _) => Some((Touch, other[0])),
        ([_, On], _) => Some((Touch, other[1])),
        (_, [On, _]) => Some((Touch, one[0])),
        (_, [_, On]) => Some((Touch, one[1])),
        _ => Some((Cross, crossing_point(one, other))),
    }
}

/// Returns the point in which two crossing segments intersect, rounded to doubles.
pub(crate) fn crossing_point(one: [Position; 2], other: [Position; 2]) -> Position {
    let [[x, y], [end_x, end_y]] = one;
    let [[other_x, other_y], [other_end_x, other_end_y]] = other;
    let (run, rise) = (end_x - x, end_y - y);
    let (other_run, other_rise) = (other_end_x - other_x, other_end_y - other_y);
    let part = ((other_x - x) * other_rise - (other_y - y) * other_run) / (run * other_rise - rise * other_run);
    let part = if part.is_finite() { part.clamp(0.0, 1.0) } else { 0.5 };
    [x + run * part, y + rise * part]
}
