//! Rings as a sweep takes them: nodes in one row, each ring one chain of them, or, where it is cut at ±180, several.

use crate::Position;
use crate::orient::sweep_order;
use crate::seam::{Stretch, Vertex, runs_along_seam, stretches};
use crate::trace::{Trace, Traces};

/// No node, segment or slot.
pub(crate) const NONE: u32 = u32::MAX;

/// A place where segments of a ring end. Segment `i` runs from node `i` to node `i + 1`, in the ring's direction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Node {
    pub at: Position,
    pub ring: u32,
    /// Which place of its ring: `2 k` is vertex `k`, `2 k + 1` lies within edge `k`, from vertex `k` to the next.
    pub mark: u32,
    /// The segment that arrives.
    pub into: u32,
    /// The segment that leaves, which is the node's own number.
    pub out: u32,
}

/// What the sweep must know of a ring.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ring {
    pub part: u32,
    /// Its place in its part: 0 is the shell.
    pub place: u32,
    pub counterclockwise: bool,
    pub edges: u32,
}

/// An edge by its ring and its place in that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Edge {
    pub ring: u32,
    pub edge: u32,
}

#[derive(Debug, Default)]
pub(crate) struct Plane {
    pub nodes: Vec<Node>,
    pub rings: Vec<Ring>,
}

impl Plane {
    pub(crate) fn with_capacity(nodes: usize) -> Self {
        Self { nodes: Vec::with_capacity(nodes), rings: Vec::new() }
    }

    pub(crate) fn node(&self, node: u32) -> Node {
        self.nodes.get(node as usize).copied().unwrap_or_default()
    }

    pub(crate) fn ring(&self, ring: u32) -> Ring {
        self.rings.get(ring as usize).copied().unwrap_or_default()
    }

    /// Where a segment begins and ends.
    pub(crate) fn ends(&self, segment: u32) -> (Node, Node) {
        (self.node(segment), self.node(segment + 1))
    }

    /// Where a segment begins and ends, from west to east.
    pub(crate) fn ends_in_order(&self, segment: u32) -> [Position; 2] {
        let (from, to) = self.ends(segment);
        if sweep_order(&from.at, &to.at).is_lt() { [from.at, to.at] } else { [to.at, from.at] }
    }

    pub(crate) fn edge(&self, segment: u32) -> Edge {
        let node = self.node(segment);
        Edge { ring: node.ring, edge: node.mark / 2 }
    }

    /// Adds a ring that lies on the map whole, without its closing position.
    pub(crate) fn add(&mut self, ring: Ring, positions: impl IntoIterator<Item = Position>) {
        let first = self.nodes.len();
        self.rings.push(ring);
        let mut edges = 0;
        for position in positions {
            self.push(position, 2 * edges, edges > 0);
            edges += 1;
        }
        let Some(start) = self.nodes.get(first).map(|node| node.at) else { return };
        self.push(start, 0, true);
        self.close(first, edges);
    }

    /// Adds a ring that was traced, in its stretches on the map.
    pub(crate) fn add_traced(&mut self, ring: Ring, traces: &Traces, trace: &Trace) {
        if !trace.crossing {
            return self.add(ring, traces.vertices(trace).iter().map(Vertex::position));
        }
        let first = self.nodes.len();
        self.rings.push(ring);
        let edges = u32::try_from(traces.vertices(trace).len()).unwrap_or(NONE);
        for (edge, (from, to)) in (0..edges).zip(traces.edges(trace)) {
            let (start, end) = (2 * edge, 2 * ((edge + 1) % edges));
            if runs_along_seam(&from, &to) {
                // It bounds what lies inside the ring, on that side of the map.
                let x = if (from.y < to.y) == trace.counterclockwise { 180.0 } else { -180.0 };
                self.stretch(first, [x, from.y], start, [x, to.y], end);
            }
            stretches(&from, &to, |Stretch { from, to, from_cut, to_cut }| {
                let start = if from_cut { 2 * edge + 1 } else { start };
                let end = if to_cut { 2 * edge + 1 } else { end };
                self.stretch(first, from.position(), start, to.position(), end);
            });
        }
        self.close(first, edges);
    }

    /// Goes on from the node before, if the stretch begins there.
    fn stretch(&mut self, first: usize, from: Position, start: u32, to: Position, end: u32) {
        let begun = self.nodes.len() > first;
        if !(begun && self.nodes.last().is_some_and(|last| last.mark == start && last.at == from)) {
            self.push(from, start, false);
        }
        self.push(to, end, true);
    }

    fn push(&mut self, at: Position, mark: u32, linked: bool) {
        let (mut into, ring) = (NONE, u32::try_from(self.rings.len()).map_or(NONE, |rings| rings.wrapping_sub(1)));
        if linked {
            into = u32::try_from(self.nodes.len()).map_or(NONE, |nodes| nodes.wrapping_sub(1));
            if let Some(before) = self.nodes.last_mut() {
                before.out = into;
            }
        }
        self.nodes.push(Node { at, ring, mark, into, out: NONE });
    }

    /// Joins the last node to the first, if they are one place; the last one then only ends a segment.
    fn close(&mut self, first: usize, edges: u32) {
        if let Some(ring) = self.rings.last_mut() {
            ring.edges = edges;
        }
        let Some([start, .., last]) = self.nodes.get_mut(first..) else { return };
        if start.at == last.at && start.mark == last.mark && start.into == NONE {
            start.into = std::mem::replace(&mut last.into, NONE);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn a_ring_that_crosses_the_seam_is_one_chain_on_each_side() {
        let mut traces = Traces::default();
        let fiji = [[179.5, -16.5], [179.5, -17.0], [-179.8, -17.0], [-179.8, -16.5], [179.5, -16.5]];
        let trace = traces.ring(&fiji, &[], &mut BTreeSet::new()).unwrap();
        assert!(trace.crossing && trace.counterclockwise);
        let mut plane = Plane::default();
        plane.add_traced(Ring::default(), &traces, &trace);
        let chains: Vec<_> = plane.nodes.iter().map(|node| (node.at[0], node.mark, node.into, node.out)).collect();
        assert_eq!(
            chains,
            [
                (179.5, 0, 7, 0),
                (179.5, 2, 0, 1),
                (180.0, 3, 1, NONE),
                (-180.0, 3, NONE, 3),
                (-179.8, 4, 3, 4),
                (-179.8, 6, 4, 5),
                (-180.0, 7, 5, NONE),
                (180.0, 7, NONE, 7),
                (179.5, 0, NONE, NONE),
            ]
        );
    }
}
