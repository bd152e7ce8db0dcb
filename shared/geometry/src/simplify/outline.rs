//! The largest parts of a shape, which an outline shows.

use never::never;

use crate::point_in_polygon::{point_in_polygon, segments};
use crate::shape::Shape;

/// A part is shown if it has at least this share of the size of the largest.
const MIN_SHARE_OF_LARGEST: f64 = 0.01;
/// How many positions a part that is shown should have.
const MIN_POSITIONS_PER_PART: usize = 8;

/// Returns the largest parts, each as its shell or line, for an outline of at most `max_positions`.
pub(super) fn largest_parts(shape: &Shape, max_positions: usize) -> Shape {
    let is_areal = shape.shape_type().is_areal();
    let mut parts: Vec<(usize, f64)> =
        shape.part_lines().map(|lines| (lines.start, shape.part_size(lines.start))).collect();
    parts.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
    let min_size = parts.first().map_or(0.0, |(_, size)| size * MIN_SHARE_OF_LARGEST);
    parts.truncate((max_positions / MIN_POSITIONS_PER_PART).max(1));
    parts.retain(|(_, size)| *size >= min_size);
    let mut shown: Vec<usize> = Vec::new();
    for (line, _) in parts {
        let Some(start) = shape.line(line).first().copied() else {
            never!("line {line} has no position");
            continue;
        };
        // Without its hole, a larger part would share area with an island in that hole.
        let is_inside = |larger: &usize| point_in_polygon(segments(shape.line(*larger)), start) != Some(false);
        if !(is_areal && shown.iter().any(is_inside)) {
            shown.push(line);
        }
    }
    shown.sort_unstable();
    let mut outline = Shape::empty(shape.shape_type());
    for line in shown {
        let altitudes = shape.line_altitudes(line);
        for (index, position) in shape.line(line).iter().enumerate() {
            outline.push(*position, altitudes.get(index).copied());
        }
        outline.end_line();
        outline.end_part();
    }
    outline
}
