//! Rule 9: which way round each step of a ring or line goes.
//!
//! A step over 180° of longitude takes the short way round, but is as drawn along a pole and from −180 to 180 on one
//! latitude. Stitched files have the latter also where they mean one place, or where a ring goes round a pole; as drawn,
//! such a ring would cross itself or not close, so it is not read so.

use std::collections::BTreeSet;

use crate::Repair;
use crate::seam::Vertex;

/// Sets each vertex's turn. The turns that the ring has made when it is back at its first vertex.
pub(crate) fn unwrap_ring(ring: &mut Vec<Vertex>, repairs: &mut BTreeSet<Repair>) -> i32 {
    let drawn = turns(ring, true, true);
    let mut winding = drawn;
    if drawn != 0 || crosses_as_drawn(ring) {
        winding = turns(ring, false, true);
        if winding != 0 && !crosses_as_drawn(ring) {
            winding = turns(ring, true, true);
        }
    }
    let before = ring.len();
    ring.dedup_by(|next, before| next.unwrapped() == before.unwrapped());
    let turned = ring.first().map(|first| Vertex { turn: first.turn + winding, ..*first }.unwrapped());
    if ring.len() > 1 && turned == ring.last().map(Vertex::unwrapped) {
        ring.pop();
    }
    if winding == 0 {
        drop_spikes_along_seam(ring);
    }
    if ring.len() < before {
        repairs.insert(Repair::Repeats);
    }
    winding
}

/// Sets each vertex's turn.
pub(crate) fn unwrap_line(line: &mut [Vertex]) {
    turns(line, true, false);
}

/// Whether a step from −180 to 180 on one latitude meets the ring: it has the ring on both sides of it, or goes on from,
/// or into, another edge on that latitude.
fn crosses_as_drawn(ring: &[Vertex]) -> bool {
    let (south, north) = ring
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(south, north), vertex| (south.min(vertex.y), north.max(vertex.y)));
    let on_latitude = |vertex: &Vertex, y: f64| vertex.y == y && vertex.x.abs() < 180.0;
    let each = || ring.iter().cycle();
    each().zip(each().skip(1)).zip(each().skip(2).zip(each().skip(3))).take(ring.len()).any(
        |((before, from), (to, after))| {
            let level = (to.x - from.x).abs() == 360.0 && from.y == to.y && from.y.abs() < 90.0;
            level && ((south < from.y && from.y < north) || on_latitude(before, from.y) || on_latitude(after, from.y))
        },
    )
}

fn turns(vertices: &mut [Vertex], drawn: bool, ring: bool) -> i32 {
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

/// What runs along the seam and back is left by stitching and bounds nothing.
fn drop_spikes_along_seam(ring: &mut Vec<Vertex>) {
    let is_spike = |before: &Vertex, tip: &Vertex, after: &Vertex| {
        let seam = tip.seam();
        seam.is_some()
            && seam == before.seam()
            && seam == after.seam()
            && (tip.y > before.y.max(after.y) || tip.y < before.y.min(after.y))
    };
    let mut kept: Vec<Vertex> = Vec::with_capacity(ring.len());
    for vertex in ring.drain(..) {
        while let [.., before, tip] = kept.as_slice()
            && is_spike(before, tip, &vertex)
        {
            kept.pop();
        }
        if kept.last().is_none_or(|last| last.unwrapped() != vertex.unwrapped()) {
            kept.push(vertex);
        }
    }
    // The same over the place where the ring begins.
    let mut start = 0;
    while let Some([first, second, .., before, last]) = kept.get(start..) {
        if is_spike(before, last, first) {
            kept.pop();
        } else if is_spike(last, first, second) {
            start += 1;
        } else {
            break;
        }
    }
    *ring = kept.split_off(start);
}
