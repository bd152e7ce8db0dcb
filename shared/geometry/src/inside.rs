//! Positions in and on shapes.

use crate::envelope::extent;
use crate::metric::{circle, scale_beyond};
use crate::orient::{Side, doubled_area, side, sweep_order};
use crate::shape::{Position, Shape, ShapeType};

impl Shape {
    /// A position in the shape, or on it if it has no area: in its largest part, between the sides that are farthest
    /// apart half way up.
    pub fn representative_point(&self) -> Position {
        let sizes = self.part_rows().map(|rows| (self.part_size(rows.start), rows));
        let largest = sizes
            .max_by(|(size, one), (other_size, other)| size.total_cmp(other_size).then(other.start.cmp(&one.start)));
        let Some((_, rows)) = largest else { return [0.0, 0.0] };
        let first = self.row(rows.start);
        if self.shape_type().is_areal() {
            let rings: Vec<&[Position]> = rows.map(|row| self.row(row)).collect();
            if let Some(inside) = [0.5, 0.25, 0.75, 0.125, 0.875].into_iter().find_map(|height| across(&rings, height))
            {
                return inside;
            }
        }
        first.get(first.len() / 2).copied().unwrap_or_default()
    }

    /// How large the part looks whose shell or line this row is, to compare it with others of the same shape.
    pub(crate) fn part_size(&self, row: usize) -> f64 {
        let positions = self.row(row);
        let Some(extent @ [_, south, _, north]) = extent(positions) else { return 0.0 };
        match self.shape_type() {
            ShapeType::Polygon | ShapeType::MultiPolygon => {
                doubled_area(positions).abs() * scale_beyond(f64::midpoint(south, north).abs())
            }
            _ => circle(extent, 0.0).1,
        }
    }
}

/// Whether a place lies in the rings that the segments make up: above an odd number of them. Nothing is said of a place
/// on one of them.
pub(crate) fn lies_in(segments: impl IntoIterator<Item = [Position; 2]>, place: Position) -> Option<bool> {
    let mut inside = false;
    for [one, other] in segments {
        let (from, to) = if sweep_order(&one, &other).is_lt() { (one, other) } else { (other, one) };
        if from[0] <= place[0] && place[0] <= to[0] {
            match side(from, to, place) {
                Side::On if from[1].min(to[1]) <= place[1] && place[1] <= from[1].max(to[1]) => {
                    return None;
                }
                Side::Left if place[0] < to[0] => inside = !inside,
                _ => {}
            }
        }
    }
    Some(inside)
}

/// The segments of a closed ring.
pub(crate) fn segments(ring: &[Position]) -> impl Iterator<Item = [Position; 2]> + '_ {
    ring.iter().zip(ring.iter().skip(1)).map(|(from, to)| [*from, *to])
}

/// The middle of the widest way across a polygon at a height between its south (0) and north (1).
fn across(rings: &[&[Position]], height: f64) -> Option<Position> {
    let [_, south, _, north] = extent(rings.first()?)?;
    let level = south + (north - south) * height;
    let mut sides: Vec<f64> = rings
        .iter()
        .flat_map(|ring| segments(ring))
        .filter(|[from, to]| (from[1] <= level) != (to[1] <= level))
        .map(|[from, to]| from[0] + (to[0] - from[0]) * ((level - from[1]) / (to[1] - from[1])))
        .collect();
    sides.sort_by(f64::total_cmp);
    let widest = sides
        .chunks_exact(2)
        .filter_map(|ways| ways.first_chunk::<2>())
        .max_by(|[west, east], [other_west, other_east]| (east - west).total_cmp(&(other_east - other_west)))?;
    let middle = [f64::midpoint(widest[0], widest[1]), level];
    let short = middle.map(|degrees| (degrees * 1e7).round() / 1e7 + 0.0);
    [short, middle]
        .into_iter()
        .find(|place| lies_in(rings.iter().flat_map(|ring| segments(ring)), *place) != Some(false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_representative_point_lies_in_the_largest_part_and_in_no_hole() {
        let shape = |text: &str| Shape::parse_canonical(text).unwrap().representative_point();
        let ring = r#"{"type":"MultiPolygon","coordinates":[[[[0,0],[1,0],[1,1],[0,0]]],[[[10,0],[20,0],[20,10],[10,10],[10,0]],[[12,2],[12,8],[19,8],[19,2],[12,2]]]]}"#;
        assert_eq!(shape(ring), [11.0, 5.0]);
        assert_eq!(shape(r#"{"type":"LineString","coordinates":[[0,0],[5,5],[6,6]]}"#), [5.0, 5.0]);
        assert_eq!(shape(r#"{"type":"Point","coordinates":[7,8]}"#), [7.0, 8.0]);
        let sliver =
            r#"{"type":"Polygon","coordinates":[[[0,0],[1,0.00000000000001],[2,0],[1,0.00000000000002],[0,0]]]}"#;
        assert!(shape(sliver)[0] >= 0.0);
    }
}
