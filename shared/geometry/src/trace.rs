//! Rules 4 and 9 for one ring or line: its vertices in the unwrapped plane, closed, without repeats.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::orient::{is_counterclockwise, on_one_line};
use crate::pole::{close_round_pole, join_round_globe};
use crate::seam::{Vertex, onto_map, runs_along_seam, strips};
use crate::unwrap::{unwrap_line, unwrap_ring};
use crate::{Position, Repair};

/// The widest gap between a ring's ends that is closed, in degrees.
const GAP: f64 = 1e-7;

const TOO_FEW: &str = "a ring has at least 4 positions, without repeats";

/// The traced rings or lines of a shape, in one row of vertices.
#[derive(Debug, Default)]
pub(crate) struct Traces {
    vertices: Vec<Vertex>,
}

/// One traced ring, without its closing vertex, or line.
#[derive(Clone, Debug)]
pub(crate) struct Trace {
    vertices: Range<usize>,
    /// The index of the closing position as sent.
    closing: u32,
    /// The turns of a ring that runs round the globe and is not closed yet.
    pub winding: i32,
    /// It lies in more than one strip and must be cut. If not, its vertices are those of strip 0.
    pub crossing: bool,
    /// Of a ring that does not cross itself.
    pub counterclockwise: bool,
}

impl Traces {
    pub(crate) fn with_capacity(vertices: usize) -> Self {
        Self { vertices: Vec::with_capacity(vertices) }
    }

    pub(crate) fn vertices(&self, trace: &Trace) -> &[Vertex] {
        self.vertices.get(trace.vertices.clone()).unwrap_or_default()
    }

    /// The edges of a ring, the closing one last, whose end has the source of the closing position.
    pub(crate) fn edges(&self, trace: &Trace) -> impl Iterator<Item = (Vertex, Vertex)> + '_ {
        let vertices = self.vertices(trace);
        let closing = trace.closing;
        let ends = vertices.iter().skip(1).copied();
        let last = vertices.first().map(|first| Vertex { source: closing, ..*first });
        vertices.iter().copied().zip(ends.chain(last))
    }

    /// The index, as sent, of the position at which an edge of a ring ends.
    pub(crate) fn edge_end(&self, trace: &Trace, edge: usize) -> u32 {
        self.vertices(trace).get(edge + 1).map_or(trace.closing, |end| end.source)
    }

    /// Turns a ring round; its first vertex stays the first.
    pub(crate) fn reverse(&mut self, trace: &mut Trace) {
        if let Some([_, rest @ ..]) = self.vertices.get_mut(trace.vertices.clone()) {
            rest.reverse();
        }
        trace.counterclockwise = !trace.counterclockwise;
    }

    /// Traces a ring, or says what is wrong with it. One that runs round the globe is not yet closed.
    pub(crate) fn ring(
        &mut self,
        positions: &[Position],
        altitudes: &[f64],
        repairs: &mut BTreeSet<Repair>,
    ) -> Result<Trace, String> {
        let (Some(first), Some(([last_x, last_y], open))) = (positions.first(), positions.split_last()) else {
            return Err(TOO_FEW.to_owned());
        };
        let gap = (turned(last_x - first[0]).abs()).max((last_y - first[1]).abs());
        if gap > GAP {
            return Err("the ring is not closed: its last position is not its first".to_owned());
        }
        if positions.last() != Some(first) || altitudes.first() != altitudes.last() {
            repairs.insert(Repair::Closed);
        }
        let mut vertices = vertices_of(open, altitudes, repairs);
        if matches!(vertices.as_slice(), [first, .., last] if same_place(first, last)) {
            vertices.pop();
            repairs.insert(Repair::Repeats);
        }
        let winding = unwrap_ring(&mut vertices, repairs);
        if vertices.len() < 3 {
            return Err(TOO_FEW.to_owned());
        }
        let closing = u32::try_from(open.len()).unwrap_or(u32::MAX);
        match winding {
            0 => self.add(vertices, closing, Some(positions), repairs),
            1 | -1 => {
                let start = self.vertices.len();
                self.vertices.append(&mut vertices);
                let vertices = start..self.vertices.len();
                Ok(Trace { vertices, closing, winding, crossing: false, counterclockwise: true })
            }
            _ => Err("the ring runs round the globe more than once, and so crosses itself".to_owned()),
        }
    }

    /// Closes a ring that runs round the globe, round a pole.
    pub(crate) fn close(&mut self, ring: &Trace, repairs: &mut BTreeSet<Repair>) -> Result<Trace, String> {
        repairs.insert(Repair::Pole);
        self.add(close_round_pole(self.vertices(ring), ring.winding)?, ring.closing, None, repairs)
    }

    /// Joins two that run round the globe to the ring round what lies between them.
    pub(crate) fn join(&mut self, one: &Trace, other: &Trace, repairs: &mut BTreeSet<Repair>) -> Result<Trace, String> {
        repairs.insert(Repair::Pole);
        // Faults are told at the first ring, whose positions these are not.
        let stranger = |vertex: &Vertex| Vertex { source: one.closing, ..*vertex };
        let strangers: Vec<_> = self.vertices(other).iter().map(stranger).collect();
        let joined = join_round_globe((self.vertices(one), one.winding), (&strangers, other.winding));
        self.add(joined, one.closing, None, repairs)
    }

    /// Traces a line.
    pub(crate) fn line(
        &mut self,
        positions: &[Position],
        altitudes: &[f64],
        repairs: &mut BTreeSet<Repair>,
    ) -> Result<Trace, String> {
        let mut vertices = vertices_of(positions, altitudes, repairs);
        if vertices.len() < 2 {
            return Err("a line has at least 2 different positions".to_owned());
        }
        unwrap_line(&mut vertices);
        let crossing = settle(&mut vertices, Some(positions), false, repairs);
        let start = self.vertices.len();
        self.vertices.append(&mut vertices);
        Ok(Trace { vertices: start..self.vertices.len(), closing: 0, winding: 0, crossing, counterclockwise: false })
    }

    /// Adds a closed ring. `sent` are its positions if each vertex is one of them.
    fn add(
        &mut self,
        mut ring: Vec<Vertex>,
        closing: u32,
        sent: Option<&[Position]>,
        repairs: &mut BTreeSet<Repair>,
    ) -> Result<Trace, String> {
        let plane: Vec<_> = ring.iter().map(Vertex::unwrapped).collect();
        if on_one_line(plane.iter().copied()) {
            return Err("the ring has no area: all its positions lie on one line".to_owned());
        }
        let crossing = settle(&mut ring, sent, true, repairs);
        let start = self.vertices.len();
        self.vertices.append(&mut ring);
        let counterclockwise = is_counterclockwise(&plane);
        Ok(Trace { vertices: start..self.vertices.len(), closing, winding: 0, crossing, counterclockwise })
    }
}

