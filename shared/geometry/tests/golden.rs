//! The hashes of stored shapes never change, because they are permanent keys of objects in S3.

#![allow(clippy::indexing_slicing, clippy::panic, clippy::unwrap_used, reason = "tests say what they expect by it")]

use std::fmt::Write as _;

use geometry::{Kind, Limits, check};

const SHAPES: [(&str, Kind, &str); 10] = [
    ("point", Kind::Location, r#"{"type":"Point","coordinates":[-125.589,49.498]}"#),
    ("point with altitude", Kind::Location, r#"{"type":"Point","coordinates":[190,-0.0,1e3]}"#),
    ("line", Kind::Path, r#"{"type":"LineString","coordinates":[[0.1,0.2],[0.30000000000000004,1e-7]]}"#),
    ("line at 180", Kind::Path, r#"{"type":"LineString","coordinates":[[170,0,5],[-170,10,15]]}"#),
    ("lines", Kind::Path, r#"{"type":"MultiLineString","coordinates":[[[0,0],[1,1]],[[2,2],[3,3],[3,3]]]}"#),
    ("triangle", Kind::Boundary, r#"{"type":"Polygon","coordinates":[[[0,0],[1,0],[0,1],[0,0]]]}"#),
    (
        "hole and island",
        Kind::Boundary,
        r#"{"type":"MultiPolygon","coordinates":[[[[-126,49.3],[-126,49.9],[-125,49.9],[-125,49.3],[-126,49.3]],
            [[-125.6,49.5],[-125.4,49.5],[-125.4,49.7],[-125.6,49.7],[-125.6,49.5]]],
            [[[-124.9,49.4],[-124.8,49.4],[-124.8,49.5],[-124.9,49.5],[-124.9,49.4]]]]}"#,
    ),
    (
        "Fiji",
        Kind::Boundary,
        r#"{"type":"Polygon","coordinates":[[[179.5,-16.5],[-179.8,-16.5],[-179.8,-17],[179.5,-17],[179.5,-16.5]]]}"#,
    ),
    (
        "Antarctica",
        Kind::Boundary,
        r#"{"type":"Polygon","coordinates":[[[-150,-75],[-90,-73],[-30,-78],[30,-69],[90,-66],[150,-70],[-150,-75]]]}"#,
    ),
    (
        "feature",
        Kind::Any,
        r#"{"type":"Feature","properties":{"name":"x"},"geometry":{"type":"Polygon",
            "coordinates":[[[235.123456,1],[236.5,1],[236.5,2.000000000000001],[235.123456,1]]],"bbox":[1,2,3,4]}}"#,
    ),
];

#[test]
fn canonical_forms_and_hashes_are_unchanged() {
    let mut hashes = String::new();
    for (name, kind, document) in SHAPES {
        let shape = check(document.as_bytes(), kind, &Limits::UPLOAD)
            .unwrap_or_else(|refused| panic!("{name}: {refused}"))
            .shape;
        let _ = writeln!(hashes, "{} {name}\n{}", shape.sha256(), shape.canonical());
    }
    assert_eq!(hashes, include_str!("golden.txt"), "{hashes}");
}
