//! Simplified forms: valid, within their tolerance, and deterministic.

#![allow(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "tests say what they expect by it")]

use geo::Validation;
use geometry::{Kind, Limits, Shape, ShapeType, check, zoom_tolerance};
use proptest::prelude::*;

type Position = [f64; 2];

fn checked(document: &str) -> Option<Shape> {
    let kind = if document.contains("Line") { Kind::Path } else { Kind::Boundary };
    check(document.as_bytes(), kind, &Limits::UPLOAD).ok().map(|checked| checked.shape)
}

/// The rings or lines of a shape.
fn lines(shape: &Shape) -> Vec<Vec<Position>> {
    let value: serde_json::Value = serde_json::from_str(&shape.canonical()).unwrap();
    let coordinates = value["coordinates"].clone();
    let read = |value: serde_json::Value| serde_json::from_value::<Vec<Vec<Position>>>(value).unwrap();
    match shape.shape_type() {
        ShapeType::Point => vec![vec![serde_json::from_value(coordinates).unwrap()]],
        ShapeType::LineString => vec![serde_json::from_value(coordinates).unwrap()],
        ShapeType::MultiLineString | ShapeType::Polygon => read(coordinates),
        ShapeType::MultiPolygon => coordinates.as_array().unwrap().iter().cloned().flat_map(read).collect(),
    }
}

fn is_valid(shape: &Shape) -> bool {
    let value: serde_json::Value = serde_json::from_str(&shape.canonical()).unwrap();
    let polygons: Vec<Vec<Vec<Position>>> = match shape.shape_type() {
        ShapeType::Polygon => vec![serde_json::from_value(value["coordinates"].clone()).unwrap()],
        _ => serde_json::from_value(value["coordinates"].clone()).unwrap(),
    };
    let ring = |ring: &Vec<Position>| geo::LineString::from(ring.clone());
    let polygon =
        |rings: &Vec<Vec<Position>>| geo::Polygon::new(ring(&rings[0]), rings[1..].iter().map(ring).collect());
    geo::MultiPolygon(polygons.iter().map(polygon).collect()).is_valid()
}

/// Great-circle metres on the mean sphere.
fn metres([x, y]: Position, [other_x, other_y]: Position) -> f64 {
    let half = |degrees: f64| (degrees.to_radians() / 2.0).sin().powi(2);
    let part = half(other_y - y) + y.to_radians().cos() * other_y.to_radians().cos() * half(other_x - x);
    2.0 * 6_371_008.8 * part.sqrt().asin()
}

/// Returns the distance to about the nearest point of a segment, so an upper bound of the distance to the segment.
fn metres_to_segment(point: Position, from: Position, to: Position) -> f64 {
    let scale = point[1].to_radians().cos();
    let offset = |[x, y]: Position| [(x - from[0]) * scale, y - from[1]];
    let ([run, rise], [x, y]) = (offset(to), offset(point));
    let length = run * run + rise * rise;
    let nearest = if length > 0.0 { ((x * run + y * rise) / length).clamp(0.0, 1.0) } else { 0.0 };
    metres(point, [from[0] + (to[0] - from[0]) * nearest, from[1] + (to[1] - from[1]) * nearest])
}

/// Returns the largest distance of a source position from the simplified lines.
fn farthest(source: &Shape, simpler: &Shape) -> f64 {
    let simplified_lines = lines(simpler);
    let segments: Vec<_> =
        simplified_lines.iter().flat_map(|line| line.windows(2).map(|ends| (ends[0], ends[1]))).collect();
    let nearest = |point: &Position| {
        segments.iter().map(|(from, to)| metres_to_segment(*point, *from, *to)).fold(f64::INFINITY, f64::min)
    };
    lines(source).iter().flatten().map(nearest).fold(0.0, f64::max)
}

fn ring(middle: Position, size: f64, radii: &[f64]) -> String {
    let count = radii.len();
    let points: Vec<_> = (0..=count)
        .map(|step| {
            let turn = (step % count) as f64 / count as f64 * std::f64::consts::TAU;
            let radius = size * radii[step % count];
            format!("[{:.5},{:.5}]", middle[0] + radius * turn.cos(), middle[1] + radius * turn.sin())
        })
        .collect();
    format!("[{}]", points.join(","))
}