/// The positions that do not repeat the one before.
fn vertices_of(positions: &[Position], altitudes: &[f64], repairs: &mut BTreeSet<Repair>) -> Vec<Vertex> {
    let mut vertices: Vec<Vertex> = Vec::with_capacity(positions.len());
    let mut altitudes = altitudes.iter();
    for (source, [longitude, latitude]) in (0_u32..).zip(positions) {
        let z = altitudes.next().copied().unwrap_or(0.0);
        let vertex = Vertex { x: onto_map(*longitude), y: *latitude, z, turn: 0, source };
        if vertices.last().is_some_and(|before| same_place(before, &vertex)) {
            repairs.insert(Repair::Repeats);
        } else {
            vertices.push(vertex);
        }
    }
    vertices
}

/// Whether it lies in several strips. What lies in one is moved to strip 0, to the side of ±180 that it lies on.
fn settle(vertices: &mut [Vertex], sent: Option<&[Position]>, ring: bool, repairs: &mut BTreeSet<Repair>) -> bool {
    let mut reach: Option<(i32, i32)> = None;
    let ends = vertices.iter().skip(1).chain(vertices.first().filter(|_| ring));
    for (from, to) in vertices.iter().zip(ends) {
        if from.turn == 0 && to.turn == 0 && from.x.abs() < 180.0 && to.x.abs() < 180.0 {
            let (low, high) = reach.unwrap_or_default();
            reach = Some((low.min(0), high.max(0)));
        } else if !runs_along_seam(from, to) {
            let (leaving, arriving) = strips(from, to);
            let (low, high) = reach.unwrap_or((leaving, leaving));
            reach = Some((low.min(leaving).min(arriving), high.max(leaving).max(arriving)));
        }
    }
    let strip = match reach {
        Some((low, high)) if low != high => return true,
        Some((low, _)) => low,
        None => vertices.first().map_or(0, |first| first.turn),
    };
    for vertex in vertices {
        *vertex = Vertex { turn: 0, ..vertex.within(strip) };
        let sent = sent.and_then(|sent| sent.get(vertex.source as usize));
        if sent.is_some_and(|sent| (sent[0] - vertex.x).abs() > 1.0) {
            repairs.insert(Repair::Shifted);
        }
    }
    false
}

/// A difference of longitudes the short way round.
fn turned(step: f64) -> f64 {
    step - 360.0 * (step / 360.0).round()
}

fn same_place(one: &Vertex, other: &Vertex) -> bool {
    one.x == other.x && one.y == other.y
}
