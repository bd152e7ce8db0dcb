//! Shapes that several themes use.

use serde_json::{Value, json};

use crate::harness::plain;

/// Counterclockwise and closed.
pub fn ring(west: f64, south: f64, east: f64, north: f64) -> Value {
    plain(json!([[west, south], [east, south], [east, north], [west, north], [west, south]]))
}

/// The same, the other way round.
pub fn backward(ring: &Value) -> Value {
    let mut positions = ring.as_array().unwrap().clone();
    positions.reverse();
    json!(positions)
}

pub fn polygon(rings: Value) -> Value {
    json!({ "type": "Polygon", "coordinates": rings })
}

pub fn multi(parts: Value) -> Value {
    json!({ "type": "MultiPolygon", "coordinates": parts })
}

pub fn rectangle(west: f64, south: f64, east: f64, north: f64) -> Value {
    polygon(json!([ring(west, south, east, north)]))
}

/// The canonical text of a closed ellipse of so many positions and the closing one, counterclockwise, its four
/// extremes among them.
pub fn ellipse([x, y]: [f64; 2], [width, height]: [f64; 2], positions: u32, digits: usize) -> String {
    let position = |step: u32| {
        let turn = f64::from(step % positions) / f64::from(positions) * std::f64::consts::TAU;
        let (x, y) = (x + width * turn.cos(), y + height * turn.sin());
        // As Rust's `Display` writes the number that the text stands for.
        let [x, y] = [x, y].map(|degrees| format!("{degrees:.digits$}").parse::<f64>().unwrap());
        format!("[{x},{y}]")
    };
    format!("[{}]", (0..=positions).map(position).collect::<Vec<_>>().join(","))
}

/// The same with every second position drawn in by a ten thousandth, so that no tolerance below a metre leaves one out.
pub fn serrated([x, y]: [f64; 2], [width, height]: [f64; 2], positions: u32) -> String {
    let position = |step: u32| {
        let turn = f64::from(step % positions) / f64::from(positions) * std::f64::consts::TAU;
        let drawn_in = if step.is_multiple_of(2) { 1.0 } else { 0.9999 };
        format!("[{},{}]", x + width * drawn_in * turn.cos(), y + height * drawn_in * turn.sin())
    };
    format!("[{}]", (0..=positions).map(position).collect::<Vec<_>>().join(","))
}

/// A shell with a hole, and an island beside it.
pub fn hole_and_island() -> Value {
    let hole = backward(&ring(-125.6, 49.5, -125.4, 49.7));
    multi(json!([[ring(-126.0, 49.3, -125.0, 49.9), hole], [ring(-124.9, 49.4, -124.8, 49.5)]]))
}
