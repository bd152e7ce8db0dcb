//! The check of a document, rule by rule.

use std::collections::BTreeSet;

use never::never;
use serde_json::Value;

use crate::antimeridian::split::{split_line, split_polygon};
use crate::antimeridian::{Vertex, Vertices, normalize_longitude};
use crate::fault::{Faults, Path};
use crate::polyline::{Polyline, Polylines};
use crate::read::{RawShape, read};
use crate::segment_graph::{Ring, SegmentGraph};
use crate::topology::{Violation, violations};
use crate::{InvalidShape, Kind, Limits, Repair, Shape, ShapeType};

/// A valid shape, and the repairs that made it valid.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    pub shape: Shape,
    /// In the order of their names.
    pub repairs: BTreeSet<Repair>,
}

/// Checks a GeoJSON text: a geometry, a Feature, or a FeatureCollection of one Feature.
pub fn check(document: &[u8], kind: Kind, limits: &Limits) -> Result<Checked, InvalidShape> {
    let mut faults = Faults::default();
    let mut repairs = BTreeSet::new();
    let Some(raw) = read(document, Some(kind), limits, &mut faults, &mut repairs) else {
        return Err(faults.into_error());
    };
    let mut check = Check { raw, faults, repairs, polylines: Polylines::default(), parts: Vec::new() };
    let shape = match check.raw.shape.shape_type() {
        ShapeType::Point => check.point(),
        ShapeType::LineString | ShapeType::MultiLineString => check.lines(),
        ShapeType::Polygon | ShapeType::MultiPolygon => check.polygons(),
    };
    let Check { raw, mut faults, repairs, .. } = check;
    if faults.is_empty()
        && let Some(detail) = exceeded_limit(&shape, document.len(), limits)
    {
        faults.too_large(&raw.coordinates, Path::default(), detail);
    }
    if faults.is_empty() { Ok(Checked { shape, repairs }) } else { Err(faults.into_error()) }
}

/// Checks a document that is part of a parsed body. The pointers of faults start at this value.
pub fn check_value(document: &Value, kind: Kind, limits: &Limits) -> Result<Checked, InvalidShape> {
    check(document.to_string().as_bytes(), kind, limits)
}

pub(crate) struct Check {
    pub raw: RawShape,
    pub faults: Faults,
    pub repairs: BTreeSet<Repair>,
    pub polylines: Polylines,
    /// The rings or lines of each part that have no fault, with their index in the part.
    pub parts: Vec<Vec<(usize, Polyline)>>,
}

impl Check {
    fn point(&mut self) -> Shape {
        let mut shape = Shape::empty(ShapeType::Point);
        let Some([longitude, latitude]) = self.raw.shape.all_positions().first().copied() else {
            never!("a point without a position");
            return shape;
        };
        let x = normalize_longitude(longitude);
        if x != longitude {
            self.repairs.insert(Repair::Shifted);
        }
        shape.push([x, latitude], self.raw.shape.line_altitudes(0).first().copied());
        shape.end_line();
        shape.end_part();
        shape
    }

    fn lines(&mut self) -> Shape {
        self.check_lines();
        if !self.faults.is_empty() {
            return Shape::empty(self.raw.shape.shape_type());
        }
        let mut lines = Vec::new();
        for (_, line) in self.parts.iter().flatten() {
            let vertices = self.polylines.vertices(line);
            if line.crosses_antimeridian {
                lines.extend(split_line(vertices).into_iter().map(|line| vec![line]));
                self.repairs.insert(Repair::Cut);
            } else {
                lines.push(vec![vertices.to_vec()]);
            }
        }
        self.assemble(lines)
    }

    fn polygons(&mut self) -> Shape {
        self.check_lines();
        self.check_topology();
        if !self.faults.is_empty() {
            return Shape::empty(self.raw.shape.shape_type());
        }
        let mut polygons = Vec::new();
        for part in &mut self.parts {
            let mut rings = Vec::with_capacity(part.len());
            for (index, ring) in part {
                if ring.counterclockwise != (*index == 0) {
                    self.polylines.reverse(ring);
                    self.repairs.insert(Repair::Winding);
                }
                rings.push(ring.clone());
            }
            if rings.iter().any(|ring| ring.crosses_antimeridian) {
                polygons.extend(split_polygon(&self.polylines, &rings));
                self.repairs.insert(Repair::Cut);
            } else {
                polygons.push(rings.iter().map(|ring| self.polylines.vertices(ring).to_vec()).collect());
            }
        }
        self.assemble(polygons)
    }

