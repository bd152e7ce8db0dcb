//! Rules 4 and 9 for one ring or line: its vertices in the unwrapped plane, closed, without repeats.

use std::collections::BTreeSet;
use std::ops::Range;

use crate::orient::{is_counterclockwise, on_one_line};
use crate::pole::close_round_pole;
use crate::seam::{Vertex, onto_map, runs_along_seam, strips};
use crate::{Position, Repair};

/// The widest gap between a ring's ends that is closed, in degrees.
const GAP: f64 = 1e-7;

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

    /// Turns a ring round; its first vertex stays the first.
    pub(crate) fn reverse(&mut self, trace: &mut Trace) {
        if let Some([_, rest @ ..]) = self.vertices.get_mut(trace.vertices.clone()) {
            rest.reverse();
        }
        trace.counterclockwise = !trace.counterclockwise;
    }

    /// Traces a ring, or says what is wrong with it.
    pub(crate) fn ring(
        &mut self,
        positions: &[Position],
        altitudes: &[f64],
        repairs: &mut BTreeSet<Repair>,
    ) -> Result<Trace, String> {
        let (Some(first), Some(([last_x, last_y], open))) = (positions.first(), positions.split_last()) else {
            return Err("a ring has at least 4 positions".to_owned());
        };
        let gap = (turned(last_x - first[0]).abs()).max((last_y - first[1]).abs());
        if gap > GAP || open.is_empty() {
            return Err("the ring is not closed: its last position is not its first".to_owned());
        }
        if positions.last() != Some(first) || altitudes.first() != altitudes.last() {
            repairs.insert(Repair::Closed);
        }
        let start = self.vertices.len();
        self.extend(open, altitudes, repairs);
        if self.vertices.len() > start + 1
            && self.vertices.last().zip(self.vertices.get(start)).is_some_and(|(last, first)| same_place(last, first))
        {
            self.vertices.pop();
            repairs.insert(Repair::Repeats);
        }
        let mut vertices = self.vertices.split_off(start);
        let closing = u32::try_from(open.len()).unwrap_or(u32::MAX);
        let traced = ring_of(&mut vertices, positions, repairs);
        self.vertices.append(&mut vertices);
        let (crossing, counterclockwise) = traced.inspect_err(|_| self.vertices.truncate(start))?;
        Ok(Trace { vertices: start..self.vertices.len(), closing, crossing, counterclockwise })
    }

    /// Traces a line.
    pub(crate) fn line(
        &mut self,
        positions: &[Position],
        altitudes: &[f64],
        repairs: &mut BTreeSet<Repair>,
    ) -> Result<Trace, String> {
        let start = self.vertices.len();
        self.extend(positions, altitudes, repairs);
        let vertices = self.vertices.get_mut(start..).unwrap_or_default();
        if vertices.len() < 2 {
            self.vertices.truncate(start);
            return Err("a line has at least 2 different positions".to_owned());
        }
        unwrap(vertices, true, false);
        let crossing = settle(vertices, positions, false, repairs);
        let closing = u32::try_from(positions.len()).unwrap_or(u32::MAX);
        Ok(Trace { vertices: start..self.vertices.len(), closing, crossing, counterclockwise: false })
    }

    /// Adds positions that do not repeat the one before.
    fn extend(&mut self, positions: &[Position], altitudes: &[f64], repairs: &mut BTreeSet<Repair>) {
        let start = self.vertices.len();
        let mut altitudes = altitudes.iter();
        for (index, [longitude, latitude]) in positions.iter().enumerate() {
            let z = altitudes.next().copied().unwrap_or(0.0);
            let source = u32::try_from(index).unwrap_or(u32::MAX);
            let vertex = Vertex { x: onto_map(*longitude), y: *latitude, z, turn: 0, source };
            let before = self.vertices.get(start..).unwrap_or_default().last();
            if before.is_some_and(|before| same_place(before, &vertex)) {
                repairs.insert(Repair::Repeats);
            } else {
                self.vertices.push(vertex);
            }
        }
    }
}

/// Whether the ring crosses ±180, and whether it runs counterclockwise.
fn ring_of(
    vertices: &mut Vec<Vertex>,
    positions: &[Position],
    repairs: &mut BTreeSet<Repair>,
) -> Result<(bool, bool), String> {
    if vertices.len() < 3 {
        return Err("a ring has at least 4 positions, without repeats".to_owned());
    }
    let mut winding = unwrap(vertices, true, true);
    if winding != 0 && unwrap(vertices, false, true) == 0 {
        // -180 and 180 were written for one place: read as drawn, the ring would not even close.
        winding = 0;
        vertices.dedup_by(|next, before| next.unwrapped() == before.unwrapped());
        repairs.insert(Repair::Repeats);
    } else if winding != 0 {
        unwrap(vertices, true, true);
    }
    match winding {
        0 => {}
        1 | -1 => {
            close_round_pole(vertices, winding)?;
            repairs.insert(Repair::Pole);
        }
        _ => return Err("the ring runs round the globe more than once, and so crosses itself".to_owned()),
    }
    let plane: Vec<_> = vertices.iter().map(Vertex::unwrapped).collect();
    if on_one_line(plane.iter().copied()) {
        return Err("the ring has no area: all its positions lie on one line".to_owned());
    }
    let crossing = settle(vertices, positions, true, repairs);
    Ok((crossing, is_counterclockwise(&plane)))
}

/// Sets each vertex's turn: a step over 180° takes the short way round, but is as drawn along a pole and, if `drawn`,
/// from −180 to 180 on one latitude. The turns that a ring has made when it is back at its first vertex.
fn unwrap(vertices: &mut [Vertex], drawn: bool, ring: bool) -> i32 {
    let turn_after = |before: &Vertex, next: &Vertex| {
        let step = next.x - before.x;
        let level = before.y == next.y && (next.y.abs() == 90.0 || (drawn && step.abs() == 360.0));
        if step.abs() <= 180.0 || level {
            before.turn
        } else if step > 0.0 {
            before.turn - 1
        } else {
            before.turn + 1
        }
    };
    let mut vertices = vertices.iter_mut();
    let Some(first) = vertices.next() else { return 0 };
    first.turn = 0;
    let first = *first;
    let mut before = first;
    for vertex in vertices {
        vertex.turn = turn_after(&before, vertex);
        before = *vertex;
    }
    if ring { turn_after(&before, &first) } else { 0 }
}

/// Whether it lies in several strips. What lies in one is moved to strip 0, to the side of ±180 that it lies on.
fn settle(vertices: &mut [Vertex], positions: &[Position], ring: bool, repairs: &mut BTreeSet<Repair>) -> bool {
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
        if positions.get(vertex.source as usize).is_some_and(|sent| (sent[0] - vertex.x).abs() > 1.0) {
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
