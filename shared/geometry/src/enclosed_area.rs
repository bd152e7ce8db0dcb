//! Repairs a boundary that breaks rules 4 and 6 to 8: its rings are replaced by the outline of the area that they enclose.
//!
//! A ring encloses the points around which it turns, in whatever direction. A part is the area of its shell without those
//! of its holes, and the shape is the union of its parts. Rings without an area go.

use std::collections::BTreeSet;
use std::panic::catch_unwind;

use i_overlay::core::fill_rule::FillRule;
use i_overlay::core::overlay::{IntOverlayOptions, Overlay, ShapeType as Role};
use i_overlay::core::overlay_rule::OverlayRule;
use i_overlay::core::solver::Solver;
use i_overlay::i_float::int::point::IntPoint;
use i_overlay::i_shape::int::shape::{IntContour, IntShapes};

use crate::antimeridian::normalize_longitude;
use crate::check::{Check, check};
use crate::fault::{Faults, MAX_FAULTS};
use crate::orientation::are_collinear;
use crate::polyline::Polylines;
use crate::read::{RawShape, read};
use crate::{Kind, Limits, Position, Shape, ShapeType};

/// The limit of positions of a shape whose rings cross at [`MAX_FAULTS`] or more places: their number of crossings can be the
/// square of that of their positions.
const MAX_TANGLED_POSITIONS: usize = 1_000;

/// The steps of the grid in one degree, on which the area is computed: about a centimetre, or ten in a shape that is wider
/// than [`MAX_FINE_EXTENT`].
const FINE: f64 = 1e7;
const COARSE: f64 = 1e6;

/// The widest extent on the fine grid, in degrees. The overlay multiplies differences of coordinates as integers.
const MAX_FINE_EXTENT: f64 = 100.0;

/// Returns the boundary in a document, repaired so that it is valid. None if the document has other faults, such as a position
/// that cannot be one, or if no area is left. The repaired shape has no altitudes.
pub fn repair(document: &[u8], kind: Kind, limits: &Limits) -> Option<Shape> {
    let (mut faults, mut repairs) = (Faults::default(), BTreeSet::new());
    let raw = read(document, Some(kind), limits, &mut faults, &mut repairs)?;
    if !faults.is_empty() || !raw.shape.shape_type().is_areal() {
        return None;
    }
    let (flat, positions) = (flat_rings(&raw), raw.shape.positions());
    let mut check_of = Check { raw, faults, repairs, polylines: Polylines::default(), parts: Vec::new() };
    check_of.check_lines();
    if check_of.faults.count() != flat {
        return None;
    }
    check_of.check_topology();
    if check_of.faults.count() - flat >= MAX_FAULTS && positions > MAX_TANGLED_POSITIONS {
        return None;
    }
    let grid = Grid::of(&check_of)?;
    // The overlay now and then puts a hole into a part that does not contain it, in one of its two ways only.
    [true, false].into_iter().find_map(|ogc| {
        let shape = grid.area(&check_of, ogc)?;
        Some(check(shape.canonical().as_bytes(), Kind::Boundary, limits).ok()?.shape)
    })
}

/// Returns the first position on the map of a geometry that may have any faults. [0, 0] is none, since it usually means missing
/// coordinates.
pub fn first_position(document: &[u8], limits: &Limits) -> Option<Position> {
    let raw = read(document, Some(Kind::Any), limits, &mut Faults::default(), &mut BTreeSet::new())?;
    let on_map = |[x, y]: &Position| x.abs() <= 360.0 && y.abs() <= 90.0 && [*x, *y] != [0.0, 0.0];
    raw.shape.all_positions().iter().find(|position| on_map(position)).map(|[x, y]| [normalize_longitude(*x), *y])
}

/// The number of closed rings without an area.
fn flat_rings(raw: &RawShape) -> usize {
    let lines = raw.shape.part_lines().flatten().map(|line| raw.shape.line(line));
    lines.filter(|ring| ring.first() == ring.last() && are_collinear(ring.iter().copied())).count()
}

/// The integers on which the area is computed.
struct Grid {
    steps: f64,
    /// The middle of the shape, in steps.
    middle: [f64; 2],
}

