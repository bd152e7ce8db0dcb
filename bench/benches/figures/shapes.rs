//! Shapes to measure with, as GeoJSON, each of about as many positions as asked for.

use std::f64::consts::TAU;

type MultiPolygon = Vec<Vec<Vec<[f64; 2]>>>;

/// Makes a document of about so many positions.
pub type Make = fn(usize) -> String;

/// What is measured, by name: round and ragged ones, one across ±180, many small parts, and one that is hostile to
/// sweeps: long edges side by side.
pub const SHAPES: [(&str, Make); 5] = [
    ("ellipse", ellipse),
    ("coast", coast),
    ("coast across 180", coast_across_180),
    ("islands", islands),
    ("comb", comb),
];

pub fn ellipse(count: usize) -> String {
    document(&round(count, |_| 0.25, -125.5))
}

fn coast(count: usize) -> String {
    document(&round(count, bays, -125.5))
}

fn coast_across_180(count: usize) -> String {
    document(&round(count, bays, 180.0))
}

/// Bays within bays: the radius in degrees at a turn.
fn bays(turn: f64) -> f64 {
    let ragged: f64 =
        (1..14).map(|bay| (turn * f64::from(1_u32 << bay) + f64::from(bay)).sin() / f64::from(1_u32 << bay)).sum();
    4.0 * (1.0 + 0.4 * ragged)
}

fn islands(count: usize) -> String {
    let across = ((count / 20) as f64).sqrt() as usize;
    let island = |index: usize| {
        let (x, y) = ((index % across) as f64 * 0.02, (index / across) as f64 * 0.02);
        let ring = (0..=19).map(|step| {
            let turn = f64::from(step % 19) / 19.0 * TAU;
            [short(x + 0.008 * turn.cos()), short(y + 0.008 * turn.sin())]
        });
        vec![ring.collect()]
    };
    document(&(0..across * across).map(island).collect())
}

fn comb(count: usize) -> String {
    let teeth = count / 2;
    let mut ring: Vec<_> = (0..teeth)
        .flat_map(|tooth| {
            let x = tooth as f64 * 100.0 / teeth as f64;
            [[short(x), 1.0], [short(x + 40.0 / teeth as f64), 50.0]]
        })
        .collect();
    ring.extend([[100.0, 0.0], [0.0, 0.0]]);
    ring.extend(ring.first().copied());
    document(&vec![vec![ring]])
}

fn round(count: usize, radius: impl Fn(f64) -> f64, middle: f64) -> MultiPolygon {
    let ring = (0..=count).map(|step| {
        let turn = (step % count) as f64 / count as f64 * TAU;
        let x = middle + 1.6 * radius(turn) * turn.cos();
        [short(if x > 180.0 { x - 360.0 } else { x }), short(49.6 + radius(turn) * turn.sin())]
    });
    vec![vec![ring.collect()]]
}

/// To seven decimals, as surveys give them.
fn short(degrees: f64) -> f64 {
    (degrees * 1e7).round() / 1e7
}

fn document(shape: &MultiPolygon) -> String {
    let coordinates = serde_json::to_string(shape).unwrap_or_default();
    format!(r#"{{"type":"MultiPolygon","coordinates":{coordinates}}}"#)
}
