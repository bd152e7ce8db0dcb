//! Complete shapes: the result of the check, the envelope and the simplified forms.

#![allow(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "tests say what they expect by it")]

use geometry::{Checked, InvalidShape, Kind, Limits, Repair, ShapeType, check, zoom_tolerance};

fn boundary(document: &str) -> Result<Checked, InvalidShape> {
    check(document.as_bytes(), Kind::Boundary, &Limits::UPLOAD)
}

fn accepted(document: &str) -> Checked {
    let checked = boundary(document).unwrap_or_else(|refused| panic!("{refused:?}"));
    let again = boundary(&checked.shape.canonical()).unwrap_or_else(|refused| panic!("{refused:?}"));
    assert_eq!(again.shape, checked.shape, "the check keeps the canonical form");
    assert!(again.repairs.is_empty(), "{:?}", again.repairs);
    checked
}

fn repairs(checked: &Checked) -> Vec<&str> {
    checked.repairs.iter().map(|repair| repair.as_str()).collect()
}

#[test]
fn polygon_with_hole_and_island_is_kept_and_a_clockwise_shell_reversed() {
    let shell = "[[-126,49.3],[-125,49.3],[-125,49.9],[-126,49.9],[-126,49.3]]";
    let clockwise = "[[-126,49.3],[-126,49.9],[-125,49.9],[-125,49.3],[-126,49.3]]";
    let hole = "[[-125.6,49.5],[-125.6,49.7],[-125.4,49.7],[-125.4,49.5],[-125.6,49.5]]";
    let island = "[[-124.9,49.4],[-124.8,49.4],[-124.8,49.5],[-124.9,49.5],[-124.9,49.4]]";
    let shape = |shell: &str| format!(r#"{{"type":"MultiPolygon","coordinates":[[{shell},{hole}],[{island}]]}}"#);
    let checked = accepted(&shape(shell));
    assert_eq!(checked.shape.canonical(), shape(shell));
    assert_eq!(checked.shape.envelope().to_array(), [-126.0, 49.3, -124.8, 49.9]);
    assert_eq!((checked.shape.positions(), checked.shape.parts(), checked.shape.rings()), (15, 2, 3));
    let turned = accepted(&shape(clockwise));
    assert_eq!(repairs(&turned), ["winding"]);
    assert_eq!(turned.shape, checked.shape);
}

#[test]
fn polygon_across_the_antimeridian_is_split_with_a_narrow_envelope() {
    let fiji = |east: &str| {
        format!(
            r#"{{"type":"Polygon","coordinates":[[[179.5,-16.5],[{east},-16.5],[{east},-17],[179.5,-17],[179.5,-16.5]]]}}"#
        )
    };
    let checked = accepted(&fiji("-179.8"));
    assert_eq!(repairs(&checked), ["cut", "winding"]);
    assert_eq!(
        checked.shape.canonical(),
        concat!(
            r#"{"type":"MultiPolygon","coordinates":[[[[180,-16.5],[179.5,-16.5],[179.5,-17],[180,-17],[180,-16.5]]],"#,
            r#"[[[-180,-17],[-179.8,-17],[-179.8,-16.5],[-180,-16.5],[-180,-17]]]]}"#
        )
    );
    assert_eq!(checked.shape.envelope().to_array(), [179.5, -17.0, -179.8, -16.5]);
    assert_eq!(accepted(&fiji("180.2")), checked);
}

#[test]
fn ring_around_the_south_pole_is_closed_along_the_map_edge() {
    let ring = "[-150,-75],[-90,-73],[-30,-78],[30,-69],[90,-66],[150,-70],[-150,-75]";
    let checked = accepted(&format!(r#"{{"type":"Polygon","coordinates":[[{ring}]]}}"#));
    assert!(checked.repairs.contains(&Repair::Pole) && !checked.repairs.contains(&Repair::Cut));
    assert_eq!((checked.shape.shape_type(), checked.shape.positions()), (ShapeType::Polygon, 11));
    let text = checked.shape.canonical();
    for corner in ["[-180,-72.5]", "[180,-72.5]", "[-180,-90]", "[180,-90]"] {
        assert!(text.contains(corner), "{text}");
    }
    assert_eq!(checked.shape.envelope().to_array(), [-180.0, -90.0, 180.0, -66.0]);

    let closed = "[-180,-90],[180,-90],[180,-72.5],[150,-70],[90,-66],[30,-69],[-30,-78],[-90,-73],[-150,-75],\
                  [-180,-72.5],[-180,-90]";
    let document = format!(r#"{{"type":"Polygon","coordinates":[[{closed}]]}}"#);
    let checked = accepted(&document);
    assert!(checked.repairs.is_empty());
    assert_eq!(checked.shape.canonical(), document);
}

/// An ellipse of 100 000 positions and the closing one, its extremes among them.
fn ellipse() -> String {
    let positions = (0..=100_000).map(|step| {
        let turn = f64::from(step % 100_000) / 100_000.0 * std::f64::consts::TAU;
        format!("[{:.7},{:.7}]", -125.5 + 0.4 * turn.cos(), 49.6 + 0.25 * turn.sin())
    });
    format!(r#"{{"type":"Polygon","coordinates":[[{}]]}}"#, positions.collect::<Vec<_>>().join(","))
}

#[test]
fn ring_of_100_000_positions_is_simplified_within_its_tolerance() {
    let shape = accepted(&ellipse()).shape;
    assert_eq!(shape.positions(), 100_001);
    assert_eq!(shape.envelope().to_array(), [-125.9, 49.35, -125.1, 49.85]);
    let coarse = shape.simplify_to(10_000);
    assert!(coarse.shape.positions() <= 10_000 && coarse.tolerance < 1.0, "{}", coarse.tolerance);
    let zoomed = shape.simplify(zoom_tolerance(8, shape.envelope().middle_latitude())).shape;
    assert!(zoomed.positions() < 200 && zoomed.rings() == 1);
    assert_eq!(accepted(&zoomed.canonical()).shape, zoomed);
}

#[test]
fn self_intersection_and_hole_outside_its_shell_are_both_reported() {
    let refused = boundary(
        r#"{"type":"Polygon","coordinates":[[[0,50],[1,51],[1,50],[0,51],[0,50]],
            [[5,50],[5,51],[6,51],[6,50],[5,50]]]}"#,
    )
    .unwrap_err();
    let faults: Vec<_> = refused.faults.iter().map(|fault| fault.pointer.as_str()).collect();
    assert_eq!(faults, ["/coordinates/0/3", "/coordinates/1"]);
    assert!(refused.faults[0].detail.contains("(0.5, 50.5)"), "{:?}", refused.faults);
    assert_eq!((refused.count, refused.too_large), (2, false));
}