impl Grid {
    fn of(check: &Check) -> Option<Self> {
        let rings = check.parts.iter().flatten();
        let all = rings.flat_map(|(_, ring)| check.polylines.vertices(ring)).map(|vertex| vertex.unwrapped());
        let (low, high) = all.fold(([f64::MAX; 2], [f64::MIN; 2]), |([west, south], [east, north]), [x, y]| {
            ([west.min(x), south.min(y)], [east.max(x), north.max(y)])
        });
        let extent = [0, 1].map(|axis| high.get(axis).zip(low.get(axis)).map_or(0.0, |(high, low)| high - low));
        if !extent.iter().all(|extent| (0.0..=720.0).contains(extent)) {
            return None;
        }
        let steps = if extent.iter().all(|extent| *extent <= MAX_FINE_EXTENT) { FINE } else { COARSE };
        let ([west, south], [east, north]) = (low, high);
        Some(Self { steps, middle: [west.midpoint(east), south.midpoint(north)].map(|at| (at * steps).round()) })
    }

    fn area(&self, check: &Check, ogc: bool) -> Option<Shape> {
        let mut parts = Vec::new();
        for part in &check.parts {
            let mut rings = part.iter();
            // Without its shell, a part has no area.
            let Some((_, shell)) = rings.next().filter(|(index, _)| *index == 0) else { continue };
            let of = |ring| -> Vec<Position> { check.polylines.vertices(ring).iter().map(|v| v.unwrapped()).collect() };
            let shell = of(shell);
            let holes = rings.map(|(_, hole)| self.contour(&beside(of(hole), &shell))).collect::<Vec<_>>();
            parts.push((self.contour(&shell), holes));
        }
        // The overlay is not ours. If it panics, then it cannot repair the shape.
        let area = catch_unwind(move || union(parts, ogc)).ok()?;
        let shape_type = if area.len() > 1 { ShapeType::MultiPolygon } else { ShapeType::Polygon };
        let mut shape = Shape::empty(shape_type);
        for part in area {
            for ring in part {
                for point in ring.iter().chain(ring.first()) {
                    shape.push(self.position(*point), None);
                }
                shape.end_line();
            }
            shape.end_part();
        }
        (shape.parts() > 0).then_some(shape)
    }

    #[expect(clippy::cast_possible_truncation, reason = "the extent of the shape is limited, and casts saturate")]
    fn contour(&self, ring: &[Position]) -> IntContour {
        let [x, y] = self.middle;
        let point = |at: &Position| {
            let [east, north] = at.map(|at| (at * self.steps).round());
            IntPoint::new((east - x) as i32, (north - y) as i32)
        };
        ring.iter().map(point).collect()
    }

    /// Rounding makes it the decimal that is closest to the point.
    fn position(&self, point: IntPoint) -> Position {
        let [x, y] = self.middle;
        [(f64::from(point.x) + x) / self.steps, (f64::from(point.y) + y) / self.steps]
    }
}

/// A hole on the same side of the antimeridian as its shell: rings are unwrapped one by one.
fn beside(mut hole: Vec<Position>, shell: &[Position]) -> Vec<Position> {
    let middle = |ring: &[Position]| {
        let (west, east) = ring.iter().fold((f64::MAX, f64::MIN), |(west, east), [x, _]| (west.min(*x), east.max(*x)));
        west.midpoint(east)
    };
    let turns = ((middle(shell) - middle(&hole)) / 360.0).round();
    for [x, _] in &mut hole {
        *x += 360.0 * turns;
    }
    hole
}

