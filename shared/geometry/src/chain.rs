//! Rings as chains that end at ±180 and where rings touch, and the rings that these make with the seam.
//!
//! Along the seam, from south to north, outside and inside take turns, so the ends of chains pair off, and the seam
//! between the ends of a pair bounds a part. Round a place where rings touch, too.

use std::cmp::Ordering;
use std::collections::HashSet;

use crate::Position;
use crate::cut::Row;
use crate::orient::{Side, side, sweep_order};
use crate::seam::{Vertex, stretches};

/// Places on the map, bit for bit.
pub(crate) type Places = HashSet<[u64; 2]>;

pub(crate) fn bits(place: Position) -> [u64; 2] {
    place.map(f64::to_bits)
}

/// The chains of a ring, each from the seam or a contact to the next; none if it meets neither.
pub(crate) fn chains_of(ring: &[Vertex], contacts: &Places) -> Vec<Row> {
    let ends = |vertex: &Vertex| on_seam(vertex) || contacts.contains(&bits(vertex.position()));
    let mut chains: Vec<Row> = Vec::new();
    let mut chain: Row = Vec::new();
    // What comes before the first such place belongs to the chain that is open at the end.
    let mut head: Option<Row> = None;
    for (from, to) in ring.iter().zip(ring.iter().skip(1).chain(ring.first())) {
        stretches(from, to, |stretch| {
            if chain.is_empty() {
                chain.push(stretch.from);
            }
            chain.push(stretch.to);
            if ends(&stretch.to) {
                let ended = std::mem::take(&mut chain);
                if head.is_none() && ended.first().is_some_and(|first| !ends(first)) {
                    head = Some(ended);
                } else {
                    chains.push(ended);
                }
            }
        });
    }
    if let Some(head) = head {
        chain.pop();
        chain.extend(head);
        // The part with the first vertex is the first.
        chains.insert(0, chain);
    }
    chains
}

/// Joins chains along the seam and at contacts to rings.
pub(crate) fn join(chains: &[Row]) -> Vec<Row> {
    let mut next: Vec<Option<usize>> = vec![None; chains.len()];
    let mut link = |arriving: &End, leaving: &End| {
        if let Some(next) = next.get_mut(arriving.chain).filter(|_| !arriving.leaves && leaving.leaves) {
            *next = Some(leaving.chain);
        }
    };
    let ends = ends(chains);
    let (seam, mut contacts): (Vec<End>, Vec<End>) = ends.into_iter().partition(|end| end.at[0].abs() == 180.0);
    let (mut east, mut west): (Vec<End>, Vec<End>) = seam.into_iter().partition(|end| end.at[0] > 0.0);
    // Inside lies to the left of the way along the seam: north at 180, south at -180.
    east.sort_by(|one, other| one.at[1].total_cmp(&other.at[1]).then(round(one, other).reverse()));
    for pair in east.chunks(2) {
        pair.first().zip(pair.get(1)).into_iter().for_each(|(south, north)| link(south, north));
    }
    west.sort_by(|one, other| one.at[1].total_cmp(&other.at[1]).then(round(one, other)));
    for pair in west.chunks(2) {
        pair.first().zip(pair.get(1)).into_iter().for_each(|(south, north)| link(north, south));
    }
    // And between a chain that arrives at a contact and the next clockwise there.
    contacts.sort_by(|one, other| {
        sweep_order(&one.at, &other.at).then(half(one).cmp(&half(other))).then(round(one, other))
    });
    for around in contacts.chunk_by(|one, other| one.at == other.at) {
        let before = around.last().into_iter().chain(around);
        before.zip(around).for_each(|(clockwise, end)| link(end, clockwise));
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

fn is_closed(row: &[Vertex]) -> bool {
    matches!(row, [first, .., last] if first.position() == last.position())
}

/// The end of a chain.
struct End {
    chain: usize,
    leaves: bool,
    at: Position,
    /// The vertex next to it.
    next: Position,
}

fn ends(chains: &[Row]) -> Vec<End> {
    let mut ends = Vec::new();
    for (chain, vertices) in chains.iter().enumerate() {
        if let ([first, second, ..], [.., before, last]) = (vertices.as_slice(), vertices.as_slice()) {
            ends.push(End { chain, leaves: true, at: first.position(), next: second.position() });
            ends.push(End { chain, leaves: false, at: last.position(), next: before.position() });
        }
    }
    ends
}

/// Counterclockwise order of two ends at one place that lie within half a turn.
fn round(one: &End, other: &End) -> Ordering {
    match side(one.at, one.next, other.next) {
        Side::On => Ordering::Equal,
        Side::Left => Ordering::Less,
        Side::Right => Ordering::Greater,
    }
}

/// Which half of a turn an end lies in: that from the south over the east before the other.
fn half(end: &End) -> bool {
    sweep_order(&end.next, &end.at).is_lt()
}

fn on_seam(vertex: &Vertex) -> bool {
    vertex.x.abs() == 180.0
}
