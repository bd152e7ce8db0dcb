//! Point-in-polygon tests, and a representative point of a shape.

use never::never;

use crate::envelope::bounds;
use crate::metric::{bounding_circle, longitude_scale};
use crate::orientation::{Side, doubled_signed_area, side, sweep_order};
use crate::shape::{Position, Shape, ShapeType};

impl Shape {
    /// Returns a position in the interior of a polygon, or on a line: in the largest part, in the middle of the widest
    /// section at half the part's height.
    pub fn representative_point(&self) -> Position {
        let sizes = self.part_lines().map(|lines| (self.part_size(lines.start), lines));
        let largest = sizes
            .max_by(|(size, one), (other_size, other)| size.total_cmp(other_size).then(other.start.cmp(&one.start)));
        let Some((_, lines)) = largest else {
            never!("a shape without a part");
            return [0.0, 0.0];
        };
        let first = self.line(lines.start);
        if self.shape_type().is_areal() {
            let rings: Vec<&[Position]> = lines.map(|line| self.line(line)).collect();
            let heights = [0.5, 0.25, 0.75, 0.125, 0.875];
            if let Some(inside) = heights.into_iter().find_map(|height| middle_of_widest_section(&rings, height)) {
                return inside;
            }
        }
        first.get(first.len() / 2).copied().unwrap_or_else(|| {
            never!("a part without a position");
            [0.0, 0.0]
        })
    }

    /// Returns positions in or on the shape: [`Self::representative_point`], then its own positions.
    pub fn points(&self) -> impl Iterator<Item = Position> {
        std::iter::once(self.representative_point()).chain(self.all_positions().iter().copied())
    }

    /// Returns the size of the part with this shell or line, for comparison with other parts of the same shape.
    pub(crate) fn part_size(&self, line: usize) -> f64 {
        let positions = self.line(line);
        let Some(bounds @ [_, south, _, north]) = bounds(positions) else {
            never!("line {line} has no position");
            return 0.0;
        };
        match self.shape_type() {
            ShapeType::Polygon | ShapeType::MultiPolygon => {
                doubled_signed_area(positions).abs() * longitude_scale(f64::midpoint(south, north).abs())
            }
            _ => bounding_circle(bounds, 0.0).1,
        }
    }
}

/// Returns whether a point is inside the rings that the segments form, by the even-odd rule. Returns nothing for a
/// point on a segment.
pub(crate) fn point_in_polygon(segments: impl IntoIterator<Item = [Position; 2]>, point: Position) -> Option<bool> {
    let mut inside = false;
    for [one, other] in segments {
        let (from, to) = if sweep_order(&one, &other).is_lt() { (one, other) } else { (other, one) };
        if from[0] <= point[0] && point[0] <= to[0] {
            match side(from, to, point) {
                Side::On if from[1].min(to[1]) <= point[1] && point[1] <= from[1].max(to[1]) => {
                    return None;
                }
                Side::Left if point[0] < to[0] => inside = !inside,
                _ => {}
            }
        }
    }
    Some(inside)
}

/// Returns the segments of a closed ring.
pub(crate) fn segments(ring: &[Position]) -> impl Iterator<Item = [Position; 2]> + '_ {
    ring.iter().zip(ring.iter().skip(1)).map(|(from, to)| [*from, *to])
}

/// Returns the middle of the widest section of a polygon at a height between its south (0) and north (1).
fn middle_of_widest_section(rings: &[&[Position]], height: f64) -> Option<Position> {
    let [_, south, _, north] = bounds(rings.first()?)?;
    let level = south + (north - south) * height;
    let mut crossings: Vec<f64> = rings
        .iter()
        .flat_map(|ring| segments(ring))
        .filter(|[from, to]| (from[1] <= level) != (to[1] <= level))
        .map(|[from, to]| from[0] + (to[0] - from[0]) * ((level - from[1]) / (to[1] - from[1])))
        .collect();
    crossings.sort_by(f64::total_cmp);
    let widest = crossings
        .chunks_exact(2)
        .filter_map(|section| section.first_chunk::<2>())
        .max_by(|[west, east], [other_west, other_east]| (east - west).total_cmp(&(other_east - other_west)))?;
    let middle = [f64::midpoint(widest[0], widest[1]), level];
    let rounded = middle.map(|degrees| (degrees * 1e7).round() / 1e7 + 0.0);
    [rounded, middle]
        .into_iter()
        .find(|point| point_in_polygon(rings.iter().flat_map(|ring| segments(ring)), *point) != Some(false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn representative_point_is_in_the_largest_part_and_in_no_hole() {
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
