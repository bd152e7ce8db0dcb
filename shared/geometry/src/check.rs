//! The check of a document: its rules in order.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::cut::{Row, cut_line, cut_polygon};
use crate::fault::{Faults, Path};
use crate::plane::{Plane, Ring};
use crate::read::{Raw, read};
use crate::rules::{Violation, violations};
use crate::seam::{Vertex, onto_map};
use crate::trace::{Trace, Traces};
use crate::{Kind, Limits, Refused, Repair, Shape, ShapeType};

/// A shape that passed, and how it was mended on the way.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    pub shape: Shape,
    /// In the order of their names.
    pub repairs: BTreeSet<Repair>,
}

/// Checks a GeoJSON text: a geometry, a Feature, or a FeatureCollection of one Feature.
pub fn check(document: &[u8], kind: Kind, limits: &Limits) -> Result<Checked, Refused> {
    let mut faults = Faults::default();
    let mut repairs = BTreeSet::new();
    let Some(raw) = read(document, Some(kind), limits, &mut faults, &mut repairs) else { return Err(faults.refuse()) };
    let mut check = Check { raw, faults, repairs, traces: Traces::default(), parts: Vec::new() };
    let shape = match check.raw.shape.shape_type() {
        ShapeType::Point => check.point(),
        ShapeType::LineString | ShapeType::MultiLineString => check.lines(),
        ShapeType::Polygon | ShapeType::MultiPolygon => check.polygons(),
    };
    let Check { raw, mut faults, repairs, .. } = check;
    if faults.is_empty()
        && let Some(detail) = beyond(&shape, document.len(), limits)
    {
        faults.too_large(&raw.coordinates, Path::default(), detail);
    }
    if faults.is_empty() { Ok(Checked { shape, repairs }) } else { Err(faults.refuse()) }
}

/// The same for a document that is part of a parsed body; pointers begin at this value.
pub fn check_value(document: &Value, kind: Kind, limits: &Limits) -> Result<Checked, Refused> {
    check(document.to_string().as_bytes(), kind, limits)
}

struct Check {
    raw: Raw,
    faults: Faults,
    repairs: BTreeSet<Repair>,
    traces: Traces,
    /// The sound rings or lines of each part, with their place in it.
    parts: Vec<Vec<(usize, Trace)>>,
}

impl Check {
    fn point(&mut self) -> Shape {
        let mut shape = Shape::empty(ShapeType::Point);
        let Some([longitude, latitude]) = self.raw.shape.all_positions().first().copied() else { return shape };
        let x = onto_map(longitude);
        if x != longitude {
            self.repairs.insert(Repair::Shifted);
        }
        shape.push([x, latitude], self.raw.shape.row_altitudes(0).first().copied());
        shape.end_ring();
        shape.end_part();
        shape
    }

    fn lines(&mut self) -> Shape {
        self.trace();
        let mut lines = Vec::new();
        for (_, line) in self.parts.iter().flatten() {
            let vertices = self.traces.vertices(line);
            if line.crossing {
                lines.extend(cut_line(vertices).into_iter().map(|line| vec![line]));
                self.repairs.insert(Repair::Cut);
            } else {
                lines.push(vec![vertices.to_vec()]);
            }
        }
        self.assemble(lines)
    }

    fn polygons(&mut self) -> Shape {
        self.trace();
        self.judge();
        if !self.faults.is_empty() {
            return Shape::empty(self.raw.shape.shape_type());
        }
        let mut polygons = Vec::new();
        for part in &mut self.parts {
            let mut rings = Vec::with_capacity(part.len());
            for (place, ring) in part {
                if ring.counterclockwise != (*place == 0) {
                    self.traces.reverse(ring);
                    self.repairs.insert(Repair::Winding);
                }
                rings.push(ring.clone());
            }
            if rings.iter().any(|ring| ring.crossing) {
                polygons.extend(cut_polygon(&self.traces, &rings));
                self.repairs.insert(Repair::Cut);
            } else {
                polygons.push(rings.iter().map(|ring| self.traces.vertices(ring).to_vec()).collect());
            }
        }
        self.assemble(polygons)
    }

