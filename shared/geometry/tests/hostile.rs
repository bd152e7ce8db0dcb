//! Adversarial shapes of the largest size. A check that compared each position with each other would take hours.

#![allow(clippy::unwrap_used, reason = "tests say what they expect by it")]

use std::f64::consts::TAU;

use geometry::{Kind, Limits, MAX_FAULTS, check};

/// The largest limits of a request.
const LIMITS: Limits = Limits::UPLOAD;

fn ring(positions: impl Iterator<Item = [f64; 2]>) -> String {
    let mut positions: Vec<String> = positions.map(|[x, y]| format!("[{x:.6},{y:.6}]")).collect();
    positions.push(positions.first().unwrap().clone());
    format!("[{}]", positions.join(","))
}

fn bounding_circle(positions: u32) -> impl Iterator<Item = [f64; 2]> {
    (0..positions).map(move |point| {
        let (sin, cos) = (TAU * f64::from(point) / f64::from(positions)).sin_cos();
        [5.0 * cos, 5.0 * sin]
    })
}

/// Small triangles in rows, to the east of this longitude.
fn triangles(count: u32, east_of: f64) -> impl Iterator<Item = String> {
    (0..count).map(move |point| {
        let (x, y) = (east_of + 0.01 * f64::from(point % 400), 0.01 * f64::from(point / 400) - 2.0);
        ring([[x, y], [x + 0.004, y], [x, y + 0.004]].into_iter())
    })
}

#[test]
fn ring_that_overlaps_itself_many_times_is_refused() {
    let round = [[0.0, 0.0], [9.0, 9.0], [0.0, 9.0], [9.0, 0.0]];
    let document = format!(r#"{{"type":"Polygon","coordinates":[{}]}}"#, ring(round.into_iter().cycle().take(200_000)));
    let refused = check(document.as_bytes(), Kind::Boundary, &LIMITS).unwrap_err();
    assert_eq!(refused.faults.len(), MAX_FAULTS);
    assert!(refused.count > 190_000, "{}", refused.count);
}

#[test]
fn mainland_with_many_islands_has_its_representative_point_in_the_mainland() {
    let parts: Vec<String> = [ring(bounding_circle(60_000))].into_iter().chain(triangles(49_000, 20.0)).collect();
    let document = format!(r#"{{"type":"MultiPolygon","coordinates":[[{}]]}}"#, parts.join("],["));
    let checked = check(document.as_bytes(), Kind::Boundary, &LIMITS).unwrap();
    assert_eq!(checked.shape.parts(), 49_001);
    let [x, y] = checked.shape.representative_point();
    assert!(x.hypot(y) < 5.0, "{x} {y}");
}

#[test]
fn self_crossing_shell_with_many_holes_is_refused() {
    // The tail crosses the end of the circle.
    let tail = [[5.0, 0.1], [6.0, -0.1], [6.0, 0.1]];
    let shell = ring(bounding_circle(150_000).chain(tail));
    let holes: Vec<String> = triangles(50_000, -2.0).collect();
    let document = format!(r#"{{"type":"Polygon","coordinates":[{shell},{}]}}"#, holes.join(","));
    let refused = check(document.as_bytes(), Kind::Boundary, &LIMITS).unwrap_err();
    assert!(refused.faults.iter().any(|fault| fault.pointer.starts_with("/coordinates/0/")), "{:?}", refused.faults);
}
