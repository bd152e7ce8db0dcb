//! What search gets of a shape: the mirror's ladder.

use crate::orient::{is_counterclockwise, on_one_line};
use crate::plane::{Plane, Ring};
use crate::rules::violations;
use crate::shape::{Position, Shape, ShapeType};

/// The most positions and bytes of a shape that search gets whole; beyond, tessellation takes too long.
pub const FULL_POSITIONS: usize = 50_000;
pub const FULL_BYTES: usize = 2 * 1024 * 1024;
/// The most positions of the form after the next one, `coarse`. The next one, `fine`, has as many as a whole one may have.
pub const COARSE_POSITIONS: usize = 10_000;

/// How much of a shape search holds, as `boundaryStatus` and `pathStatus` say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rung {
    Full,
    Fine,
    Coarse,
    Envelope,
    None,
}

impl Rung {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Fine => "fine",
            Self::Coarse => "coarse",
            Self::Envelope => "envelope",
            Self::None => "none",
        }
    }

    /// The next one down, after search refused this one.
    pub const fn lower(self) -> Self {
        match self {
            Self::Full => Self::Fine,
            Self::Fine => Self::Coarse,
            Self::Coarse => Self::Envelope,
            Self::Envelope | Self::None => Self::None,
        }
    }

    /// The highest for a shape of so many positions and bytes.
    pub const fn first(positions: usize, bytes: usize) -> Self {
        if positions <= FULL_POSITIONS && bytes <= FULL_BYTES { Self::Full } else { Self::Fine }
    }
}

/// Metres by which a shape is simplified first if rounding makes its rings meet: about one and ten steps of rounding.
const LOOSER: [f64; 2] = [0.02, 0.2];

impl Shape {
    /// JSON with positions rounded to 7 decimals, without altitude and without what rounding makes degenerate; shells
    /// counterclockwise. Nothing if all of it is degenerate.
    pub fn search_form(&self) -> Option<String> {
        let form = self.rounded()?;
        let form = if form.keeps_the_rules() {
            form
        } else {
            let mut looser = LOOSER.iter().filter_map(|tolerance| self.simplify(*tolerance).shape.rounded());
            looser.find(Self::keeps_the_rules).unwrap_or(form)
        };
        Some(form.canonical())
    }

    fn rounded(&self) -> Option<Self> {
        let mut form = Self::empty(self.shape_type());
        for rows in self.part_rows() {
            let rounded = rows.map(|row| rounded(self.row(row), self.shape_type()));
            // Without its shell a hole is nothing.
            let rings = rounded.enumerate().take_while(|(place, ring)| *place > 0 || ring.is_some());
            let rings: Vec<_> = rings.filter_map(|(_, ring)| ring).collect();
            for ring in &rings {
                ring.iter().for_each(|position| form.push(*position, None));
                form.end_ring();
            }
            if !rings.is_empty() {
                form.end_part();
            }
        }
        (form.parts() > 0).then_some(form)
    }

    /// Whether its rings meet and lie as rules 6 to 8 say.
    fn keeps_the_rules(&self) -> bool {
        if !self.shape_type().is_areal() {
            return true;
        }
        let mut plane = Plane::with_capacity(self.positions());
        for (part, rows) in (0_u32..).zip(self.part_rows()) {
            for (place, row) in (0_u32..).zip(rows) {
                let open = self.row(row).split_last().map(|(_, open)| open).unwrap_or_default();
                let ring = Ring { part, place, counterclockwise: is_counterclockwise(open), edges: 0 };
                plane.add(ring, open.iter().copied());
            }
        }
        violations(&plane).is_empty()
    }
}

/// A ring, line or point in 7 decimals, if it still is one.
fn rounded(positions: &[Position], of: ShapeType) -> Option<Vec<Position>> {
    let mut row: Vec<Position> = Vec::with_capacity(positions.len());
    for position in positions {
        let position = position.map(|degrees| (degrees * 1e7).round() / 1e7 + 0.0);
        match row.as_slice() {
            [.., last] if *last == position => {}
            // It went there and back.
            [.., before, _] if *before == position && of.is_areal() => {
                row.pop();
            }
            _ => row.push(position),
        }
    }
    if of.is_areal() {
        // The same where the ring begins.
        let back = row.iter().skip(1).zip(row.iter().rev().skip(1)).take(row.len() / 2);
        let spike = back.take_while(|(next, before)| next == before).count();
        row = row.get(spike..row.len() - spike).unwrap_or_default().to_vec();
    }
    let enough = match of {
        ShapeType::Point => true,
        ShapeType::LineString | ShapeType::MultiLineString => row.len() > 1,
        ShapeType::Polygon | ShapeType::MultiPolygon => row.len() > 3 && !on_one_line(row.iter().copied()),
    };
    enough.then_some(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search_form(text: &str) -> Option<String> {
        Shape::parse_canonical(text).unwrap().search_form()
    }

    #[test]
    fn rounds_to_seven_decimals_without_altitude() {
        assert_eq!(
            search_form(r#"{"type":"LineString","coordinates":[[0.123456789,1,5],[-0.00000001,2,6]]}"#).unwrap(),
            r#"{"type":"LineString","coordinates":[[0.1234568,1],[0,2]]}"#
        );
    }

    #[test]
    fn what_rounding_makes_degenerate_is_left_out() {
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
    fn the_ladder_goes_down_by_one_rung() {
        let rungs: Vec<_> = std::iter::successors(Some(Rung::first(50_000, FULL_BYTES)), |rung| {
            (*rung != Rung::None).then(|| rung.lower())
        })
        .map(Rung::as_str)
        .collect();
        assert_eq!(rungs, ["full", "fine", "coarse", "envelope", "none"]);
        assert_eq!((Rung::first(50_001, 0), Rung::first(0, FULL_BYTES + 1)), (Rung::Fine, Rung::Fine));
    }

    #[test]
    fn an_envelope_is_one_box_or_two_or_a_line_or_a_point() {
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