/// The union of parts, each a shell with its holes. With `ogc`, no hole cuts the interior of a part in two.
fn union(parts: Vec<(IntContour, Vec<IntContour>)>, ogc: bool) -> IntShapes {
    let overlay = |subject: &IntShapes, clip: &IntShapes, rule, ogc| {
        let options = IntOverlayOptions { ogc, ..IntOverlayOptions::keep_all_points() };
        let mut overlay = Overlay::new_custom(0, options, Solver::default());
        overlay.add_shapes(subject, Role::Subject);
        overlay.add_shapes(clip, Role::Clip);
        overlay.overlay(rule, FillRule::NonZero)
    };
    // Each ring by itself first: then all shells run one way, and no two holes cancel each other.
    let enclosed = |ring: IntContour| overlay(&vec![vec![ring]], &Vec::new(), OverlayRule::Subject, false);
    let mut all = Vec::new();
    for (shell, holes) in parts {
        let (shell, holes) = (enclosed(shell), holes.into_iter().flat_map(enclosed).collect());
        all.extend(overlay(&shell, &holes, OverlayRule::Difference, false));
    }
    overlay(&all, &Vec::new(), OverlayRule::Subject, ogc)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repaired(coordinates: &str, shape_type: &str) -> Option<String> {
        let document = format!(r#"{{"type":"{shape_type}","coordinates":{coordinates}}}"#);
        assert!(check(document.as_bytes(), Kind::Any, &Limits::UPLOAD).is_err(), "it is valid: {document}");
        repair(document.as_bytes(), Kind::Any, &Limits::UPLOAD).map(|shape| shape.canonical())
    }

    #[test]
    fn a_ring_that_crosses_itself_becomes_the_areas_that_it_encloses() {
        let bow = repaired("[[[0,50],[1,51],[1,50],[0,51],[0,50]]]", "Polygon").unwrap();
        let triangles = ["[[[0,51],[0,50],[0.5,50.5],[0,51]]]", "[[[1,51],[0.5,50.5],[1,50],[1,51]]]"];
        assert_eq!(bow, format!(r#"{{"type":"MultiPolygon","coordinates":[{},{}]}}"#, triangles[0], triangles[1]));
        // A ring that turns twice around its middle encloses it.
        let twice = "[[[0,0],[9,0],[9,9],[2,9],[2,3],[6,3],[6,6],[1,6],[1,1],[7,1],[7,8],[0,8],[0,0]]]";
        assert!(repaired(twice, "Polygon").is_some());
    }

    #[test]
    fn holes_are_taken_from_their_shells_and_parts_are_joined() {
        let hole = repaired("[[[0,50],[4,50],[4,54],[0,54],[0,50]],[[3,51],[5,51],[5,52],[3,52],[3,51]]]", "Polygon");
        assert_eq!(
            hole.unwrap(),
            r#"{"type":"Polygon","coordinates":[[[0,54],[0,50],[4,50],[4,51],[3,51],[3,52],[4,52],[4,54],[0,54]]]}"#
        );
        let parts =
            repaired("[[[[0,50],[2,50],[2,52],[0,52],[0,50]]],[[[1,50],[3,50],[3,52],[1,52],[1,50]]]]", "MultiPolygon");
        assert!(parts.unwrap().starts_with(r#"{"type":"Polygon","coordinates":[[[0,52],"#));
    }

    proptest::proptest! {
        #[test]
        fn random_rings_are_repaired_or_refused(
            rings in proptest::collection::vec(
                proptest::collection::vec((-800_i32..800, -800_i32..800), 3..25), 1..4,
            ),
        ) {
            let position = |&(x, y): &(i32, i32)| format!("[{},{}]", f64::from(x) / 10.0, f64::from(y) / 10.0);
            let ring = |ring: &Vec<(i32, i32)>| {
                let positions: Vec<String> = ring.iter().chain(ring.first()).map(position).collect();
                format!("[{}]", positions.join(","))
            };
            let part = |part: &Vec<(i32, i32)>| format!("[{}]", ring(part));
            let parts: Vec<String> = rings.iter().map(part).collect();
            let document = format!(r#"{{"type":"MultiPolygon","coordinates":[{}]}}"#, parts.join(","));
            // No step is wider than 180 degrees, so each ring is read as it is drawn.
            let has_area = rings.iter().any(|ring| !are_collinear(ring.iter().map(|(x, y)| [f64::from(*x), f64::from(*y)])));
            let repaired = repair(document.as_bytes(), Kind::Any, &Limits::UPLOAD);
            proptest::prop_assert!(has_area || repaired.is_none(), "{}", document);
        }
    }

    #[test]
    fn what_has_no_area_or_cannot_be_read_is_not_repaired() {
        for (shape_type, coordinates) in [
            ("Polygon", "[[[0,50],[1,51],[2,52],[0,50]]]"),
            ("Polygon", "[[[0,50],[1,51],[1,50],[0,51]]]"),
            ("Polygon", "[[[0,50],[1,91],[1,50],[0,50]]]"),
            ("Polygon", "[]"),
            ("LineString", "[[1,1],[1,1]]"),
        ] {
            assert_eq!(repaired(coordinates, shape_type), None, "{coordinates}");
        }
    }

    #[test]
    fn the_first_position_on_the_map_is_found_in_any_shape() {
        let first = |document: &str| first_position(document.as_bytes(), &Limits::UPLOAD);
        assert_eq!(first(r#"{"type":"LineString","coordinates":[[0,0],[500,91],[190,7],[1,1]]}"#), Some([-170.0, 7.0]));
        assert_eq!(first(r#"{"type":"Polygon","coordinates":[]}"#), None);
        assert_eq!(first("7"), None);
    }
}
