//! A made-up layer of points, as a file to import.

use std::ops::Range;

use serde_json::json;

/// Degrees between a point and its neighbours.
pub const STEP: f64 = 0.01;

/// Where the grid begins, in degrees: its points in the south-west.
pub const CORNER: [f64; 2] = [-125.0, 45.0];

/// A square grid of so many points, row by row from the south.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    pub points: usize,
    /// Of points in a row.
    pub width: usize,
}

impl Grid {
    pub fn of(points: usize) -> Self {
        Self { points, width: (points as f64).sqrt().ceil() as usize }
    }

    /// A FeatureCollection of these points, each with a name.
    pub fn features(&self, numbers: Range<usize>, name: impl Fn(usize) -> String) -> String {
        let feature = |number: usize| {
            let [west, south] = CORNER;
            let (row, column) = (number / self.width, number % self.width);
            let point = [west + column as f64 * STEP, south + row as f64 * STEP];
            json!({
                "type": "Feature",
                "geometry": {"type": "Point", "coordinates": point},
                "properties": {
                    "externalId": format!("point-{number}"), "displayName": name(number),
                    "facilityType": "campground", "isVisible": true
                }
            })
            .to_string()
        };
        let features: Vec<String> = numbers.map(feature).collect();
        format!(r#"{{"type":"FeatureCollection","features":[{}]}}"#, features.join(","))
    }
}
