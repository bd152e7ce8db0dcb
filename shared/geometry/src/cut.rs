//! Rule 9: cuts a polygon or line at ±180, into parts that lie on the map.

use std::collections::HashMap;

use crate::chain::{Places, bits, chains_of, join};
use crate::meeting::Contact;
use crate::nest::containers;
use crate::orient::is_counterclockwise;
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
    let (rings, contacts) = with_contacts(traces, rings);
    for (place, ring) in rings.into_iter().enumerate() {
        let of_ring = chains_of(&ring, &contacts);
        match (of_ring.is_empty(), place) {
            (false, _) => chains.extend(of_ring),
            (true, 0) => shells.push(ring),
            (true, _) => holes.push(ring),
        }
    }
    for ring in join(&chains).into_iter().flat_map(apart) {
        let positions: Vec<_> = ring.iter().map(Vertex::position).collect();
        if is_counterclockwise(&positions) { shells.push(ring) } else { holes.push(ring) }
    }
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

/// The rings, with a vertex wherever one touches another, and these places: there a cut may part them.
fn with_contacts(traces: &Traces, rings: &[Trace]) -> (Vec<Row>, Places) {
    let mut rows: Vec<Row> = rings.iter().map(|ring| traces.vertices(ring).to_vec()).collect();
    if rings.len() < 2 {
        return (rows, Places::new());
    }
    let mut plane = Plane::default();
    for (place, ring) in (0_u32..).zip(rings) {
        let counterclockwise = ring.counterclockwise;
        plane.add_traced(Ring { part: 0, place, counterclockwise, edges: 0 }, traces, ring);
    }
    let contacts = sweep(&plane).contacts;
    let places = contacts.iter().map(|contact| bits(contact.at)).collect();
    let mut inner: Vec<_> = contacts.iter().filter_map(Contact::within_edge).collect();
    inner.sort_unstable_by_key(|(edge, _)| *edge);
    for contacts in inner.chunk_by(|one, other| one.0.ring == other.0.ring) {
        let Some((edge, _)) = contacts.first() else { continue };
        let Some(row) = rows.get_mut(edge.ring as usize) else { continue };
        let ends: Vec<Vertex> = row.iter().skip(1).chain(row.first()).copied().collect();
        let mut contacts = contacts.iter().peekable();
        let mut with = Vec::with_capacity(row.len() + contacts.len());
        for (number, (from, to)) in (0_u32..).zip(row.iter().zip(ends)) {
            with.push(*from);
            let mut on_edge: Row = Vec::new();
            while let Some((_, at)) = contacts.next_if(|(edge, _)| edge.edge == number) {
                stretches(from, &to, |stretch| on_edge.extend(stretch.vertex_at(*at)));
            }
            let (west, east) = (from.unwrapped(), to.unwrapped());
            on_edge.sort_by(|one, other| {
                let order = one.unwrapped()[0].total_cmp(&other.unwrapped()[0]).then(one.y.total_cmp(&other.y));
                if west < east { order } else { order.reverse() }
            });
            with.append(&mut on_edge);
        }
        *row = with;
    }
    (rows, places)
}

/// A ring that comes back to a place, as rings that touch there.
fn apart(ring: Row) -> Vec<Row> {
    let mut rings = Vec::new();
    let mut open: Row = Vec::with_capacity(ring.len());
    let mut places: HashMap<[u64; 2], usize> = HashMap::with_capacity(ring.len());
    for vertex in ring {
        let place = |vertex: &Vertex| bits(vertex.position());
        if let Some(start) = places.get(&place(&vertex)).copied() {
            let closed = open.split_off(start);
            for vertex in &closed {
                places.remove(&place(vertex));
            }
            rings.push(closed);
        }
        places.insert(place(&vertex), open.len());
        open.push(vertex);
    }
    rings.push(open);
    rings.retain(|ring| ring.len() > 2);
    rings
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
