//! The form in which search indexes a shape.

use crate::orientation::{are_collinear, is_counterclockwise};
use crate::segment_graph::{Ring, SegmentGraph};
use crate::shape::{Position, Shape, ShapeType};
use crate::topology::violations;

/// The most positions and bytes of a shape that search indexes in full. The tessellation of a larger one takes too
/// long.
pub const MAX_FULL_POSITIONS: usize = 50_000;
pub const MAX_FULL_BYTES: usize = 2 * 1024 * 1024;
/// The most positions of the `coarse` form. The `fine` form has as many as a shape that is indexed in full may have.
pub const MAX_COARSE_POSITIONS: usize = 10_000;

/// Returns whether search indexes a shape with so many positions and bytes in full.
pub const fn is_indexed_in_full(positions: usize, bytes: usize) -> bool {
    positions <= MAX_FULL_POSITIONS && bytes <= MAX_FULL_BYTES
}

/// The tolerances, in metres, with which a shape is simplified first if rounding makes its rings intersect: about one
/// and ten steps of rounding.
const ROUNDING_TOLERANCES: [f64; 2] = [0.02, 0.2];

impl Shape {
    /// Returns GeoJSON with positions rounded to 7 decimals, shells counterclockwise, without altitude and without the
    /// rings and lines that rounding makes degenerate. Returns nothing if all of them are.
    pub fn search_form(&self) -> Option<String> {
        let form = self.rounded()?;
        let form = if form.is_valid() {
            form
        } else {
            let mut simplified =
                ROUNDING_TOLERANCES.iter().filter_map(|tolerance| self.simplify_unrounded(*tolerance).shape.rounded());
            simplified.find(Self::is_valid).unwrap_or(form)
        };
        Some(form.canonical())
    }

    fn rounded(&self) -> Option<Self> {
        let mut form = Self::empty(self.shape_type());
        for lines in self.part_lines() {
            let rounded = lines.map(|line| rounded(self.line(line), self.shape_type()));
            // The holes of a degenerate shell are left out, too.
            let rings = rounded.enumerate().take_while(|(index, ring)| *index > 0 || ring.is_some());
            let rings: Vec<_> = rings.filter_map(|(_, ring)| ring).collect();
            for ring in &rings {
                ring.iter().for_each(|position| form.push(*position, None));
                form.end_line();
            }
            if !rings.is_empty() {
                form.end_part();
            }
        }
        (form.parts() > 0).then_some(form)
    }

    /// Returns whether its rings keep rules 6 to 8.
    pub(crate) fn is_valid(&self) -> bool {
        if !self.shape_type().is_areal() {
            return true;
        }
        let mut graph = SegmentGraph::with_capacity(self.positions());
        for (part, lines) in (0_u32..).zip(self.part_lines()) {
            for (index, line) in (0_u32..).zip(lines) {
                let open = self.line(line).split_last().map(|(_, open)| open).unwrap_or_default();
                graph.add(Ring::new(part, index, is_counterclockwise(open)), open.iter().copied());
            }
        }
        violations(&graph).is_empty()
    }
}

/// Rounds a ring, line or point to 7 decimals. Returns nothing if it is degenerate then.
fn rounded(positions: &[Position], of: ShapeType) -> Option<Vec<Position>> {
    let mut line: Vec<Position> = Vec::with_capacity(positions.len());
    for position in positions {
        let position = position.map(|degrees| (degrees * 1e7).round() / 1e7 + 0.0);
        match line.as_slice() {
            [.., last] if *last == position => {}
            // The ring runs back on itself.
            [.., before, _] if *before == position && of.is_areal() => {
                line.pop();
            }
            _ => line.push(position),
        }
    }
    if of.is_areal() {
        // A spike may also lie over the start of the ring.
        let back = line.iter().skip(1).zip(line.iter().rev().skip(1)).take(line.len() / 2);
        let spike = back.take_while(|(next, before)| next == before).count();
        line = line.get(spike..line.len() - spike).unwrap_or_default().to_vec();
    }
    let enough = match of {
        ShapeType::Point => true,
        ShapeType::LineString | ShapeType::MultiLineString => line.len() > 1,
        ShapeType::Polygon | ShapeType::MultiPolygon => line.len() > 3 && !are_collinear(line.iter().copied()),
    };
    enough.then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search_form(text: &str) -> Option<String> {
        Shape::parse_canonical(text).unwrap().search_form()
    }

    #[test]
    fn search_form_has_seven_decimals_and_no_altitude() {
        assert_eq!(
            search_form(r#"{"type":"LineString","coordinates":[[0.123456789,1,5],[-0.00000001,2,6]]}"#).unwrap(),
            r#"{"type":"LineString","coordinates":[[0.1234568,1],[0,2]]}"#
        );
    }

    #[test]
    fn search_form_omits_degenerate_rings_and_spikes() {
        let speck = "[[5,5],[5.00000001,5],[5,5.00000001],[5,5]]";
        let square = "[[0,0],[9,0],[9,9],[0,9],[0,0]]";
        let shape = format!(r#"{{"type":"MultiPolygon","coordinates":[[{square},{speck}],[{speck}]]}}"#);
        assert_eq!(search_form(&shape).unwrap(), format!(r#"{{"type":"MultiPolygon","coordinates":[[{square}]]}}"#));
        assert_eq!(search_form(&format!(r#"{{"type":"Polygon","coordinates":[{speck}]}}"#)), None);
        let spike = "[[0,0],[9,0],[9,9],[9.00000001,12],[9.00000002,9],[0,9],[0,0]]";
        let without = "[[0,0],[9,0],[9,9],[0,9],[0,0]]";
        assert_eq!(
            search_form(&format!(r#"{{"type":"Polygon","coordinates":[{spike}]}}"#)).unwrap(),
            format!(r#"{{"type":"Polygon","coordinates":[{without}]}}"#)
        );
    }

    #[test]
    fn shape_beyond_either_limit_is_not_indexed_in_full() {
        assert!(is_indexed_in_full(50_000, MAX_FULL_BYTES));
        assert!(!is_indexed_in_full(50_001, 0) && !is_indexed_in_full(0, MAX_FULL_BYTES + 1));
    }

    #[test]
    fn envelope_shape_is_one_box_or_two_or_a_line_or_a_point() {
        let of = |text: &str| Shape::parse_canonical(text).unwrap().envelope().to_shape().canonical();
        assert_eq!(
            of(r#"{"type":"LineString","coordinates":[[0,0],[1,2]]}"#),
            r#"{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,2],[0,2],[0,0]]]}"#
        );
        assert_eq!(
            of(r#"{"type":"MultiLineString","coordinates":[[[179,0],[180,1]],[[-180,1],[-179,2]]]}"#),
            concat!(
                r#"{"type":"MultiPolygon","coordinates":[[[[179,0],[180,0],[180,2],[179,2],[179,0]]],"#,
                r#"[[[-180,0],[-179,0],[-179,2],[-180,2],[-180,0]]]]}"#
            )
        );
        let level = r#"{"type":"LineString","coordinates":[[0,1],[5,1]]}"#;
        assert_eq!(of(level), level);
        let point = r#"{"type":"Point","coordinates":[3,4]}"#;
        assert_eq!(of(point), point);
    }
}
