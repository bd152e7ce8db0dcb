//! Rule 10: rings that run once round the globe, and so meet ±180 wherever they begin.
//!
//! One by itself encloses a pole, and is closed along ±180 and ±90. Two of one polygon have its interior between them.

use crate::seam::{Vertex, crossing, runs_along_seam, strips};

/// Closes a ring that makes `winding` (1 or −1) turns, on the side of the equator where it lies. It then begins at ±180,
/// at its place there that is nearest to the pole, so that the way to the pole meets nothing of it.
pub(crate) fn close_round_pole(ring: &[Vertex], winding: i32) -> Result<Vec<Vertex>, String> {
    let pole = match (ring.iter().all(|vertex| vertex.y >= 0.0), ring.iter().all(|vertex| vertex.y <= 0.0)) {
        (true, false) => 90.0,
        (false, true) => -90.0,
        _ => {
            return Err("the ring runs round the globe on no one side of the equator, so either pole could be inside"
                .to_owned());
        }
    };
    let distance = |meets: &Meets| (meets.at.y - pole).abs();
    let nearest = meets_seam(ring, winding).into_iter().min_by(|one, other| distance(one).total_cmp(&distance(other)));
    let mut closed = nearest.map(|start| from_seam(ring, winding, &start)).unwrap_or_default();
    if let (Some(first), Some(last)) = (closed.first().copied(), closed.last().copied())
        && first.y != pole
    {
        closed.push(Vertex { y: pole, ..last });
        closed.push(Vertex { y: pole, ..first });
    }
    Ok(closed)
}

/// The ring round what lies between two rings, each with the turns that it makes. It goes from one to the other along
/// ±180, where nothing of them is between.
pub(crate) fn join_round_globe(one: (&[Vertex], i32), other: (&[Vertex], i32)) -> Vec<Vertex> {
    // Both eastward.
    let east = |(ring, winding): (&[Vertex], i32)| -> Vec<Vertex> {
        if winding > 0 { ring.to_vec() } else { ring.iter().rev().copied().collect() }
    };
    let rings = [east(one), east(other)];
    let mut starts: Vec<(usize, Meets)> = Vec::new();
    for (index, ring) in rings.iter().enumerate() {
        starts.extend(meets_seam(ring, 1).into_iter().map(|start| (index, start)));
    }
    starts.sort_by(|one, other| one.1.at.y.total_cmp(&other.1.at.y));
    let Some([south, north]) = starts.array_windows().find(|[south, north]| south.0 != north.0) else {
        return Vec::new();
    };
    let [out, back] = [south, north]
        .map(|(index, start)| rings.get(*index).map(|ring| from_seam(ring, 1, start)).unwrap_or_default());
    let shift = out.first().zip(back.first()).map_or(0, |(out, back)| out.turn - back.turn);
    let back = back.into_iter().rev().map(|vertex| Vertex { turn: vertex.turn + shift, ..vertex });
    out.into_iter().chain(back).collect()
}

/// A place where a ring meets the seam.
struct Meets {
    at: Vertex,
    seam: i32,
    /// The index of the vertex after it.
    next: usize,
    is_vertex: bool,
}

fn meets_seam(ring: &[Vertex], winding: i32) -> Vec<Meets> {
    let mut places = Vec::new();
    let last = ring.first().map(|first| Vertex { turn: first.turn + winding, ..*first });
    let ends = ring.iter().skip(1).copied().chain(last);
    for (index, (from, to)) in ring.iter().zip(ends).enumerate() {
        let next = index + 1;
        if let Some(seam) = from.seam() {
            places.push(Meets { at: *from, seam, next, is_vertex: true });
        }
        if !runs_along_seam(from, &to) {
            let (leaving, arriving) = strips(from, &to);
            for seam in leaving.min(arriving)..leaving.max(arriving) {
                places.push(Meets { at: crossing(from, &to, seam), seam, next, is_vertex: false });
            }
        }
    }
    places
}

/// The ring from one side of a strip to the other, both ends at the same latitude.
fn from_seam(ring: &[Vertex], winding: i32, start: &Meets) -> Vec<Vertex> {
    let strip = if winding > 0 { start.seam + 1 } else { start.seam };
    let first = start.at.within(strip);
    let (before, after) = ring.split_at_checked(start.next).unwrap_or((ring, &[]));
    let mut whole = Vec::with_capacity(ring.len() + 4);
    whole.push(first);
    whole.extend_from_slice(after);
    whole.extend(before.iter().map(|vertex| Vertex { turn: vertex.turn + winding, ..*vertex }));
    if start.is_vertex {
        whole.pop();
    }
    whole.push(Vertex { x: -first.x, ..first });
    whole
}
