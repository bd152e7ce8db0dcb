//! Line simplification with a tolerance (Sklansky and Gonzalez, 1980): each removed position is within the tolerance
//! of the segment that replaces it.
//!
//! From a kept position, a wedge contains all directions that pass within the tolerance of the positions seen so far.
//! The next kept position is the last one in the wedge that is not nearer than any position it passes. The search looks
//! ahead in proportion to the distance from the kept position, so n positions take O(n) steps.

use never::never;

use crate::Position;
use crate::metric::{longitude_scale, offset};
use crate::orientation::{Side, are_collinear, side};

/// Returns the indices of the kept positions of a closed ring, the closing one included. They are at least 4 and have
/// an area if the ring has one. `tolerance` is in degrees of latitude.
pub(super) fn simplify_ring(ring: &[Position], tolerance: f64) -> Vec<u32> {
    let far = farthest(ring);
    let mut kept = Vec::new();
    simplify_between(ring, 0, far, tolerance, &mut kept);
    simplify_between(ring, far, last(ring), tolerance, &mut kept);
    kept.push(last(ring));
    if are_collinear(kept.iter().map(|index| position_at(ring, *index))) {
        add_area(ring, tolerance, &mut kept);
    }
    kept
}

/// Returns the indices of the kept positions of a line, among them its ends.
pub(super) fn simplify_line(line: &[Position], tolerance: f64) -> Vec<u32> {
    let end = last(line);
    let mut kept = Vec::new();
    if line.first() == line.last() {
        let far = farthest(line);
        simplify_between(line, 0, far, tolerance, &mut kept);
        simplify_between(line, far, end, tolerance, &mut kept);
    } else {
        simplify_between(line, 0, end, tolerance, &mut kept);
    }
    kept.push(end);
    kept
}

/// Keeps `from` and the necessary positions before `to`, among them the one that is farthest from the segment between
/// both.
pub(super) fn split(line: &[Position], from: u32, to: u32, tolerance: f64, kept: &mut Vec<u32>) {
    let (start, end) = (position_at(line, from), position_at(line, to));
    let scale = longitude_scale(start[1].abs().min(end[1].abs()));
    let along = offset(start, end, scale);
    let length = dot(along, along);
    let distance = |at: u32| {
        let to = offset(start, position_at(line, at), scale);
        let part = if length > 0.0 { (dot(to, along) / length).clamp(0.0, 1.0) } else { 0.0 };
        let off = [to[0] - along[0] * part, to[1] - along[1] * part];
        dot(off, off)
    };
    let farthest = (from + 1..to).max_by(|one, other| distance(*one).total_cmp(&distance(*other)).then(other.cmp(one)));
    let farthest = farthest.unwrap_or(from);
    simplify_between(line, from, farthest, tolerance, kept);
    simplify_between(line, farthest, to, tolerance, kept);
}

/// Keeps `from` and the necessary positions before `to`.
fn simplify_between(line: &[Position], from: u32, to: u32, tolerance: f64, kept: &mut Vec<u32>) {
    let mut at = from;
    while at < to {
        kept.push(at);
        at = next_kept(line, at, to, tolerance);
    }
}

/// Returns the next position to keep.
fn next_kept(line: &[Position], from: u32, to: u32, tolerance: f64) -> u32 {
    let start = position_at(line, from);
    // At a latitude below `nearest` the scale would be too small.
    let reach = (20.0 * tolerance).max(2.0);
    let nearest = start[1].abs() - reach;
    let scale = longitude_scale(nearest - tolerance);
    let mut wedge: Option<Wedge> = None;
    let mut farthest = 0.0;
    let mut kept = from + 1;
    for (ahead, position) in (from + 1..=to).zip(line.iter().skip(from as usize + 1)) {
        let beyond_reach = position[1].abs() < nearest && nearest > 0.0;
        if beyond_reach || ahead - kept > 16 + (kept - from) {
            break;
        }
        let direction = offset(start, *position, scale);
        let distance = dot(direction, direction);
        if distance >= farthest && wedge.as_ref().is_none_or(|wedge| wedge.contains(direction)) {
            kept = ahead;
        }
        // A segment in any direction passes within the tolerance of a position this near.
        if distance > tolerance * tolerance {
            farthest = distance.max(farthest);
            let passing = Wedge::passing(direction, distance, tolerance);
            match wedge.map_or(Some(passing), |wedge| wedge.intersection(passing, direction)) {
                Some(narrower) => wedge = Some(narrower),
                None => break,
            }
        }
    }
    kept
}

