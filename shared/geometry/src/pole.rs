//! Rule 10: a ring that runs once round the globe encloses a pole, and is closed along ±180 and ±90.

use crate::seam::{Vertex, crossing, runs_along_seam, strips};

/// Closes a ring that makes `winding` (1 or −1) turns, on the side of the equator where it lies. It then begins at ±180,
/// at its place there that is nearest to the pole, so that the way to the pole meets nothing of it.
pub(crate) fn close_round_pole(vertices: &mut Vec<Vertex>, winding: i32) -> Result<(), String> {
    let pole = match (vertices.iter().all(|vertex| vertex.y >= 0.0), vertices.iter().all(|vertex| vertex.y <= 0.0)) {
        (true, false) => 90.0,
        (false, true) => -90.0,
        _ => {
            return Err("the ring runs round the globe on no one side of the equator, so either pole could be inside"
                .to_owned());
        }
    };
    let Some(start) = nearest_at_seam(vertices, winding, pole) else {
        return Err("the ring runs round the globe but does not meet ±180".to_owned());
    };
    let mut closed = Vec::with_capacity(vertices.len() + 4);
    let strip = if winding > 0 { start.seam + 1 } else { start.seam };
    let from = start.vertex.within(strip);
    closed.push(from);
    let (before, after) = vertices.split_at_checked(start.next).unwrap_or((vertices, &[]));
    closed.extend(after.iter().copied());
    closed.extend(before.iter().map(|vertex| Vertex { turn: vertex.turn + winding, ..*vertex }));
    if start.is_vertex {
        closed.pop();
    }
    let across = Vertex { x: -from.x, ..from };
    closed.push(across);
    if from.y != pole {
        closed.push(Vertex { y: pole, ..across });
        closed.push(Vertex { y: pole, ..from });
    }
    *vertices = closed;
    Ok(())
}

struct Start {
    vertex: Vertex,
    seam: i32,
    /// The index of the vertex after it.
    next: usize,
    is_vertex: bool,
}

fn nearest_at_seam(vertices: &[Vertex], winding: i32, pole: f64) -> Option<Start> {
    let mut nearest: Option<Start> = None;
    let mut offer = |vertex: Vertex, seam: i32, next: usize, is_vertex: bool| {
        let distance = |vertex: &Vertex| (vertex.y - pole).abs();
        if nearest.as_ref().is_none_or(|nearest| distance(&vertex) < distance(&nearest.vertex)) {
            nearest = Some(Start { vertex, seam, next, is_vertex });
        }
    };
    let last = vertices.first().map(|first| Vertex { turn: first.turn + winding, ..*first });
    let ends = vertices.iter().skip(1).copied().chain(last);
    for (index, (from, to)) in vertices.iter().zip(ends).enumerate() {
        if let Some(seam) = from.seam() {
            offer(*from, seam, index + 1, true);
        }
        if !runs_along_seam(from, &to) {
            let (leaving, arriving) = strips(from, &to);
            for seam in leaving.min(arriving)..leaving.max(arriving) {
                offer(crossing(from, &to, seam), seam, index + 1, false);
            }
        }
    }
    nearest
}
