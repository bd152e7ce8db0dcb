//! Fewer positions along a line, each left-out one within a tolerance of the segment that passes it.
//!
//! From a kept position a wedge is open to all directions that pass within the tolerance of the positions seen so far
//! (Sklansky and Gonzalez, 1980). The last position in the wedge, and not nearer than any that it passes, is kept next. How
//! far it looks ahead grows with how far it came, so that n positions take in the order of n steps.

use crate::Position;
use crate::metric::{away, scale_beyond};
use crate::orient::{Side, on_one_line, side};

/// The indices of the positions that stay of a ring, whose last position is its first and stays, too. At least 4, with
/// an area, if the ring has one. `tolerance` is in degrees of latitude.
pub(crate) fn thin_ring(ring: &[Position], tolerance: f64) -> Vec<u32> {
    let far = farthest(ring);
    let mut kept = Vec::new();
    thin(ring, 0, far, tolerance, &mut kept);
    thin(ring, far, last(ring), tolerance, &mut kept);
    kept.push(last(ring));
    if on_one_line(kept.iter().map(|index| place(ring, *index))) {
        give_area(ring, tolerance, &mut kept);
    }
    kept
}

/// The indices of the positions that stay of a line: its ends, at least.
pub(crate) fn thin_line(line: &[Position], tolerance: f64) -> Vec<u32> {
    let end = last(line);
    let mut kept = Vec::new();
    if line.first() == line.last() {
        let far = farthest(line);
        thin(line, 0, far, tolerance, &mut kept);
        thin(line, far, end, tolerance, &mut kept);
    } else {
        thin(line, 0, end, tolerance, &mut kept);
    }
    kept.push(end);
    kept
}

/// Keeps `from` and what must stay before `to`, with the position between them that is farthest off their segment, if
/// there is any.
pub(crate) fn split(row: &[Position], from: u32, to: u32, tolerance: f64, kept: &mut Vec<u32>) {
    let (start, end) = (place(row, from), place(row, to));
    let scale = scale_beyond(start[1].abs().min(end[1].abs()));
    let along = away(start, end, scale);
    let length = dot(along, along);
    let distance = |at: u32| {
        let to = away(start, place(row, at), scale);
        let part = if length > 0.0 { (dot(to, along) / length).clamp(0.0, 1.0) } else { 0.0 };
        let off = [to[0] - along[0] * part, to[1] - along[1] * part];
        dot(off, off)
    };
    let farthest = (from + 1..to).max_by(|one, other| distance(*one).total_cmp(&distance(*other)).then(other.cmp(one)));
    let farthest = farthest.unwrap_or(from);
    thin(row, from, farthest, tolerance, kept);
    thin(row, farthest, to, tolerance, kept);
}

/// Keeps `from` and what must stay before `to`.
fn thin(row: &[Position], from: u32, to: u32, tolerance: f64, kept: &mut Vec<u32>) {
    let mut at = from;
    while at < to {
        kept.push(at);
        at = next(row, at, to, tolerance);
    }
}

/// The next position to keep.
fn next(row: &[Position], from: u32, to: u32, tolerance: f64) -> u32 {
    let start = place(row, from);
    // Nearer to the equator than this the scale would be too small.
    let reach = (20.0 * tolerance).max(2.0);
    let nearest = start[1].abs() - reach;
    let scale = scale_beyond(nearest - tolerance);
    let mut wedge: Option<Wedge> = None;
    let mut farthest = 0.0;
    let mut kept = from + 1;
    for (ahead, position) in (from + 1..=to).zip(row.iter().skip(from as usize + 1)) {
        let beyond_reach = position[1].abs() < nearest && nearest > 0.0;
        if beyond_reach || ahead - kept > 16 + (kept - from) {
            break;
        }
        let direction = away(start, *position, scale);
        let distance = dot(direction, direction);
        if distance >= farthest && wedge.as_ref().is_none_or(|wedge| wedge.holds(direction)) {
            kept = ahead;
        }
        // What is within the tolerance of the start passes in any direction.
        if distance > tolerance * tolerance {
            farthest = distance.max(farthest);
            let passing = Wedge::passing(direction, distance, tolerance);
            match wedge.map_or(Some(passing), |wedge| wedge.narrowed(passing, direction)) {
                Some(narrowed) => wedge = Some(narrowed),
                None => break,
            }
        }
    }
    kept
}