    /// Rules 4, 9 and 10 for each ring or line by itself.
    fn trace(&mut self) {
        let Raw { shape, sound, .. } = &self.raw;
        let areal = shape.shape_type().is_areal();
        self.traces = Traces::with_capacity(shape.positions());
        for (part, rows) in shape.part_rows().enumerate() {
            let mut traced = Vec::with_capacity(rows.len());
            for (place, row) in rows.enumerate().filter(|(_, row)| sound.get(*row) == Some(&true)) {
                let (positions, altitudes) = (shape.row(row), shape.row_altitudes(row));
                let trace = if areal {
                    self.traces.ring(positions, altitudes, &mut self.repairs)
                } else {
                    self.traces.line(positions, altitudes, &mut self.repairs)
                };
                match trace {
                    Ok(trace) => traced.push((place, trace)),
                    Err(detail) => self.faults.within(&self.raw.coordinates, self.raw.path(part, place), || detail),
                }
            }
            self.parts.push(traced);
        }
        for part in 0..self.parts.len() {
            self.close_round_globe(part);
        }
    }

    /// Closes the rings of a part that run round the globe: two with each other, else each round its pole.
    fn close_round_globe(&mut self, part: usize) {
        let Some(rings) = self.parts.get_mut(part).map(std::mem::take) else { return };
        let (open, mut rings): (Vec<_>, Vec<_>) = rings.into_iter().partition(|(_, ring)| ring.winding != 0);
        let closed: Vec<_> = match open.as_slice() {
            [(place, one), (_, other)] => vec![(*place, self.traces.join(one, other, &mut self.repairs))],
            each => each.iter().map(|(place, ring)| (*place, self.traces.close(ring, &mut self.repairs))).collect(),
        };
        for (place, ring) in closed {
            match ring {
                Ok(ring) => rings.push((place, ring)),
                Err(detail) => self.faults.within(&self.raw.coordinates, self.raw.path(part, place), || detail),
            }
        }
        rings.sort_by_key(|(place, _)| *place);
        if let Some(slot) = self.parts.get_mut(part) {
            *slot = rings;
        }
    }

    /// Rules 6, 7 and 8.
    fn judge(&mut self) {
        let mut plane = Plane::with_capacity(self.raw.shape.positions());
        let mut rings = Vec::new();
        for (part, traced) in self.parts.iter().enumerate() {
            for (place, trace) in traced {
                let number = |index: usize| u32::try_from(index).unwrap_or(u32::MAX);
                let counterclockwise = trace.counterclockwise;
                let ring = Ring { part: number(part), place: number(*place), counterclockwise, edges: 0 };
                plane.add_traced(ring, &self.traces, trace);
                rings.push((self.raw.path(part, *place), trace));
            }
        }
        for violation in violations(&plane) {
            let path = match &violation {
                Violation::Edge(edge, ..) => {
                    let Some((path, trace)) = rings.get(edge.ring as usize) else { continue };
                    path.down(self.traces.edge_end(trace, edge.edge as usize) as usize)
                }
                Violation::Hole(ring, _) => {
                    let Some((path, _)) = rings.get(*ring as usize) else { continue };
                    *path
                }
                Violation::Part(part, _) => Path::default().down(*part as usize),
            };
            self.faults.within(&self.raw.coordinates, path, || violation.detail());
        }
    }

    fn assemble(&self, parts: Vec<Vec<Row>>) -> Shape {
        let sent = &self.raw.shape;
        let of = sent.shape_type();
        let mut shape = Shape::empty(if parts.len() > 1 { of.of_many() } else { of });
        let has_altitude = !sent.row_altitudes(0).is_empty();
        for part in parts {
            for row in part {
                let closing = row.first().filter(|_| of.is_areal()).copied();
                for vertex in row.into_iter().chain(closing) {
                    let Vertex { x, y, z, .. } = vertex;
                    shape.push([x, y], has_altitude.then_some(z));
                }
                shape.end_ring();
            }
            shape.end_part();
        }
        shape
    }
}

/// What of a checked shape is beyond the limits, by what was cut or is written longer than it was sent.
fn beyond(shape: &Shape, sent_bytes: usize, limits: &Limits) -> Option<String> {
    let counts = [
        ("positions", shape.positions(), limits.positions),
        ("parts", shape.parts(), limits.parts),
        ("rings", shape.rings(), limits.rings),
    ];
    if let Some((what, count, limit)) = counts.into_iter().find(|(_, count, limit)| count > limit) {
        return Some(format!("cut at 180, the shape has {count} {what}: at most {limit}"));
    }
    // Only a large document can become too large, save by exponents.
    if sent_bytes.max(shape.positions() * 16) < limits.bytes / 32 {
        return None;
    }
    let bytes = shape.canonical().len();
    (bytes > limits.bytes).then(|| format!("written out, the shape has {bytes} bytes: at most {}", limits.bytes))
}
