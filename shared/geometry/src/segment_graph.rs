//! The segments of a shape's rings, as the input of the sweep.
//!
//! The nodes of all rings stand in one array. Each ring is one chain of nodes, or several where the antimeridian
//! splits it.

use never::never;

use crate::Position;
use crate::antimeridian::{EdgePiece, Vertex, runs_along_antimeridian, split_edge};
use crate::orientation::sweep_order;
use crate::polyline::{Polyline, Polylines};

/// No node, segment or slot.
pub(crate) const NONE: u32 = u32::MAX;

/// An endpoint of segments of a ring. Segment `i` runs from node `i` to node `i + 1`, in the ring's direction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Node {
    pub at: Position,
    pub ring: u32,
    /// The location on the ring: `2 k` is vertex `k`, `2 k + 1` is in the interior of edge `k`, from vertex `k` to the
    /// next.
    pub location: u32,
    /// The segment that ends here.
    pub incoming: u32,
    /// The segment that starts here. It has the node's own number.
    pub outgoing: u32,
}

/// A ring of a shape.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ring {
    pub part: u32,
    /// Its index in its part: 0 is the shell.
    pub index: u32,
    pub counterclockwise: bool,
    pub edges: u32,
}

impl Ring {
    /// A ring whose edges are counted when it is added to a graph.
    pub(crate) fn new(part: u32, index: u32, counterclockwise: bool) -> Self {
        Self { part, index, counterclockwise, edges: 0 }
    }
}

/// An edge, by its ring and its index in the ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Edge {
    pub ring: u32,
    pub edge: u32,
}

/// The rings of a shape, in the order of the document.
#[derive(Debug, Default)]
pub(crate) struct SegmentGraph {
    pub nodes: Vec<Node>,
    pub rings: Vec<Ring>,
}

impl SegmentGraph {
    pub(crate) fn with_capacity(nodes: usize) -> Self {
        Self { nodes: Vec::with_capacity(nodes), rings: Vec::new() }
    }

    #[inline]
    pub(crate) fn node(&self, node: u32) -> Node {
        match self.nodes.get(node as usize) {
            Some(node) => *node,
            None => {
                never!("node {node} of {}", self.nodes.len());
                Node::default()
            }
        }
    }

    #[inline]
    pub(crate) fn ring(&self, ring: u32) -> Ring {
        match self.rings.get(ring as usize) {
            Some(ring) => *ring,
            None => {
                never!("ring {ring} of {}", self.rings.len());
                Ring::default()
            }
        }
    }

    /// Returns the nodes of a ring.
    pub(crate) fn ring_nodes(&self, ring: u32) -> &[Node] {
        let start = self.nodes.partition_point(|node| node.ring < ring);
        let end = self.nodes.partition_point(|node| node.ring <= ring);
        self.nodes.get(start..end).unwrap_or_else(|| {
            never!("the nodes of ring {ring} are out of order");
            &[]
        })
    }

    /// Returns the endpoints of a segment, in the ring's direction.
    pub(crate) fn endpoints(&self, segment: u32) -> (Node, Node) {
        (self.node(segment), self.node(segment + 1))
    }

    /// Returns the endpoints of a segment, in sweep order.
    pub(crate) fn sweep_endpoints(&self, segment: u32) -> [Position; 2] {
        let (from, to) = self.endpoints(segment);
        if sweep_order(&from.at, &to.at).is_lt() { [from.at, to.at] } else { [to.at, from.at] }
    }

    /// Returns the edge that a segment is all or a piece of.
    pub(crate) fn edge(&self, segment: u32) -> Edge {
        let node = self.node(segment);
        Edge { ring: node.ring, edge: node.location / 2 }
    }

    /// Adds a ring that does not cross the antimeridian, from its positions without the closing one.
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

    /// Adds a ring as the pieces of its edges on the map.
    pub(crate) fn add_polyline(&mut self, ring: Ring, polylines: &Polylines, polyline: &Polyline) {
        if !polyline.crosses_antimeridian {
            return self.add(ring, polylines.vertices(polyline).iter().map(Vertex::position));
        }
        let first = self.nodes.len();
        self.rings.push(ring);
        let edges = u32::try_from(polylines.vertices(polyline).len()).unwrap_or(NONE);
        for (edge, (from, to)) in (0..edges).zip(polylines.edges(polyline)) {
            let (start, end) = (2 * edge, 2 * ((edge + 1) % edges));
            if runs_along_antimeridian(&from, &to) {
                // The edge bounds the interior of the ring on that side of the map.
                let x = if (from.y < to.y) == polyline.counterclockwise { 180.0 } else { -180.0 };
                self.push_segment(first, ([x, from.y], start), ([x, to.y], end));
            }
            split_edge(&from, &to, |EdgePiece { from, to, from_split, to_split }| {
                let start = if from_split { 2 * edge + 1 } else { start };
                let end = if to_split { 2 * edge + 1 } else { end };
                self.push_segment(first, (from.position(), start), (to.position(), end));
            });
        }
        self.close(first, edges);
    }

    /// Adds a segment by its endpoints and their locations. It continues the current chain if it starts at its end.
    fn push_segment(&mut self, first: usize, (from, start): (Position, u32), (to, end): (Position, u32)) {
        let has_nodes = self.nodes.len() > first;
        if !(has_nodes && self.nodes.last().is_some_and(|last| last.location == start && last.at == from)) {
            self.push(from, start, false);
        }
        self.push(to, end, true);
    }

    fn push(&mut self, at: Position, location: u32, linked: bool) {
        let ring = u32::try_from(self.rings.len()).map_or(NONE, |rings| rings.wrapping_sub(1));
        let mut incoming = NONE;
        if linked {
            incoming = u32::try_from(self.nodes.len()).map_or(NONE, |nodes| nodes.wrapping_sub(1));
            if let Some(before) = self.nodes.last_mut() {
                before.outgoing = incoming;
            }
        }
        self.nodes.push(Node { at, ring, location, incoming, outgoing: NONE });
    }

    /// Links the last node of a ring to the first if they are the same point. The last node then only ends a segment.
    fn close(&mut self, first: usize, edges: u32) {
        let (Some(ring), Some([start, .., last])) = (self.rings.last_mut(), self.nodes.get_mut(first..)) else {
            never!("a ring of {edges} edges without two nodes");
            return;
        };
        ring.edges = edges;
        if start.at == last.at && start.location == last.location && start.incoming == NONE {
            start.incoming = std::mem::replace(&mut last.incoming, NONE);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ring_across_the_antimeridian_is_one_chain_on_each_side() {
        let mut polylines = Polylines::default();
        let fiji = [[179.5, -16.5], [179.5, -17.0], [-179.8, -17.0], [-179.8, -16.5], [179.5, -16.5]];
        let polyline = polylines.add_ring(&fiji, &[], &mut BTreeSet::new()).unwrap();
        assert!(polyline.crosses_antimeridian && polyline.counterclockwise);
        let mut graph = SegmentGraph::default();
        graph.add_polyline(Ring::default(), &polylines, &polyline);
        let chains: Vec<_> =
            graph.nodes.iter().map(|node| (node.at[0], node.location, node.incoming, node.outgoing)).collect();
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
