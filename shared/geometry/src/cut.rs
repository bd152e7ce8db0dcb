//! Rule 9: cuts a polygon or line at ±180, into parts that lie on the map.
//!
//! Each ring falls into chains that end at the seam. Along the seam, from south to north, inside and outside take turns,
//! so the ends of chains pair off, and the seam between the ends of a pair bounds a part.

use std::cmp::Ordering;

use crate::Position;
use crate::nest::containers;
use crate::orient::{Side, side};
use crate::plane::{Plane, Ring};
use crate::seam::{Vertex, runs_along_seam, stretches};
use crate::sweep::sweep;
use crate::trace::{Trace, Traces};

/// A ring on the map, without its closing vertex, or a line.
pub(crate) type Row = Vec<Vertex>;

/// The polygons, each its shell and holes, into which a polygon falls. Its shell runs counterclockwise, its holes
/// clockwise, and it keeps the rules.
pub(crate) fn cut_polygon(traces: &Traces, rings: &[Trace]) -> Vec<Vec<Row>> {
    let (mut shells, mut holes, mut chains) = (Vec::new(), Vec::new(), Vec::new());
    for (place, ring) in rings.iter().enumerate() {
        let whole = if place == 0 { &mut shells } else { &mut holes };
        match chains_of(traces, ring) {
            None => whole.push(traces.vertices(ring).to_vec()),
            Some(ring_chains) => {
                // What leaves the seam and returns to the same place is a ring that touches it there.
                let (rings, open): (Vec<Row>, Vec<Row>) = ring_chains.into_iter().partition(|chain| is_closed(chain));
                whole.extend(rings.into_iter().map(|mut ring| {
                    ring.pop();
                    ring
                }));
                chains.extend(open);
            }
        }
    }
    shells.splice(0..0, join(chains));
    assign(shells, holes)
}

/// The lines into which a line falls.
pub(crate) fn cut_line(vertices: &[Vertex]) -> Vec<Row> {
    let mut lines: Vec<Row> = Vec::new();
    let mut line: Row = Vec::new();
    for (from, to) in vertices.iter().zip(vertices.iter().skip(1)) {
        if runs_along_seam(from, to) {
            // On the side where the line was before.
            let x = line.last().map_or(from.x, |last| last.x);
            if line.is_empty() {
                line.push(*from);
            }
            line.push(Vertex { x, ..*to });
        }
        stretches(from, to, |stretch| {
            if line.last().is_some_and(|last| last.position() != stretch.from.position()) {
                lines.push(std::mem::take(&mut line));
            }
            if line.is_empty() {
                line.push(stretch.from);
            }
            line.push(stretch.to);
        });
    }
    lines.push(line);
    lines
}

/// The chains of a ring that meets the seam, each from the seam to the seam.
fn chains_of(traces: &Traces, ring: &Trace) -> Option<Vec<Row>> {
    let mut chains: Vec<Row> = Vec::new();
    let mut chain: Row = Vec::new();
    // What comes before the seam is first met belongs to the chain that is open at the end.
    let mut head: Option<Row> = None;
    for (from, to) in traces.edges(ring) {
        stretches(&from, &to, |stretch| {
            if chain.is_empty() {
                chain.push(stretch.from);
            }
            chain.push(stretch.to);
            if on_seam(&stretch.to) {
                let ended = std::mem::take(&mut chain);
                if head.is_none() && ended.first().is_some_and(|first| !on_seam(first)) {
                    head = Some(ended);
                } else {
                    chains.push(ended);
                }
            }
        });
    }
    if chains.is_empty() && head.is_none() {
        return None;
    }
    if let Some(head) = head {
        chain.pop();
        chain.extend(head);
        // The part with the first vertex is the first.
        chains.insert(0, chain);
    }
    Some(chains)
}

/// Joins chains along the seam to rings.
fn join(chains: Vec<Row>) -> Vec<Row> {
    let mut next: Vec<Option<usize>> = vec![None; chains.len()];
    for east in [true, false] {
        for pair in seam_ends(&chains, east).chunks(2) {
            let [south, north] = pair else { continue };
            // Inside lies to the left of the way along the seam: north at 180, south at -180.
            let (arriving, leaving) = if east { (south, north) } else { (north, south) };
            if !arriving.leaves && leaving.leaves {
                next.get_mut(arriving.chain).into_iter().for_each(|next| *next = Some(leaving.chain));
            }
        }
    }
    let mut rings = Vec::new();
    for start in 0..chains.len() {
        let mut ring: Row = Vec::new();
        let mut at = start;
        while let Some(following) = next.get_mut(at).and_then(Option::take) {
            for vertex in chains.get(at).into_iter().flatten() {
                if ring.last().is_none_or(|last| last.position() != vertex.position()) {
                    ring.push(*vertex);
                }
            }
            at = following;
        }
        if is_closed(&ring) {
            ring.pop();
        }
        if ring.len() > 2 {
            rings.push(ring);
        }
    }
    rings
}

/// The end of a chain at one side of the map.
struct SeamEnd {
    chain: usize,
    leaves: bool,
    at: Position,
    /// The vertex next to it.
    next: Position,
}

/// From south to north; of ends at one place, as they lie just beside the seam.
fn seam_ends(chains: &[Row], east: bool) -> Vec<SeamEnd> {
    let mut ends = Vec::new();
    for (chain, vertices) in chains.iter().enumerate() {
        if let ([first, second, ..], [.., before, last]) = (vertices.as_slice(), vertices.as_slice()) {
            ends.push(SeamEnd { chain, leaves: true, at: first.position(), next: second.position() });
            ends.push(SeamEnd { chain, leaves: false, at: last.position(), next: before.position() });
        }
    }
    ends.retain(|end| (end.at[0] > 0.0) == east);
    ends.sort_by(|one, other| {
        let order = match side(one.at, one.next, other.next) {
            Side::On => Ordering::Equal,
            Side::Left => Ordering::Less,
            Side::Right => Ordering::Greater,
        };
        one.at[1].total_cmp(&other.at[1]).then(if east { order.reverse() } else { order })
    });
    ends
}

/// Gives each hole to the shell that it lies in.
fn assign(shells: Vec<Row>, holes: Vec<Row>) -> Vec<Vec<Row>> {
    let count = shells.len();
    let mut polygons: Vec<Vec<Row>> = shells.into_iter().map(|shell| vec![shell]).collect();
    let within = if count > 1 && !holes.is_empty() {
        let mut plane = Plane::default();
        for (part, ring) in (0_u32..).zip(polygons.iter().flatten().chain(&holes)) {
            let counterclockwise = (part as usize) < count;
            let ring_of = Ring { part, place: 0, counterclockwise, edges: 0 };
            plane.add(ring_of, ring.iter().map(Vertex::position));
        }
        containers(&plane, &sweep(&plane), &[])
    } else {
        Vec::new()
    };
    for (index, hole) in holes.into_iter().enumerate() {
        let shell = within.get(count + index).map_or(0, |shell| *shell as usize);
        if let Some(polygon) = polygons.get_mut(shell) {
            polygon.push(hole);
        }
    }
    polygons
}

fn on_seam(vertex: &Vertex) -> bool {
    vertex.x.abs() == 180.0
}

fn is_closed(row: &[Vertex]) -> bool {
    matches!(row, [first, .., last] if first.position() == last.position())
}
