//! Queries by place. An item's extent is its boundary and its path or, if it has neither, its location.

use serde_json::{Value, json};

use super::area::Area;
use super::circle;
use super::clauses::{any, has, shape_relation, without_shape};
use super::point::Point;

/// A box in degrees; `west > east` if it crosses ±180.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    pub west: f64,
    pub south: f64,
    pub east: f64,
    pub north: f64,
}

/// A point with a radius in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Near {
    pub point: Point,
    pub radius: Option<f64>,
}

/// The name of the clause that matches items whose boundary or path contains the point.
pub const INSIDE: &str = "inside";

/// The greatest latitude of web maps.
const MAP_LATITUDE: f64 = 85.051_128_779_806_6;

/// The distance in degrees by which each side of a box moves outward. Search stores positions to the centimetre, misses
/// points on the edge of a box, and refuses boxes without height.
const TOLERANCE: f64 = 1e-7;

impl Bounds {
    /// Parses `west, south, east, north`.
    pub fn parse(numbers: &[f64]) -> Result<Self, String> {
        const EXPECTED: &str = "must be west,south,east,north in degrees";
        let &[west, south, east, north] = numbers else { return Err(EXPECTED.to_owned()) };
        if [south, north].iter().any(|latitude| latitude.abs() > 90.0) {
            return Err(format!("{EXPECTED}: a latitude is outside -90 to 90; longitude comes first"));
        }
        if [west, east].iter().any(|longitude| longitude.abs() > 180.0) {
            return Err(format!("{EXPECTED}: a longitude is outside -180 to 180"));
        }
        if south > north {
            return Err(format!("{EXPECTED}: south is greater than north"));
        }
        #[expect(clippy::float_cmp, reason = "a box is empty only where both sides are given alike")]
        if west == east {
            return Err(format!("{EXPECTED}: west and east are the same"));
        }
        Ok(Self { west, south, east, north })
    }

    /// The parts of the box on each side of ±180.
    fn split(self) -> Vec<Self> {
        if self.west < self.east {
            vec![self]
        } else {
            vec![Self { east: 180.0, ..self }, Self { west: -180.0, ..self }]
        }
    }

    fn widened(self) -> Self {
        Self {
            west: (self.west - TOLERANCE).max(-180.0),
            south: (self.south - TOLERANCE).max(-90.0),
            east: (self.east + TOLERANCE).min(180.0),
            north: (self.north + TOLERANCE).min(90.0),
        }
    }

    /// The number of map tiles of a zoom that intersect the box.
    pub fn tiles(self, zoom: u8) -> u64 {
        let count = f64::from(zoom).exp2();
        let column = |longitude: f64| ((longitude + 180.0) / 360.0 * count).floor().clamp(0.0, count - 1.0);
        let row = |latitude: f64| {
            let radians = latitude.clamp(-MAP_LATITUDE, MAP_LATITUDE).to_radians();
            let fraction = 0.5 - radians.tan().asinh() / std::f64::consts::TAU;
            (fraction * count).floor().clamp(0.0, count - 1.0)
        };
        let rows = row(self.south) - row(self.north) + 1.0;
        let columns: f64 = self.split().iter().map(|part| column(part.east) - column(part.west) + 1.0).sum();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at most 4 ^ 12, and a box each side"
        )]
        let tiles = (rows * columns) as u64;
        tiles
    }

    /// Items whose location is in the box.
    pub fn contains_location(self) -> Value {
        any(self.split().into_iter().map(|part| part.widened().location_clause()))
    }

    /// Items whose extent intersects the box.
    pub fn intersects(self) -> Value {
        let clauses = self.split().into_iter().map(Self::widened).flat_map(|part| {
            let envelope =
                json!({ "type": "envelope", "coordinates": [[part.west, part.north], [part.east, part.south]] });
            [
                shape_relation("boundary", &envelope, "intersects"),
                shape_relation("path", &envelope, "intersects"),
                without_shape(part.location_clause()),
            ]
        });
        any(clauses)
    }

    /// Items whose location is in this part of a box.
    fn location_clause(self) -> Value {
        json!({ "geo_bounding_box": { "location": {
            "top_left": [self.west, self.north],
            "bottom_right": [self.east, self.south],
        } } })
    }
}

