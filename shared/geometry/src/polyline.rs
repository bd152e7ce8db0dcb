//! Rules 4 and 9 for one ring or line: its vertices in the unwrapped plane, closed and without repeats.

use std::collections::BTreeSet;
use std::ops::Range;

use never::never;

use crate::antimeridian::pole::{close_around_pole, join_around_globe};
use crate::antimeridian::unwrap::{unwrap_line, unwrap_ring};
use crate::antimeridian::{Vertex, end_strips, normalize_longitude, runs_along_antimeridian};
use crate::orientation::{are_collinear, is_counterclockwise};
use crate::{Position, Repair};

/// The widest gap between a ring's ends that is closed, in degrees.
const MAX_CLOSING_GAP: f64 = 1e-7;

const TOO_FEW_POSITIONS: &str = "a ring must have at least 4 positions, not counting repeats";

/// The rings or lines of a shape, with all their vertices in one array.
#[derive(Debug, Default)]
pub(crate) struct Polylines {
    vertices: Vec<Vertex>,
}

/// A ring, without its closing vertex, or a line.
#[derive(Clone, Debug)]
pub(crate) struct Polyline {
    vertices: Range<usize>,
    /// The index of the closing position as sent.
    closing: u32,
    /// The number of turns around the globe of a ring that is not closed yet.
    pub winding: i32,
    /// The polyline lies in more than one strip and must be split. Otherwise its vertices are in strip 0.
    pub crosses_antimeridian: bool,
    /// The direction of a simple ring.
    pub counterclockwise: bool,
}

impl Polylines {
    pub(crate) fn with_capacity(vertices: usize) -> Self {
        Self { vertices: Vec::with_capacity(vertices) }
    }

    pub(crate) fn vertices(&self, polyline: &Polyline) -> &[Vertex] {
        self.vertices.get(polyline.vertices.clone()).unwrap_or_else(|| {
            never!("vertices {:?} of {}", polyline.vertices, self.vertices.len());
            &[]
        })
    }

    /// Returns the edges of a ring. The end of the last, closing edge has the source of the closing position.
    pub(crate) fn edges(&self, ring: &Polyline) -> impl Iterator<Item = (Vertex, Vertex)> + '_ {
        let vertices = self.vertices(ring);
        let closing = ring.closing;
        let ends = vertices.iter().skip(1).copied();
        let last = vertices.first().map(|first| Vertex { source: closing, ..*first });
        vertices.iter().copied().zip(ends.chain(last))
    }

    /// Returns the index, as sent, of the position at which an edge of a ring ends.
    pub(crate) fn edge_end(&self, ring: &Polyline, edge: usize) -> u32 {
        self.vertices(ring).get(edge + 1).map_or(ring.closing, |end| end.source)
    }

    /// Reverses a ring. Its first vertex stays the first.
    pub(crate) fn reverse(&mut self, ring: &mut Polyline) {
        match self.vertices.get_mut(ring.vertices.clone()) {
            Some([_, rest @ ..]) => rest.reverse(),
            _ => never!("a ring without vertices is reversed"),
        }
        ring.counterclockwise = !ring.counterclockwise;
    }

    /// Adds a ring, or returns the fault that it has. A ring that runs around the globe is not closed yet.
    pub(crate) fn add_ring(
        &mut self,
        positions: &[Position],
        altitudes: &[f64],
        repairs: &mut BTreeSet<Repair>,
    ) -> Result<Polyline, String> {
        let (Some(first), Some(([last_x, last_y], open))) = (positions.first(), positions.split_last()) else {
            return Err(TOO_FEW_POSITIONS.to_owned());
        };
        let gap = shortest_turn(last_x - first[0]).abs().max((last_y - first[1]).abs());
        if gap > MAX_CLOSING_GAP {
            return Err("the ring is not closed: its last position must equal its first".to_owned());
        }
        if positions.last() != Some(first) || altitudes.first() != altitudes.last() {
            repairs.insert(Repair::Closed);
        }
        let mut vertices = distinct_vertices(open, altitudes, repairs);
        if matches!(vertices.as_slice(), [first, .., last] if is_same_point(first, last)) {
            vertices.pop();
            repairs.insert(Repair::Repeats);
        }
        let winding = unwrap_ring(&mut vertices, repairs);
        if vertices.len() < 3 {
            return Err(TOO_FEW_POSITIONS.to_owned());
        }
        let closing = u32::try_from(open.len()).unwrap_or(u32::MAX);
        match winding {
            0 => self.add_closed(vertices, closing, Some(positions), repairs),
            1 | -1 => {
                let vertices = self.append(vertices);
                Ok(Polyline { vertices, closing, winding, crosses_antimeridian: false, counterclockwise: true })
            }
            _ => Err("the ring runs around the globe more than once, so it crosses itself".to_owned()),
        }
    }

    /// Closes a ring that runs around the globe, so that it encloses a pole.
    pub(crate) fn close_around_pole(
        &mut self,
        ring: &Polyline,
        repairs: &mut BTreeSet<Repair>,
    ) -> Result<Polyline, String> {
        repairs.insert(Repair::Pole);
        self.add_closed(close_around_pole(self.vertices(ring), ring.winding)?, ring.closing, None, repairs)
    }

    /// Joins two rings that run around the globe to one ring around the area between them.
    pub(crate) fn join_around_globe(
        &mut self,
        one: &Polyline,
        other: &Polyline,
        repairs: &mut BTreeSet<Repair>,
    ) -> Result<Polyline, String> {
        repairs.insert(Repair::Pole);
        // Faults are reported at the first ring, which has no positions of the other one.
        let others: Vec<_> =
            self.vertices(other).iter().map(|vertex| Vertex { source: one.closing, ..*vertex }).collect();
        let joined = join_around_globe((self.vertices(one), one.winding), (&others, other.winding));
        self.add_closed(joined, one.closing, None, repairs)
    }

    /// Adds a line, or returns the fault that it has.
    pub(crate) fn add_line(
        &mut self,
        positions: &[Position],
        altitudes: &[f64],
        repairs: &mut BTreeSet<Repair>,
    ) -> Result<Polyline, String> {
        let mut vertices = distinct_vertices(positions, altitudes, repairs);
        if vertices.len() < 2 {
            return Err("a line must have at least 2 different positions".to_owned());
        }
        unwrap_line(&mut vertices);
        let crosses_antimeridian = !move_to_map(&mut vertices, Some(positions), false, repairs);
        let vertices = self.append(vertices);
        Ok(Polyline { vertices, closing: 0, winding: 0, crosses_antimeridian, counterclockwise: false })
    }

    /// Adds a closed ring. `sent` has its positions if each vertex is one of them.
    fn add_closed(
        &mut self,
        mut ring: Vec<Vertex>,
        closing: u32,
        sent: Option<&[Position]>,
        repairs: &mut BTreeSet<Repair>,
    ) -> Result<Polyline, String> {
        let unwrapped: Vec<_> = ring.iter().map(Vertex::unwrapped).collect();
        if are_collinear(unwrapped.iter().copied()) {
            return Err("the ring has no area: all its positions lie on one line".to_owned());
        }
        let crosses_antimeridian = !move_to_map(&mut ring, sent, true, repairs);
        let vertices = self.append(ring);
        let counterclockwise = is_counterclockwise(&unwrapped);
        Ok(Polyline { vertices, closing, winding: 0, crosses_antimeridian, counterclockwise })
    }

    fn append(&mut self, mut vertices: Vec<Vertex>) -> Range<usize> {
        let start = self.vertices.len();
        self.vertices.append(&mut vertices);
        start..self.vertices.len()
    }
}

