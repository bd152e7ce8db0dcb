//! The main parts of a shape, which a sketch of it shows.

use crate::inside::{lies_in, segments};
use crate::shape::Shape;

/// A part is shown if it is at least this share of the largest.
const SHARE: f64 = 0.01;
/// A part that is shown has at least about so many positions.
const POSITIONS_A_PART: usize = 8;

/// The largest parts, each by its shell or line, that a sketch of so many positions can show.
pub(crate) fn main_parts(shape: &Shape, max_positions: usize) -> Shape {
    let areal = shape.shape_type().is_areal();
    let mut parts: Vec<(usize, f64)> =
        shape.part_rows().map(|rows| (rows.start, shape.part_size(rows.start))).collect();
    parts.sort_by(|one, other| other.1.total_cmp(&one.1).then(one.0.cmp(&other.0)));
    let least = parts.first().map_or(0.0, |(_, size)| size * SHARE);
    parts.truncate((max_positions / POSITIONS_A_PART).max(1));
    parts.retain(|(_, size)| *size >= least);
    let mut shown: Vec<usize> = Vec::new();
    for (row, _) in parts {
        let start = shape.row(row).first().copied().unwrap_or_default();
        // An island in a hole would share area with what the hole is left out of.
        if !(areal && shown.iter().any(|larger| lies_in(segments(shape.row(*larger)), start) != Some(false))) {
            shown.push(row);
        }
    }
    shown.sort_unstable();
    let mut sketch = Shape::empty(shape.shape_type());
    for row in shown {
        let altitudes = shape.row_altitudes(row);
        for (index, position) in shape.row(row).iter().enumerate() {
            sketch.push(*position, altitudes.get(index).copied());
        }
        sketch.end_ring();
        sketch.end_part();
    }
    sketch
}