impl Near {
    /// Items whose boundary, path or location is within the radius. Without a radius, all items with a location.
    pub fn clause(self) -> Value {
        let Some(radius) = self.radius else { return has("location") };
        let Point { longitude, latitude } = self.point;
        let shape = self.circle(radius);
        any([
            json!({ "geo_distance": { "location": [longitude, latitude], "distance": format!("{radius}m") } }),
            shape_relation("boundary", &shape, "intersects"),
            shape_relation("path", &shape, "intersects"),
        ])
    }

    /// Items whose boundary or path contains the point. With a score, smaller items have a higher one.
    pub fn inside(self, scored: bool) -> Value {
        let contains = any(["boundary", "path"].map(|field| shape_relation(field, &self.centre(), "intersects")));
        if scored {
            let smaller = json!({ "field": "extentArea", "modifier": "reciprocal", "missing": 1 });
            json!({ "function_score": {
                "query": contains,
                "functions": [{ "field_value_factor": smaller }],
                "boost_mode": "replace",
                "_name": INSIDE,
            } })
        } else {
            json!({ "bool": { "filter": [contains], "boost": 0, "_name": INSIDE } })
        }
    }

    /// The circle as a polygon for search. A circle of centimetres has no area and becomes its centre. A circle that
    /// barely reaches ±180 or a pole may not be a valid polygon, so slightly different radii are tried, too.
    fn circle(self, radius: f64) -> Value {
        let areas = [1.0, 1.0002, 0.9998].into_iter().filter_map(|factor| {
            let ring = circle::ring(self.point, radius * factor);
            Area::drawn(&json!({ "type": "Polygon", "coordinates": [ring] })).ok()
        });
        areas.map(|area| area.geojson()).next().unwrap_or_else(|| self.centre())
    }

    fn centre(self) -> Value {
        json!({ "type": "Point", "coordinates": [self.point.longitude, self.point.latitude] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORLD: Bounds = Bounds { west: -180.0, south: -90.0, east: 180.0, north: 90.0 };

    #[test]
    fn box_without_width_or_out_of_range_is_refused() {
        for numbers in [[170.0, 1.0, 170.0, 2.0], [1.0, 3.0, 2.0, 2.0], [1.0, 2.0, 181.0, 3.0], [1.0, 2.0, 3.0, 91.0]] {
            assert!(Bounds::parse(&numbers).is_err(), "{numbers:?}");
        }
        assert!(Bounds::parse(&[1.0, 2.0, 3.0, 2.0]).is_ok());
    }

    #[test]
    fn box_across_180_is_split_in_two() {
        let boxes = Bounds::parse(&[170.0, -17.0, -170.0, -16.0]).unwrap().split();
        let sides: Vec<_> = boxes.iter().map(|part| (part.west, part.east)).collect();
        assert_eq!(sides, [(170.0, 180.0), (-180.0, -170.0)]);
        let thin = Bounds::parse(&[180.0, 5.0, -180.0, 5.0]).unwrap().split();
        assert!(thin.into_iter().map(Bounds::widened).all(|part| part.west < part.east && part.south < part.north));
    }

    #[test]
    fn tiles_are_those_of_web_maps() {
        assert_eq!(WORLD.tiles(0), 1);
        assert_eq!(WORLD.tiles(4), 256);
        assert_eq!(WORLD.tiles(12), 4096 * 4096);
        let one = Bounds::parse(&[-125.6, 49.49, -125.58, 49.5]).unwrap();
        assert_eq!(one.tiles(8), 1);
        assert_eq!(Bounds::parse(&[170.0, -5.0, -170.0, 5.0]).unwrap().tiles(1), 4);
    }

    #[test]
    fn circle_is_a_valid_polygon_at_every_place() {
        for latitude in [-90.0, -89.99, -85.0, -45.0, 0.0, 49.5, 81.0, 85.0, 89.0, 90.0] {
            for longitude in [-180.0, -179.999, -125.5, 0.0, 20.0, 179.0, 180.0] {
                for radius in [2.0, 1_000.0, 111_194.9, 500_000.0, 1_000_000.0] {
                    let near = Near { point: Point { longitude, latitude }, radius: Some(radius) };
                    assert_eq!(near.circle(radius)["type"], "MultiPolygon", "{near:?}");
                }
            }
        }
        let tiny = Near { point: Point { longitude: 1.0, latitude: 2.0 }, radius: Some(0.001) };
        assert_eq!(tiny.circle(0.001)["type"], "Point");
    }
}
