//! The shape of a search, to which the extents of items are compared: a drawn shape, or the boundary of an item.

use geometry::{Kind, Limits, Shape};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::clauses::{any, has, of_shape, without_shape};

/// What a shape in a request may be; beyond, the rules are those of every boundary.
const LIMITS: Limits = Limits { bytes: 64 * 1024, positions: 1000, parts: 100, rings: 100, ..Limits::BODY };

/// Positions are held to 7 decimals, and search cuts its own to a little less; a shape that is just touched counts
/// as holding or being held, so it is moved by so many degrees, two centimetres.
const TOUCH: f64 = 2e-7;

type Ring = Vec<[f64; 2]>;

/// What extents are compared with.
#[derive(Clone, Debug, PartialEq)]
pub enum Compared {
    Area(Area),
    /// The boundary of the document with this id in this index, which search reads itself. It can only be met: what just
    /// touches it would not count as held.
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

/// A shape without area, or too small to be told from none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoArea;

impl Compared {
    /// Items whose extent lies so to it.
    pub fn clause(&self, relation: Relation) -> Value {
        match self {
            Self::Area(area) => area.clause(relation),
            Self::Document { index, id } => met(|field| {
                let boundary = json!({ "index": index, "id": id, "path": "boundary" });
                json!({ "geo_shape": { field: { "indexed_shape": boundary, "relation": "intersects" } } })
            }),
        }
    }
}

/// Items whose extent meets a shape, by a clause for each field.
fn met(clause: impl Fn(&str) -> Value) -> Value {
    any([clause("boundary"), clause("path"), without_shape(clause("location"))])
}

impl Area {
    /// A shape as the caller sent it. Faults are at pointers into it.
    pub fn drawn(document: &Value) -> Result<Self, Vec<(String, String)>> {
        let checked = geometry::check_value(document, Kind::Boundary, &LIMITS).map_err(|refused| {
            refused.faults.into_iter().map(|fault| (fault.pointer, fault.detail)).collect::<Vec<_>>()
        })?;
        Self::of(&checked.shape).map_err(|NoArea| vec![(String::new(), "is too small to have an area".to_owned())])
    }

    /// A shape that has passed the rules.
    pub fn of(shape: &Shape) -> Result<Self, NoArea> {
        let text = shape.search_form().ok_or(NoArea)?;
        match serde_json::from_str(&text) {
            Ok(Areal::Polygon(polygon)) => Ok(Self(vec![polygon])),
            Ok(Areal::MultiPolygon(polygons)) => Ok(Self(polygons)),
            Err(_) => Err(NoArea),
        }
    }

    /// Items whose extent lies so to the shape.
    pub fn clause(&self, relation: Relation) -> Value {
        match relation {
            Relation::Intersects => {
                let shape = self.geojson();
                met(|field| of_shape(field, &shape, "intersects"))
            }
            Relation::Within => {
                let shape = self.moved(TOUCH).geojson();
                let inside_if_any = |field| {
                    let none = json!({ "bool": { "must_not": [has(field)] } });
                    any([of_shape(field, &shape, "within"), none])
                };
                let inside = json!({ "bool": {
                    "filter": [any([has("boundary"), has("path")]), inside_if_any("boundary"), inside_if_any("path")],
                } });
                // A point that is met is within; the field of points knows no other relation.
                any([inside, without_shape(of_shape("location", &shape, "intersects"))])
            }
            Relation::Contains => of_shape("boundary", &self.moved(-TOUCH).geojson(), "contains"),
        }
    }

    pub fn geojson(&self) -> Value {
        json!(Areal::MultiPolygon(self.0.clone()))
    }

    /// Every position moved outwards by so many degrees, or inwards.
    fn moved(&self, outwards: f64) -> Self {
        let polygons = self.0.iter().map(|rings| rings.iter().map(|ring| moved(ring, outwards)).collect());
        Self(polygons.collect())
    }
}

/// The inside lies to the left along every ring, shells counterclockwise and holes clockwise, so outwards is right.
fn moved(ring: &Ring, outwards: f64) -> Ring {
    let open = ring.split_last().map(|(_, open)| open).unwrap_or_default();
    let before = open.iter().cycle().skip(open.len().saturating_sub(1));
    let after = open.iter().cycle().skip(1);
    let mut moved: Ring = open
        .iter()
        .zip(before)
        .zip(after)
        .map(|((here, before), after)| {
            let [x, y] = sum(right_of(before, here), right_of(here, after));
            // Both sides move by `outwards`; at a sharp corner the corner itself goes at most three times as far.
            let scale = outwards * (2.0 / (x * x + y * y)).min(4.0);
            let [longitude, latitude] = [here[0] + x * scale, here[1] + y * scale];
            [longitude.clamp(-180.0, 180.0), latitude.clamp(-90.0, 90.0)]
        })
        .collect();
    moved.extend(moved.first().copied());
    moved
}

/// The direction to the right of an edge, of length 1.
fn right_of([x0, y0]: &[f64; 2], [x1, y1]: &[f64; 2]) -> [f64; 2] {
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
    fn outwards_is_away_from_the_inside() {
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
    fn a_moved_shape_stays_on_the_map() {
        let world =
            Area(vec![vec![vec![[-180.0, -90.0], [180.0, -90.0], [180.0, 90.0], [-180.0, 90.0], [-180.0, -90.0]]]]);
        assert_eq!(world.moved(TOUCH), world);
        assert_ne!(world.moved(-TOUCH), world);
    }

    #[test]
    fn a_point_is_never_asked_to_hold_a_shape() {
        let area = Area(vec![vec![square(1.0)]]);
        assert!(!area.clause(Relation::Contains).to_string().contains("location"));
        assert!(area.clause(Relation::Within).to_string().contains(r#""location":{"relation":"intersects""#));
    }

    #[test]
    fn faults_of_a_shape_say_where() {
        let line = json!({ "type": "LineString", "coordinates": [[0, 0], [1, 1]] });
        assert_eq!(Area::drawn(&line).unwrap_err()[0].0, "/type");
    }
}