/// Returns the vertices at positions that do not repeat the one before.
fn distinct_vertices(positions: &[Position], altitudes: &[f64], repairs: &mut BTreeSet<Repair>) -> Vec<Vertex> {
    let mut vertices: Vec<Vertex> = Vec::with_capacity(positions.len());
    let mut altitudes = altitudes.iter();
    for (source, [longitude, latitude]) in (0_u32..).zip(positions) {
        let z = altitudes.next().copied().unwrap_or(0.0);
        let vertex = Vertex { x: normalize_longitude(*longitude), y: *latitude, z, strip: 0, source };
        if vertices.last().is_some_and(|before| is_same_point(before, &vertex)) {
            repairs.insert(Repair::Repeats);
        } else {
            vertices.push(vertex);
        }
    }
    vertices
}

/// Moves vertices that lie in one strip to strip 0, on their side of the antimeridian. Returns false, without a change,
/// if they lie in several strips.
fn move_to_map(
    vertices: &mut [Vertex],
    sent: Option<&[Position]>,
    is_ring: bool,
    repairs: &mut BTreeSet<Repair>,
) -> bool {
    let mut reach: Option<(i32, i32)> = None;
    let ends = vertices.iter().skip(1).chain(vertices.first().filter(|_| is_ring));
    for (from, to) in vertices.iter().zip(ends) {
        if from.strip == 0 && to.strip == 0 && from.x.abs() < 180.0 && to.x.abs() < 180.0 {
            let (low, high) = reach.unwrap_or_default();
            reach = Some((low.min(0), high.max(0)));
        } else if !runs_along_antimeridian(from, to) {
            let (start, end) = end_strips(from, to);
            let (low, high) = reach.unwrap_or((start, start));
            reach = Some((low.min(start).min(end), high.max(start).max(end)));
        }
    }
    let strip = match reach {
        Some((low, high)) if low != high => return false,
        Some((low, _)) => low,
        // All edges run along the antimeridian.
        None => vertices.first().map_or(0, |first| first.strip),
    };
    for vertex in vertices {
        *vertex = Vertex { strip: 0, ..vertex.within(strip) };
        let sent = sent.and_then(|sent| sent.get(vertex.source as usize));
        if sent.is_some_and(|sent| (sent[0] - vertex.x).abs() > 1.0) {
            repairs.insert(Repair::Shifted);
        }
    }
    true
}

/// Returns a difference of longitudes as the shorter way around the globe.
fn shortest_turn(difference: f64) -> f64 {
    difference - 360.0 * (difference / 360.0).round()
}

fn is_same_point(one: &Vertex, other: &Vertex) -> bool {
    one.x == other.x && one.y == other.y
}