/// Directions from one, counterclockwise, to another, less than half a turn.
#[derive(Clone, Copy)]
struct Wedge {
    right: [f64; 2],
    left: [f64; 2],
}

impl Wedge {
    /// The directions that pass within the tolerance.
    fn passing(direction: [f64; 2], distance: f64, tolerance: f64) -> Self {
        let [x, y] = direction;
        let along = (distance - tolerance * tolerance).sqrt();
        Self {
            right: [x * along + y * tolerance, y * along - x * tolerance],
            left: [x * along - y * tolerance, y * along + x * tolerance],
        }
    }

    fn holds(&self, direction: [f64; 2]) -> bool {
        cross(self.right, direction) >= 0.0 && cross(direction, self.left) >= 0.0 && self.ahead(direction)
    }

    fn ahead(&self, direction: [f64; 2]) -> bool {
        let unit = |[x, y]: [f64; 2]| {
            let length = x.hypot(y);
            [x / length, y / length]
        };
        let ([right_x, right_y], [left_x, left_y]) = (unit(self.right), unit(self.left));
        dot([right_x + left_x, right_y + left_y], direction) > 0.0
    }

    /// What is in both, if the other one, around a direction, lies ahead at all.
    fn narrowed(&self, other: Self, direction: [f64; 2]) -> Option<Self> {
        if !self.ahead(direction) {
            return None;
        }
        let right = if cross(self.right, other.right) > 0.0 { other.right } else { self.right };
        let left = if cross(other.left, self.left) > 0.0 { other.left } else { self.left };
        (cross(right, left) >= 0.0).then_some(Self { right, left })
    }
}

fn farthest(row: &[Position]) -> u32 {
    let start = place(row, 0);
    let scale = scale_beyond(start[1].abs());
    let distance = |position: &Position| {
        let to = away(start, *position, scale);
        dot(to, to)
    };
    (0..last(row))
        .zip(row)
        .map(|(index, position)| (index, distance(position)))
        .fold((0, 0.0), |best, next| if next.1 > best.1 { next } else { best })
        .0
}

/// Keeps one more position, the farthest off the line on which the others lie.
fn give_area(ring: &[Position], tolerance: f64, kept: &mut Vec<u32>) {
    let first = place(ring, 0);
    let Some(second) = kept.iter().map(|index| place(ring, *index)).find(|other| *other != first) else { return };
    let along = away(first, second, 1.0);
    let off = |index: u32| cross(along, away(first, place(ring, index), 1.0)).abs();
    let best = (0..last(ring))
        .filter(|index| side(first, second, place(ring, *index)) != Side::On)
        .max_by(|one, other| off(*one).total_cmp(&off(*other)).then(other.cmp(one)));
    let Some(best) = best else { return };
    let at = kept.partition_point(|index| *index < best);
    if let (Some(before), Some(after)) = (at.checked_sub(1).and_then(|at| kept.get(at)), kept.get(at)) {
        let mut between = Vec::new();
        thin(ring, *before, best, tolerance, &mut between);
        thin(ring, best, *after, tolerance, &mut between);
        kept.splice(at - 1..at, between);
    }
}

fn last(row: &[Position]) -> u32 {
    u32::try_from(row.len()).map_or(0, |length| length.saturating_sub(1))
}

fn place(row: &[Position], index: u32) -> Position {
    row.get(index as usize).copied().unwrap_or_default()
}

fn cross([x, y]: [f64; 2], [other_x, other_y]: [f64; 2]) -> f64 {
    x * other_y - y * other_x
}

fn dot([x, y]: [f64; 2], [other_x, other_y]: [f64; 2]) -> f64 {
    x * other_x + y * other_y
}