    /// Checks rules 4, 9 and 10 for each ring or line by itself.
    pub(crate) fn check_lines(&mut self) {
        let RawShape { shape, readable, .. } = &self.raw;
        let is_areal = shape.shape_type().is_areal();
        self.polylines = Polylines::with_capacity(shape.positions());
        for (part, lines) in shape.part_lines().enumerate() {
            let mut valid = Vec::with_capacity(lines.len());
            for (index, line) in lines.enumerate().filter(|(_, line)| readable.get(*line) == Some(&true)) {
                let (positions, altitudes) = (shape.line(line), shape.line_altitudes(line));
                let polyline = if is_areal {
                    self.polylines.add_ring(positions, altitudes, &mut self.repairs)
                } else {
                    self.polylines.add_line(positions, altitudes, &mut self.repairs)
                };
                match polyline {
                    Ok(polyline) => valid.push((index, polyline)),
                    Err(detail) => self.faults.within(&self.raw.coordinates, self.raw.path(part, index), || detail),
                }
            }
            self.parts.push(valid);
        }
        for (part, rings) in std::mem::take(&mut self.parts).into_iter().enumerate() {
            let closed = self.close_around_globe(part, rings);
            self.parts.push(closed);
        }
    }

    /// Closes the rings of a part that run around the globe: two with each other, otherwise each around its pole.
    fn close_around_globe(&mut self, part: usize, rings: Vec<(usize, Polyline)>) -> Vec<(usize, Polyline)> {
        let (open, mut rings): (Vec<_>, Vec<_>) = rings.into_iter().partition(|(_, ring)| ring.winding != 0);
        let (polylines, repairs) = (&mut self.polylines, &mut self.repairs);
        let closed: Vec<_> = match open.as_slice() {
            [(index, one), (_, other)] => vec![(*index, polylines.join_around_globe(one, other, repairs))],
            each => each.iter().map(|(index, ring)| (*index, polylines.close_around_pole(ring, repairs))).collect(),
        };
        for (index, ring) in closed {
            match ring {
                Ok(ring) => rings.push((index, ring)),
                Err(detail) => self.faults.within(&self.raw.coordinates, self.raw.path(part, index), || detail),
            }
        }
        rings.sort_by_key(|(index, _)| *index);
        rings
    }

    /// Checks rules 6, 7 and 8.
    pub(crate) fn check_topology(&mut self) {
        let mut graph = SegmentGraph::with_capacity(self.raw.shape.positions());
        let mut rings = Vec::new();
        for (part, of_part) in self.parts.iter().enumerate() {
            for (index, polyline) in of_part {
                let number = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
                let ring = Ring::new(number(part), number(*index), polyline.counterclockwise);
                graph.add_polyline(ring, &self.polylines, polyline);
                rings.push((self.raw.path(part, *index), polyline));
            }
        }
        let ring_of = |ring: u32| {
            let known = rings.get(ring as usize);
            if known.is_none() {
                never!("a violation of ring {ring} of {}", rings.len());
            }
            known
        };
        for violation in violations(&graph) {
            let path = match &violation {
                Violation::Edge(edge, ..) => ring_of(edge.ring)
                    .map(|(path, ring)| path.down(self.polylines.edge_end(ring, edge.edge as usize) as usize)),
                Violation::Hole(ring, _) => ring_of(*ring).map(|(path, _)| *path),
                Violation::Part(part, _) => Some(Path::default().down(*part as usize)),
            };
            // Without its ring, the fault is reported at the coordinates.
            self.faults.within(&self.raw.coordinates, path.unwrap_or_default(), || violation.detail());
        }
    }

    fn assemble(&self, parts: Vec<Vec<Vertices>>) -> Shape {
        let sent = &self.raw.shape;
        let shape_type = sent.shape_type();
        let mut shape = Shape::empty(if parts.len() > 1 { shape_type.multi() } else { shape_type });
        let has_altitude = !sent.line_altitudes(0).is_empty();
        for part in parts {
            for line in part {
                let closing = line.first().filter(|_| shape_type.is_areal()).copied();
                for vertex in line.into_iter().chain(closing) {
                    let Vertex { x, y, z, .. } = vertex;
                    shape.push([x, y], has_altitude.then_some(z));
                }
                shape.end_line();
            }
            shape.end_part();
        }
        shape
    }
}

/// Returns the fault of a checked shape that exceeds the limits, because of a split or because its canonical form is
/// longer than the document.
fn exceeded_limit(shape: &Shape, sent_bytes: usize, limits: &Limits) -> Option<String> {
    let counts = [
        ("positions", shape.positions(), limits.positions),
        ("parts", shape.parts(), limits.parts),
        ("rings", shape.rings(), limits.rings),
    ];
    if let Some((what, count, limit)) = counts.into_iter().find(|(_, count, limit)| count > limit) {
        return Some(format!(
            "the shape has {count} {what} after its split at the antimeridian: at most {limit} are allowed"
        ));
    }
    // The canonical form of a small document can be too large only because of exponents.
    if sent_bytes.max(shape.positions() * 16) < limits.bytes / 32 {
        return None;
    }
    let bytes = shape.canonical().len();
    (bytes > limits.bytes)
        .then(|| format!("the shape has {bytes} bytes in canonical form: at most {} are allowed", limits.bytes))
}
