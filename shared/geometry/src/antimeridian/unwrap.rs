//! Rule 9: unwraps the longitudes of a ring or line, that is, decides in which direction each edge runs.
//!
//! An edge over 180° of longitude takes the shorter way around the globe. Two kinds of edges run as drawn instead:
//! edges along a pole, and edges from −180 to 180 on one latitude.
//!
//! Files that were stitched together also have edges of the second kind where both ends mean one point, or where a
//! ring runs around a pole. As drawn, such a ring would cross itself or not close. It is read with the shorter way.

use std::collections::BTreeSet;

use crate::Repair;
use crate::antimeridian::Vertex;

/// Sets the strip of each vertex of a ring. Returns the number of turns around the globe that the ring makes.
pub(crate) fn unwrap_ring(ring: &mut Vec<Vertex>, repairs: &mut BTreeSet<Repair>) -> i32 {
    let drawn = set_strips(ring, true, true);
    let mut winding = drawn;
    if drawn != 0 || drawn_edge_meets_ring(ring) {
        winding = set_strips(ring, false, true);
        if winding != 0 && !drawn_edge_meets_ring(ring) {
            winding = set_strips(ring, true, true);
        }
    }
    let before = ring.len();
    ring.dedup_by(|next, before| next.unwrapped() == before.unwrapped());
    let closing = ring.first().map(|first| Vertex { strip: first.strip + winding, ..*first }.unwrapped());
    if ring.len() > 1 && closing == ring.last().map(Vertex::unwrapped) {
        ring.pop();
    }
    if winding == 0 {
        remove_antimeridian_spikes(ring);
    }
    if ring.len() < before {
        repairs.insert(Repair::Repeats);
    }
    winding
}

/// Sets the strip of each vertex of a line.
pub(crate) fn unwrap_line(line: &mut [Vertex]) {
    set_strips(line, true, false);
}

/// Returns whether an edge that is drawn from −180 to 180 on one latitude meets the rest of the ring: the ring lies on
/// both sides of it, or an edge before or after it runs on the same latitude.
fn drawn_edge_meets_ring(ring: &[Vertex]) -> bool {
    let (south, north) = ring
        .iter()
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(south, north), vertex| (south.min(vertex.y), north.max(vertex.y)));
    let on_latitude = |vertex: &Vertex, y: f64| vertex.y == y && vertex.x.abs() < 180.0;
    let each = || ring.iter().cycle();
    each().zip(each().skip(1)).zip(each().skip(2).zip(each().skip(3))).take(ring.len()).any(
        |((before, from), (to, after))| {
            let is_drawn = (to.x - from.x).abs() == 360.0 && from.y == to.y && from.y.abs() < 90.0;
            is_drawn
                && ((south < from.y && from.y < north) || on_latitude(before, from.y) || on_latitude(after, from.y))
        },
    )
}

/// Sets the strips, with edges from −180 to 180 on one latitude as drawn or not. Returns the winding of a ring.
fn set_strips(vertices: &mut [Vertex], as_drawn: bool, is_ring: bool) -> i32 {
    let strip_after = |before: &Vertex, next: &Vertex| {
        let step = next.x - before.x;
        let is_drawn = before.y == next.y && (next.y.abs() == 90.0 || (as_drawn && step.abs() == 360.0));
        if step.abs() <= 180.0 || is_drawn {
            before.strip
        } else if step > 0.0 {
            before.strip - 1
        } else {
            before.strip + 1
        }
    };
    let mut vertices = vertices.iter_mut();
    let Some(first) = vertices.next() else { return 0 };
    first.strip = 0;
    let first = *first;
    let mut before = first;
    for vertex in vertices {
        vertex.strip = strip_after(&before, vertex);
        before = *vertex;
    }
    if is_ring { strip_after(&before, &first) } else { 0 }
}

/// Removes spikes along the antimeridian. Stitching leaves them, and they enclose nothing.
fn remove_antimeridian_spikes(ring: &mut Vec<Vertex>) {
    let is_spike = |before: &Vertex, tip: &Vertex, after: &Vertex| {
        let antimeridian = tip.antimeridian();
        antimeridian.is_some()
            && antimeridian == before.antimeridian()
            && antimeridian == after.antimeridian()
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
    // A spike may also lie over the start of the ring.
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
