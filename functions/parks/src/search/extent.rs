//! Queries by place. An item's extent is its boundary and its path or, if it has neither, its location.

use serde_json::{Value, json};

use super::area::Area;
use super::circle;
use super::clauses::{any, of_shape, without_shape};
use super::point::Point;

/// Degrees; west lies beyond east where it runs across ±180.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    pub west: f64,
    pub south: f64,
    pub east: f64,
    pub north: f64,
}

/// A place to look for with how far round it, in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Near {
    pub point: Point,
    pub radius: Option<f64>,
}

/// The name of the clause that items fit whose boundary or path holds the point.
pub const INSIDE: &str = "inside";

/// Web maps end at this latitude.
const MAP_LATITUDE: f64 = 85.051_128_779_806_6;

/// Search holds positions to the centimetre, and misses one on the very side of a box; it also refuses boxes without
/// height. So each side moves outwards by so many degrees.
const TOUCH: f64 = 1e-7;

impl Bounds {
    /// Reads `west, south, east, north`.
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

    /// As boxes that do not cross ±180.
    fn boxes(self) -> Vec<Self> {
        if self.west < self.east {
            vec![self]
        } else {
            vec![Self { east: 180.0, ..self }, Self { west: -180.0, ..self }]
        }
    }

    fn widened(self) -> Self {
        Self {
            west: (self.west - TOUCH).max(-180.0),
            south: (self.south - TOUCH).max(-90.0),
            east: (self.east + TOUCH).min(180.0),
            north: (self.north + TOUCH).min(90.0),
        }
    }

    /// How many map tiles of a zoom it touches.
    pub fn tiles(self, zoom: u8) -> u64 {
        let count = f64::from(zoom).exp2();
        let column = |longitude: f64| ((longitude + 180.0) / 360.0 * count).floor().clamp(0.0, count - 1.0);
        let row = |latitude: f64| {
            let radians = latitude.clamp(-MAP_LATITUDE, MAP_LATITUDE).to_radians();
            let fraction = 0.5 - radians.tan().asinh() / std::f64::consts::TAU;
            (fraction * count).floor().clamp(0.0, count - 1.0)
        };
        let rows = row(self.south) - row(self.north) + 1.0;
        let columns: f64 = self.boxes().iter().map(|part| column(part.east) - column(part.west) + 1.0).sum();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at most 4 ^ 12, and a box each side"
        )]
        let tiles = (rows * columns) as u64;
        tiles
    }

    /// Items whose location is in the box.
    pub fn holds_location(self) -> Value {
        any(self.boxes().into_iter().map(|part| part.widened().of_location()))
    }

    /// Items whose extent meets the box.
    pub fn meets(self) -> Value {
        let clauses = self.boxes().into_iter().map(Self::widened).flat_map(|part| {
            let envelope =
                json!({ "type": "envelope", "coordinates": [[part.west, part.north], [part.east, part.south]] });
            [
                of_shape("boundary", &envelope, "intersects"),
                of_shape("path", &envelope, "intersects"),
                without_shape(part.of_location()),
            ]
        });
        any(clauses)
    }

    fn of_location(self) -> Value {
        json!({ "geo_bounding_box": { "location": {
            "top_left": [self.west, self.north],
            "bottom_right": [self.east, self.south],
        } } })
    }
}

impl Near {
    /// Items whose boundary, path or location comes near enough; without a radius all that have a location.
    pub fn clause(self) -> Value {
        let Some(radius) = self.radius else { return json!({ "exists": { "field": "location" } }) };
        let Point { longitude, latitude } = self.point;
        let shape = self.circle(radius);
        any([
            json!({ "geo_distance": { "location": [longitude, latitude], "distance": format!("{radius}m") } }),
            of_shape("boundary", &shape, "intersects"),
            of_shape("path", &shape, "intersects"),
        ])
    }

    /// A clause for items whose boundary or path holds the point. With a score, that is the higher the smaller the item.
    pub fn inside(self, scored: bool) -> Value {
        let holds = any(["boundary", "path"].map(|field| of_shape(field, &self.centre(), "intersects")));
        if scored {
            let smaller = json!({ "field": "extentArea", "modifier": "reciprocal", "missing": 1 });
            json!({ "function_score": {
                "query": holds,
                "functions": [{ "field_value_factor": smaller }],
                "boost_mode": "replace",
                "_name": INSIDE,
            } })
        } else {
            json!({ "bool": { "filter": [holds], "boost": 0, "_name": INSIDE } })
        }
    }

    /// As search is asked for it. A circle of centimetres is too small to have an area, and no more than its centre; one
    /// that only just meets ±180 or a pole may need to be a little larger or smaller to be a polygon.
    fn circle(self, radius: f64) -> Value {
        let areas = [1.0, 1.0002, 0.9998].into_iter().filter_map(|part| {
            let ring = circle::ring(self.point, radius * part);
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
    fn a_box_has_two_sides_and_is_not_upside_down() {
        for numbers in [[170.0, 1.0, 170.0, 2.0], [1.0, 3.0, 2.0, 2.0], [1.0, 2.0, 181.0, 3.0], [1.0, 2.0, 3.0, 91.0]] {
            assert!(Bounds::parse(&numbers).is_err(), "{numbers:?}");
        }
        assert!(Bounds::parse(&[1.0, 2.0, 3.0, 2.0]).is_ok());
    }

    #[test]
    fn across_180_a_box_is_two() {
        let boxes = Bounds::parse(&[170.0, -17.0, -170.0, -16.0]).unwrap().boxes();
        let sides: Vec<_> = boxes.iter().map(|part| (part.west, part.east)).collect();
        assert_eq!(sides, [(170.0, 180.0), (-180.0, -170.0)]);
        let thin = Bounds::parse(&[180.0, 5.0, -180.0, 5.0]).unwrap().boxes();
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
    fn a_circle_is_a_shape_wherever_it_is() {
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
