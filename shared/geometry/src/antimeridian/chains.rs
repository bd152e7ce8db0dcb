//! Rings as chains that end at the antimeridian and at contacts, and the rings into which chains are joined.
//!
//! Along the antimeridian, from south to north, outside and inside alternate. So the ends of chains form pairs, and the
//! antimeridian between the two ends of a pair bounds a part. The same holds around a point where rings touch.

use std::cmp::Ordering;
use std::collections::HashSet;

use never::never;

use crate::Position;
use crate::antimeridian::{Vertex, Vertices, split_edge};
use crate::orientation::{Side, side, sweep_order};

/// Points of the map, bit for bit.
pub(crate) type PointSet = HashSet<[u64; 2]>;

pub(crate) fn bits(point: Position) -> [u64; 2] {
    point.map(f64::to_bits)
}

/// Splits a ring into chains, each from the antimeridian or a contact to the next. A ring that meets neither has none.
pub(crate) fn split_ring(ring: &[Vertex], contacts: &PointSet) -> Vec<Vertices> {
    let is_end = |vertex: &Vertex| is_on_antimeridian(vertex) || contacts.contains(&bits(vertex.position()));
    let mut chains: Vec<Vertices> = Vec::new();
    let mut chain: Vertices = Vec::new();
    // The vertices before the first end belong to the chain that is open after the last vertex.
    let mut head: Option<Vertices> = None;
    for (from, to) in ring.iter().zip(ring.iter().skip(1).chain(ring.first())) {
        split_edge(from, to, |piece| {
            if chain.is_empty() {
                chain.push(piece.from);
            }
            chain.push(piece.to);
            if is_end(&piece.to) {
                let ended = std::mem::take(&mut chain);
                if head.is_none() && ended.first().is_some_and(|first| !is_end(first)) {
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
        // The part with the first vertex comes first.
        chains.insert(0, chain);
    }
    chains
}

/// Joins chains to rings, along the antimeridian and at contacts.
pub(crate) fn join(chains: &[Vertices]) -> Vec<Vertices> {
    let mut next = successors(chains);
    if next.contains(&None) {
        never!("a chain ends where no other chain starts");
    }
    let mut rings = Vec::new();
    for start in 0..chains.len() {
        let mut ring: Vertices = Vec::new();
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

/// Returns for each chain the one that continues it.
fn successors(chains: &[Vertices]) -> Vec<Option<usize>> {
    let mut next: Vec<Option<usize>> = vec![None; chains.len()];
    let mut link = |end: &ChainEnd, start: &ChainEnd| {
        if let Some(next) = next.get_mut(end.chain).filter(|_| !end.is_start && start.is_start) {
            *next = Some(start.chain);
        }
    };
    let (antimeridian, mut contacts): (Vec<ChainEnd>, Vec<ChainEnd>) =
        chain_ends(chains).into_iter().partition(|end| end.at[0].abs() == 180.0);
    let (mut east, mut west): (Vec<ChainEnd>, Vec<ChainEnd>) =
        antimeridian.into_iter().partition(|end| end.at[0] > 0.0);
    // The interior is to the left of the way along the antimeridian: northward at 180, southward at −180.
    east.sort_by(|one, other| one.at[1].total_cmp(&other.at[1]).then(angular_order(one, other).reverse()));
    for pair in east.chunks(2) {
        pair.first().zip(pair.get(1)).into_iter().for_each(|(south, north)| link(south, north));
    }
    west.sort_by(|one, other| one.at[1].total_cmp(&other.at[1]).then(angular_order(one, other)));
    for pair in west.chunks(2) {
        pair.first().zip(pair.get(1)).into_iter().for_each(|(south, north)| link(north, south));
    }
    // At a contact, a chain that ends there is continued by the next one clockwise.
    contacts.sort_by(|one, other| {
        sweep_order(&one.at, &other.at)
            .then(is_in_west_half(one).cmp(&is_in_west_half(other)))
            .then(angular_order(one, other))
    });
    for around in contacts.chunk_by(|one, other| one.at == other.at) {
        let before = around.last().into_iter().chain(around);
        before.zip(around).for_each(|(clockwise, end)| link(end, clockwise));
    }
    next
}

fn is_closed(vertices: &[Vertex]) -> bool {
    matches!(vertices, [first, .., last] if first.position() == last.position())
}

/// The start or the end of a chain.
struct ChainEnd {
    chain: usize,
    is_start: bool,
    at: Position,
    /// The vertex next to it.
    neighbour: Position,
}

fn chain_ends(chains: &[Vertices]) -> Vec<ChainEnd> {
    let mut ends = Vec::new();
    for (chain, vertices) in chains.iter().enumerate() {
        if let ([first, second, ..], [.., before, last]) = (vertices.as_slice(), vertices.as_slice()) {
            ends.push(ChainEnd { chain, is_start: true, at: first.position(), neighbour: second.position() });
            ends.push(ChainEnd { chain, is_start: false, at: last.position(), neighbour: before.position() });
        }
    }
    ends
}

/// The counterclockwise order of two ends at one point that lie within half a turn.
fn angular_order(one: &ChainEnd, other: &ChainEnd) -> Ordering {
    match side(one.at, one.neighbour, other.neighbour) {
        Side::On => Ordering::Equal,
        Side::Left => Ordering::Less,
        Side::Right => Ordering::Greater,
    }
}

/// Returns whether the direction of an end is in the western half of a turn. The eastern half comes first: from south
/// over east to north.
fn is_in_west_half(end: &ChainEnd) -> bool {
    sweep_order(&end.neighbour, &end.at).is_lt()
}

fn is_on_antimeridian(vertex: &Vertex) -> bool {
    vertex.x.abs() == 180.0
}
