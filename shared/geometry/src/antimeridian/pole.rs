//! Rule 10: rings that run once around the globe, and so meet the antimeridian wherever they start.
//!
//! A single one encloses a pole, and is closed along ±180 and ±90. Two of one polygon have its interior between them.

use never::never;

use crate::antimeridian::{Vertex, antimeridian_crossing, end_strips, runs_along_antimeridian};

/// Closes a ring that makes `winding` (1 or −1) turns, around the pole of its hemisphere.
///
/// The closed ring starts at the ring's point on the antimeridian that is nearest to the pole, so the way to the pole
/// does not meet the ring.
pub(crate) fn close_around_pole(ring: &[Vertex], winding: i32) -> Result<Vec<Vertex>, String> {
    let pole = match (ring.iter().all(|vertex| vertex.y >= 0.0), ring.iter().all(|vertex| vertex.y <= 0.0)) {
        (true, false) => 90.0,
        (false, true) => -90.0,
        _ => {
            return Err(
                "the ring runs around the globe and does not lie on one side of the equator, so it is unclear \
                        which pole it encloses"
                    .to_owned(),
            );
        }
    };
    let distance = |point: &AntimeridianPoint| (point.at.y - pole).abs();
    let points = antimeridian_points(ring, winding).into_iter();
    let Some(start) = points.min_by(|one, other| distance(one).total_cmp(&distance(other))) else {
        never!("a ring around the globe does not meet the antimeridian");
        return Err("the ring runs around the globe and cannot be closed".to_owned());
    };
    let mut closed = cut_open(ring, winding, &start);
    if let (Some(first), Some(last)) = (closed.first().copied(), closed.last().copied())
        && first.y != pole
    {
        closed.push(Vertex { y: pole, ..last });
        closed.push(Vertex { y: pole, ..first });
    }
    Ok(closed)
}

/// Joins two rings, each with its turns around the globe, to one ring around the area between them. The ring goes from
/// one to the other along the antimeridian, where no point of them lies between.
pub(crate) fn join_around_globe(one: (&[Vertex], i32), other: (&[Vertex], i32)) -> Vec<Vertex> {
    let eastward = |(ring, winding): (&[Vertex], i32)| -> Vec<Vertex> {
        if winding > 0 { ring.to_vec() } else { ring.iter().rev().copied().collect() }
    };
    let rings = [eastward(one), eastward(other)];
    let mut points: Vec<(&[Vertex], usize, AntimeridianPoint)> = Vec::new();
    for (index, ring) in rings.iter().enumerate() {
        points.extend(antimeridian_points(ring, 1).into_iter().map(|point| (ring.as_slice(), index, point)));
    }
    points.sort_by(|one, other| one.2.at.y.total_cmp(&other.2.at.y));
    let Some([south, north]) = points.array_windows().find(|[south, north]| south.1 != north.1) else {
        never!("of two rings around the globe, one does not meet the antimeridian");
        return Vec::new();
    };
    let [out, back] = [south, north].map(|(ring, _, point)| cut_open(ring, 1, point));
    let shift = out.first().zip(back.first()).map_or(0, |(out, back)| out.strip - back.strip);
    let back = back.into_iter().rev().map(|vertex| Vertex { strip: vertex.strip + shift, ..vertex });
    out.into_iter().chain(back).collect()
}

/// A point of a ring on the antimeridian.
struct AntimeridianPoint {
    at: Vertex,
    antimeridian: i32,
    /// The index of the vertex after it.
    next: usize,
    is_vertex: bool,
}

fn antimeridian_points(ring: &[Vertex], winding: i32) -> Vec<AntimeridianPoint> {
    let mut points = Vec::new();
    let last = ring.first().map(|first| Vertex { strip: first.strip + winding, ..*first });
    let ends = ring.iter().skip(1).copied().chain(last);
    for (index, (from, to)) in ring.iter().zip(ends).enumerate() {
        let next = index + 1;
        if let Some(antimeridian) = from.antimeridian() {
            points.push(AntimeridianPoint { at: *from, antimeridian, next, is_vertex: true });
        }
        if !runs_along_antimeridian(from, &to) {
            let (start, end) = end_strips(from, &to);
            for antimeridian in start.min(end)..start.max(end) {
                let at = antimeridian_crossing(from, &to, antimeridian);
                points.push(AntimeridianPoint { at, antimeridian, next, is_vertex: false });
            }
        }
    }
    points
}

/// Returns the ring, cut open at a point, from one side of a strip to the other, with both ends at the same latitude.
fn cut_open(ring: &[Vertex], winding: i32, start: &AntimeridianPoint) -> Vec<Vertex> {
    let strip = if winding > 0 { start.antimeridian + 1 } else { start.antimeridian };
    let first = start.at.within(strip);
    let (before, after) = ring.split_at_checked(start.next).unwrap_or_else(|| {
        never!("vertex {} of {}", start.next, ring.len());
        (ring, &[])
    });
    let mut open = Vec::with_capacity(ring.len() + 4);
    open.push(first);
    open.extend_from_slice(after);
    open.extend(before.iter().map(|vertex| Vertex { strip: vertex.strip + winding, ..*vertex }));
    if start.is_vertex {
        open.pop();
    }
    open.push(Vertex { x: -first.x, ..first });
    open
}