/// The directions from `right`, counterclockwise, to `left`: less than half a turn.
#[derive(Clone, Copy)]
struct Wedge {
    right: [f64; 2],
    left: [f64; 2],
}

impl Wedge {
    /// The directions that pass a position within the tolerance.
    fn passing(direction: [f64; 2], distance: f64, tolerance: f64) -> Self {
        let [x, y] = direction;
        let along = (distance - tolerance * tolerance).sqrt();
        Self {
            right: [x * along + y * tolerance, y * along - x * tolerance],
            left: [x * along - y * tolerance, y * along + x * tolerance],
        }
    }

    fn contains(&self, direction: [f64; 2]) -> bool {
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

    /// Returns the intersection with another wedge around `direction`, if there is any.
    fn intersection(&self, other: Self, direction: [f64; 2]) -> Option<Self> {
        if !self.ahead(direction) {
            return None;
        }
        let right = if cross(self.right, other.right) > 0.0 { other.right } else { self.right };
        let left = if cross(other.left, self.left) > 0.0 { other.left } else { self.left };
        (cross(right, left) >= 0.0).then_some(Self { right, left })
    }
}

/// Returns the index of the position that is farthest from the first one.
fn farthest(line: &[Position]) -> u32 {
    let start = position_at(line, 0);
    let scale = longitude_scale(start[1].abs());
    let distance = |position: &Position| {
        let to = offset(start, *position, scale);
        dot(to, to)
    };
    (0..last(line))
        .zip(line)
        .map(|(index, position)| (index, distance(position)))
        .fold((0, 0.0), |best, next| if next.1 > best.1 { next } else { best })
        .0
}

/// Keeps one more position: the one that is farthest from the line on which the kept ones lie.
fn add_area(ring: &[Position], tolerance: f64, kept: &mut Vec<u32>) {
    let first = position_at(ring, 0);
    let Some(second) = kept.iter().map(|index| position_at(ring, *index)).find(|other| *other != first) else { return };
    let along = offset(first, second, 1.0);
    let off = |index: u32| cross(along, offset(first, position_at(ring, index), 1.0)).abs();
    let best = (0..last(ring))
        .filter(|index| side(first, second, position_at(ring, *index)) != Side::On)
        .max_by(|one, other| off(*one).total_cmp(&off(*other)).then(other.cmp(one)));
    let Some(best) = best else { return };
    let at = kept.partition_point(|index| *index < best);
    if let (Some(before), Some(after)) = (at.checked_sub(1).and_then(|at| kept.get(at)), kept.get(at)) {
        let mut between = Vec::new();
        simplify_between(ring, *before, best, tolerance, &mut between);
        simplify_between(ring, best, *after, tolerance, &mut between);
        kept.splice(at - 1..at, between);
    }
}

fn last(line: &[Position]) -> u32 {
    u32::try_from(line.len()).map_or(0, |length| length.saturating_sub(1))
}

fn position_at(line: &[Position], index: u32) -> Position {
    line.get(index as usize).copied().unwrap_or_else(|| {
        never!("position {index} of {}", line.len());
        Position::default()
    })
}

fn cross([x, y]: [f64; 2], [other_x, other_y]: [f64; 2]) -> f64 {
    x * other_y - y * other_x
}

fn dot([x, y]: [f64; 2], [other_x, other_y]: [f64; 2]) -> f64 {
    x * other_x + y * other_y
}
