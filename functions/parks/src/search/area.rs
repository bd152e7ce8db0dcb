//! The shape of a search, with which the extents of items are compared: a drawn shape, or the boundary of an item.

use geometry::{Kind, Limits, Shape};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::clauses::{any, has, shape_relation, without_shape};

/// The limits of a shape in a request. The rules of boundaries apply, too.
const LIMITS: Limits = Limits { bytes: 64 * 1024, positions: 1000, parts: 100, rings: 100, ..Limits::BODY };

/// The tolerance of `within` and `contains` in degrees: two centimetres. A shape that touches from inside counts as
/// contained, but search rounds positions to about 7 decimals and could see it cross. So the shape of the search is
/// enlarged for `within` and reduced for `contains`.
const TOLERANCE: f64 = 2e-7;

type Ring = Vec<[f64; 2]>;

/// The shape that extents are compared with.
#[derive(Clone, Debug, PartialEq)]
pub enum Compared {
    Area(Area),
    /// The boundary of the document with this id in this index, which search reads itself. It supports only
    /// `intersects`: it cannot be enlarged, so a touching extent would not count as contained.
    Document {
        index: String,
        id: String,
    },
}

/// The relation of an item's extent to the shape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum Relation {
    /// A part of the extent is in the shape.
    #[default]
    Intersects,
    /// The whole extent is in the shape.
    Within,
    /// The whole shape is in the item's boundary.
    Contains,
}

/// Polygons on one side of ±180 each, in the order and direction of GeoJSON.
#[derive(Clone, Debug, PartialEq)]
pub struct Area(Vec<Vec<Ring>>);

/// The two geometries that have an area, as the canonical form writes them.
#[derive(Serialize, Deserialize)]
#[serde(tag = "type", content = "coordinates")]
enum Areal {
    Polygon(Vec<Ring>),
    MultiPolygon(Vec<Vec<Ring>>),
}

/// A shape without area, or with an area too small to compute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoArea;

impl Compared {
    /// Items whose extent has this relation to the shape.
    pub fn clause(&self, relation: Relation) -> Value {
        match self {
            Self::Area(area) => area.clause(relation),
            Self::Document { index, id } => extent_intersects(|field| {
                let boundary = json!({ "index": index, "id": id, "path": "boundary" });
                json!({ "geo_shape": { field: { "indexed_shape": boundary, "relation": "intersects" } } })
            }),
        }
    }
}

/// Items whose extent intersects a shape, by a clause for each field.
fn extent_intersects(clause: impl Fn(&str) -> Value) -> Value {
    any([clause("boundary"), clause("path"), without_shape(clause("location"))])
}

impl Area {
    /// Checks a shape that a client has sent. Each fault has a pointer into it.
    pub fn drawn(document: &Value) -> Result<Self, Vec<(String, String)>> {
        let checked = geometry::check_value(document, Kind::Boundary, &LIMITS).map_err(|refused| {
            refused.faults.into_iter().map(|fault| (fault.pointer, fault.detail)).collect::<Vec<_>>()
        })?;
        Self::of(&checked.shape).map_err(|NoArea| vec![(String::new(), "is too small to have an area".to_owned())])
    }

    /// The area of a checked shape.
    pub fn of(shape: &Shape) -> Result<Self, NoArea> {
        let text = shape.search_form().ok_or(NoArea)?;
        match serde_json::from_str(&text) {
            Ok(Areal::Polygon(polygon)) => Ok(Self(vec![polygon])),
            Ok(Areal::MultiPolygon(polygons)) => Ok(Self(polygons)),
            Err(_) => Err(NoArea),
        }
    }

    /// Items whose extent has this relation to the shape.
    pub fn clause(&self, relation: Relation) -> Value {
        match relation {
            Relation::Intersects => {
                let shape = self.geojson();
                extent_intersects(|field| shape_relation(field, &shape, "intersects"))
            }
            Relation::Within => {
                let shape = self.moved(TOLERANCE).geojson();
                let within_if_present = |field| {
                    let absent = json!({ "bool": { "must_not": [has(field)] } });
                    any([shape_relation(field, &shape, "within"), absent])
                };
                let has_shape = any([has("boundary"), has("path")]);
                let within = json!({ "bool": {
                    "filter": [has_shape, within_if_present("boundary"), within_if_present("path")],
                } });
                // A point that intersects is within. Fields of points support no other relation.
                any([within, without_shape(shape_relation("location", &shape, "intersects"))])
            }
            Relation::Contains => shape_relation("boundary", &self.moved(-TOLERANCE).geojson(), "contains"),
        }
    }