/// Coasts with lakes and islands. Some of these touch or cross, and such shapes are rejected.
fn land() -> impl Strategy<Value = Shape> {
    let radii = |count: std::ops::Range<usize>| prop::collection::vec(0.3..1.0, count);
    let other_ring = (radii(3..12), 0.0..6.3, 0.01..0.4, 0.0..1.6);
    (-170.0..170.0, -75.0..75.0, 0.01..8.0, radii(6..120), prop::collection::vec(other_ring, 0..6)).prop_filter_map(
        "valid",
        |(x, y, size, coast, others)| {
            let shell = ring([x, y], size, &coast);
            let mut holes = Vec::new();
            let mut islands = Vec::new();
            for (radii, turn, small, off) in others {
                let turn: f64 = turn;
                let ring = ring([x + off * size * turn.cos(), y + off * size * turn.sin()], size * small, &radii);
                if off < 0.5 { holes.push(format!(",{ring}")) } else { islands.push(format!(",[{ring}]")) }
            }
            let document =
                format!(r#"{{"type":"MultiPolygon","coordinates":[[{shell}{}]{}]}}"#, holes.concat(), islands.concat());
            checked(&document)
        },
    )
}

fn path() -> impl Strategy<Value = Shape> {
    (-170.0..170.0, -80.0..80.0, 0.001..0.1, prop::collection::vec((-1.0..1.0, -1.0..1.0), 1..200)).prop_filter_map(
        "valid",
        |(x, y, step, steps)| {
            let (mut x, mut y): (f64, f64) = (x, y);
            let mut points = vec![format!("[{x},{y}]")];
            for (east, north) in steps {
                (x, y) = (x + step * east, y + step * north);
                points.push(format!("[{x:.6},{y:.6}]"));
            }
            checked(&format!(r#"{{"type":"LineString","coordinates":[{}]}}"#, points.join(",")))
        },
    )
}

fn config() -> ProptestConfig {
    let default = ProptestConfig::default();
    let cases = default.cases.max(500);
    ProptestConfig { cases, failure_persistence: None, max_local_rejects: u32::MAX, ..default }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn simplified_polygon_is_valid_and_within_its_tolerance(shape in land(), tolerance in -1.0..6.0) {
        let tolerance = 10_f64.powf(tolerance);
        let simpler = shape.simplify(tolerance);
        prop_assert_eq!(&simpler, &shape.simplify(tolerance));
        prop_assert!(simpler.shape.parts() > 0);
        prop_assert!(simpler.shape.positions() <= shape.positions());
        let again = check(simpler.shape.canonical().as_bytes(), Kind::Boundary, &Limits::UPLOAD).unwrap();
        prop_assert!(again.repairs.is_empty());
        prop_assert!(is_valid(&simpler.shape), "{}", simpler.shape.canonical());
        let farthest = farthest(&shape, &simpler.shape);
        prop_assert!(farthest <= tolerance, "{} {}", farthest, tolerance);
    }

    #[test]
    fn polygon_simplified_to_a_count_is_valid_and_has_at_most_that_many_positions(shape in land(), most in 4_usize..60) {
        let simpler = shape.simplify_to(most);
        prop_assert!(simpler.shape.positions() <= most);
        prop_assert!(check(simpler.shape.canonical().as_bytes(), Kind::Boundary, &Limits::UPLOAD).is_ok());
        prop_assert!(farthest(&shape, &simpler.shape) <= simpler.tolerance);
        let outline = shape.outline(most);
        prop_assert!(outline.positions() <= most);
        prop_assert!(check(outline.canonical().as_bytes(), Kind::Boundary, &Limits::UPLOAD).is_ok());
    }

    #[test]
    fn simplified_line_is_within_its_tolerance(shape in path(), tolerance in 0.0..5.0) {
        let tolerance = 10_f64.powf(tolerance);
        let simpler = shape.simplify(tolerance);
        prop_assert!(check(simpler.shape.canonical().as_bytes(), Kind::Path, &Limits::UPLOAD).is_ok());
        prop_assert!(farthest(&shape, &simpler.shape) <= tolerance);
        prop_assert!(shape.simplify_to(2).shape.positions() == 2);
    }
}

#[test]
fn zoom_tolerance_halves_with_each_level() {
    assert_eq!(zoom_tolerance(0, 0.0), 156_543.0);
    assert_eq!(zoom_tolerance(8, 0.0), 156_543.0 / 256.0);
    assert!((zoom_tolerance(10, 60.0) - 156_543.0 / 2048.0).abs() < 1e-9);
}

#[test]
fn simplified_form_has_only_the_decimals_that_its_tolerance_needs() {
    let radii: Vec<f64> = (0..500).map(|corner| 1.0 + 0.2 * f64::from(corner).sin()).collect();
    let text = format!(r#"{{"type":"Polygon","coordinates":[{}]}}"#, ring([10.0, 50.0], 1.0, &radii));
    let shape = checked(&text).unwrap();
    // In metres, with a tenth of which a decimal may be about: 5 m, 500 m, 50 km.
    for (tolerance, most) in [(50.0, 5), (5_000.0, 3), (100_000.0, 1)] {
        let simpler = shape.simplify(tolerance).shape;
        let text = simpler.canonical();
        let numbers = text.split(['[', ']', ',']).filter(|number| number.starts_with(|first: char| first.is_numeric()));
        let decimals = numbers.map(|number| number.split_once('.').map_or(0, |(_, decimals)| decimals.len()));
        let decimals = decimals.max().unwrap();
        assert!(decimals <= most, "{decimals} decimals at {tolerance} m: {text}");
        assert!(is_valid(&simpler) && farthest(&shape, &simpler) <= tolerance);
    }
}

#[test]
fn thin_form_keeps_the_decimals_that_it_needs() {
    let corners = "[0,0],[1,0],[1,0.0001],[0.5,0.00005],[0,0.0001],[0,0]";
    let shape = checked(&format!(r#"{{"type":"Polygon","coordinates":[[{corners}]]}}"#)).unwrap();
    assert!(is_valid(&shape.simplify(1_000.0).shape));
}

#[test]
fn triangle_is_not_simplified() {
    let shape = checked(r#"{"type":"Polygon","coordinates":[[[0,0],[1,0],[0,1],[0,0]]]}"#).unwrap();
    assert_eq!(shape.simplify(100_000.0).shape, shape);
    assert_eq!(shape.simplify(f64::NAN).shape, shape);
    assert_eq!((shape.simplify_to(64).tolerance, shape.simplify_to(0).shape), (0.0, shape.clone()));
}

#[test]
fn simplified_ring_still_encloses_the_pole() {
    let ring = "[-150,-75],[-90,-73],[-30,-78],[30,-69],[90,-66],[150,-70],[-150,-75]";
    let shape = checked(&format!(r#"{{"type":"Polygon","coordinates":[[{ring}]]}}"#)).unwrap();
    let simpler = shape.simplify(100_000.0).shape;
    assert_eq!(simpler.envelope().to_array(), [-180.0, -90.0, 180.0, -66.0]);
}

#[test]
fn small_islands_near_others_are_removed_within_the_tolerance() {
    let islands: Vec<_> = (0..400)
        .map(|island| {
            format!("[{}]", ring([f64::from(island % 20) * 0.1, f64::from(island / 20) * 0.1], 0.03, &[1.0; 12]))
        })
        .collect();
    let shape = checked(&format!(r#"{{"type":"MultiPolygon","coordinates":[{}]}}"#, islands.join(","))).unwrap();
    let simpler = shape.simplify(zoom_tolerance(3, 1.0));
    assert!(simpler.shape.parts() < 200, "{}", simpler.shape.parts());
    assert!(farthest(&shape, &simpler.shape) <= simpler.tolerance);
}

#[test]
fn ring_of_one_position_in_stored_text_is_simplified_without_a_panic() {
    let text = r#"{"type":"Polygon","coordinates":[[[0,0]]]}"#;
    let shape = Shape::parse_canonical(text).unwrap();
    assert_eq!((shape.simplify(1.0).shape, shape.search_form()), (shape.clone(), None));
}
