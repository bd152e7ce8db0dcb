//! Rule 9: the split of a polygon or line at the antimeridian, into parts on the map.

use std::collections::HashMap;

use never::never;

use crate::antimeridian::chains::{PointSet, bits, join, split_ring};
use crate::antimeridian::{Vertex, Vertices, runs_along_antimeridian, split_edge};
use crate::intersection::Contact;
use crate::orientation::is_counterclockwise;
use crate::polyline::{Polyline, Polylines};
use crate::ring_nesting::enclosing_rings;
use crate::segment_graph::{Ring, SegmentGraph};
use crate::sweep::sweep;

/// Splits a valid polygon, its shell counterclockwise and its holes clockwise. Returns polygons, each as its shell and
/// holes.
pub(crate) fn split_polygon(polylines: &Polylines, rings: &[Polyline]) -> Vec<Vec<Vertices>> {
    let (mut shells, mut holes, mut chains) = (Vec::new(), Vec::new(), Vec::new());
    let (rings, contacts) = insert_contacts(polylines, rings);
    for (index, ring) in rings.into_iter().enumerate() {
        let of_ring = split_ring(&ring, &contacts);
        match (of_ring.is_empty(), index) {
            (false, _) => chains.extend(of_ring),
            (true, 0) => shells.push(ring),
            (true, _) => holes.push(ring),
        }
    }
    for ring in join(&chains).into_iter().flat_map(split_at_repeated_points) {
        let positions: Vec<_> = ring.iter().map(Vertex::position).collect();
        if is_counterclockwise(&positions) { shells.push(ring) } else { holes.push(ring) }
    }
    assign_holes(shells, holes)
}

/// Splits a line.
pub(crate) fn split_line(vertices: &[Vertex]) -> Vec<Vertices> {
    let mut lines: Vec<Vertices> = Vec::new();
    let mut line: Vertices = Vec::new();
    for (from, to) in vertices.iter().zip(vertices.iter().skip(1)) {
        if runs_along_antimeridian(from, to) {
            // It stays on the side where the line was before.
            let x = line.last().map_or(from.x, |last| last.x);
            if line.is_empty() {
                line.push(*from);
            }
            line.push(Vertex { x, ..*to });
        }
        split_edge(from, to, |piece| {
            if line.last().is_some_and(|last| last.position() != piece.from.position()) {
                lines.push(std::mem::take(&mut line));
            }
            if line.is_empty() {
                line.push(piece.from);
            }
            line.push(piece.to);
        });
    }
    lines.push(line);
    lines
}

/// Returns the rings with a vertex at each point where one touches another, and these points, as the split may
/// separate the rings there.
fn insert_contacts(polylines: &Polylines, rings: &[Polyline]) -> (Vec<Vertices>, PointSet) {
    let mut split: Vec<Vertices> = rings.iter().map(|ring| polylines.vertices(ring).to_vec()).collect();
    if rings.len() < 2 {
        return (split, PointSet::new());
    }
    let mut graph = SegmentGraph::default();
    for (index, ring) in (0_u32..).zip(rings) {
        graph.add_polyline(Ring::new(0, index, ring.counterclockwise), polylines, ring);
    }
    let contacts = sweep(&graph).contacts;
    let points = contacts.iter().map(|contact| bits(contact.at)).collect();
    let mut on_edges: Vec<_> = contacts.iter().filter_map(Contact::edge_interior).collect();
    on_edges.sort_unstable_by_key(|(edge, _)| *edge);
    for contacts in on_edges.chunk_by(|one, other| one.0.ring == other.0.ring) {
        let Some((edge, _)) = contacts.first() else { continue };
        let Some(ring) = split.get_mut(edge.ring as usize) else {
            never!("a contact of ring {} of {}", edge.ring, rings.len());
            continue;
        };
        let ends: Vec<Vertex> = ring.iter().skip(1).chain(ring.first()).copied().collect();
        let mut contacts = contacts.iter().peekable();
        let mut with_contacts = Vec::with_capacity(ring.len() + contacts.len());
        for (number, (from, to)) in (0_u32..).zip(ring.iter().zip(ends)) {
            with_contacts.push(*from);
            let mut on_edge: Vertices = Vec::new();
            while let Some((_, at)) = contacts.next_if(|(edge, _)| edge.edge == number) {
                split_edge(from, &to, |piece| on_edge.extend(piece.vertex_at(*at)));
            }
            let runs_east = from.unwrapped() < to.unwrapped();
            on_edge.sort_by(|one, other| {
                let order = one.unwrapped()[0].total_cmp(&other.unwrapped()[0]).then(one.y.total_cmp(&other.y));
                if runs_east { order } else { order.reverse() }
            });
            with_contacts.append(&mut on_edge);
        }
        *ring = with_contacts;
    }
    (split, points)
}

/// Splits a ring that passes through a point more than once into rings that touch there.
fn split_at_repeated_points(ring: Vertices) -> Vec<Vertices> {
    let mut rings = Vec::new();
    let mut open: Vertices = Vec::with_capacity(ring.len());
    let mut indices: HashMap<[u64; 2], usize> = HashMap::with_capacity(ring.len());
    for vertex in ring {
        let point = |vertex: &Vertex| bits(vertex.position());
        if let Some(start) = indices.get(&point(&vertex)).copied() {
            let closed = open.split_off(start);
            for vertex in &closed {
                indices.remove(&point(vertex));
            }
            rings.push(closed);
        }
        indices.insert(point(&vertex), open.len());
        open.push(vertex);
    }
    rings.push(open);
    rings.retain(|ring| ring.len() > 2);
    rings
}

/// Assigns each hole to the shell that encloses it.
fn assign_holes(shells: Vec<Vertices>, holes: Vec<Vertices>) -> Vec<Vec<Vertices>> {
    let count = shells.len();
    let mut polygons: Vec<Vec<Vertices>> = shells.into_iter().map(|shell| vec![shell]).collect();
    let enclosing = if count > 1 && !holes.is_empty() {
        let mut graph = SegmentGraph::default();
        for (part, ring) in (0_u32..).zip(polygons.iter().flatten().chain(&holes)) {
            graph.add(Ring::new(part, 0, (part as usize) < count), ring.iter().map(Vertex::position));
        }
        enclosing_rings(&graph, &sweep(&graph), &[])
    } else {
        Vec::new()
    };
    for (index, hole) in holes.into_iter().enumerate() {
        // A single shell encloses all holes.
        let shell = enclosing.get(count + index).map_or(0, |shell| *shell as usize);
        match polygons.get_mut(shell) {
            Some(polygon) => polygon.push(hole),
            None => never!("hole {index} lies in shell {shell} of {count}"),
        }
    }
    polygons
}