    pub fn geojson(&self) -> Value {
        json!(Areal::MultiPolygon(self.0.clone()))
    }

    /// The area with every edge moved outward by this many degrees, or inward if negative.
    fn moved(&self, outward: f64) -> Self {
        let polygons = self.0.iter().map(|rings| rings.iter().map(|ring| moved(ring, outward)).collect());
        Self(polygons.collect())
    }
}

/// The ring with every edge moved outward by this many degrees. Shells are counterclockwise and holes clockwise, so the
/// interior is left of every ring, and outward is right.
fn moved(ring: &Ring, outward: f64) -> Ring {
    let open = ring.split_last().map(|(_, open)| open).unwrap_or_default();
    let before = open.iter().cycle().skip(open.len().saturating_sub(1));
    let after = open.iter().cycle().skip(1);
    let mut moved: Ring = open
        .iter()
        .zip(before)
        .zip(after)
        .map(|((here, before), after)| {
            let [x, y] = sum(right_normal(before, here), right_normal(here, after));
            // Both edges move by `outward`. A sharp corner would move much farther, so its distance is limited.
            let scale = outward * (2.0 / (x * x + y * y)).min(4.0);
            let [longitude, latitude] = [here[0] + x * scale, here[1] + y * scale];
            [longitude.clamp(-180.0, 180.0), latitude.clamp(-90.0, 90.0)]
        })
        .collect();
    moved.extend(moved.first().copied());
    moved
}

/// The unit vector to the right of an edge.
fn right_normal([x0, y0]: &[f64; 2], [x1, y1]: &[f64; 2]) -> [f64; 2] {
    let (x, y) = (x1 - x0, y1 - y0);
    let length = x.hypot(y).max(f64::MIN_POSITIVE);
    [y / length, -x / length]
}

fn sum([x0, y0]: [f64; 2], [x1, y1]: [f64; 2]) -> [f64; 2] {
    [x0 + x1, y0 + y1]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(direction: f64) -> Ring {
        let mut ring = vec![[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0], [0.0, 0.0]];
        if direction < 0.0 {
            ring.reverse();
        }
        ring
    }

    #[test]
    fn shell_moved_outward_grows_and_hole_shrinks() {
        let near = |position: [f64; 2], expected: [f64; 2]| {
            assert!(
                (position[0] - expected[0]).abs() < 1e-12 && (position[1] - expected[1]).abs() < 1e-12,
                "{position:?}"
            );
        };
        let shell = moved(&square(1.0), 0.1);
        near(shell[0], [-0.1, -0.1]);
        near(shell[2], [2.1, 2.1]);
        assert_eq!(shell.first(), shell.last());
        let hole = moved(&square(-1.0), 0.1);
        near(hole[2], [1.9, 1.9]);
    }

    #[test]
    fn moved_shape_stays_on_the_map() {
        let world =
            Area(vec![vec![vec![[-180.0, -90.0], [180.0, -90.0], [180.0, 90.0], [-180.0, 90.0], [-180.0, -90.0]]]]);
        assert_eq!(world.moved(TOLERANCE), world);
        assert_ne!(world.moved(-TOLERANCE), world);
    }

    #[test]
    fn contains_does_not_search_locations() {
        let area = Area(vec![vec![square(1.0)]]);
        assert!(!area.clause(Relation::Contains).to_string().contains("location"));
        assert!(area.clause(Relation::Within).to_string().contains(r#""location":{"relation":"intersects""#));
    }

    #[test]
    fn fault_of_a_shape_has_a_pointer() {
        let line = json!({ "type": "LineString", "coordinates": [[0, 0], [1, 1]] });
        assert_eq!(Area::drawn(&line).unwrap_err()[0].0, "/type");
    }
}
