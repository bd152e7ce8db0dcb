//! Rings that touch so that the interior of their polygon is not connected.

use never::never;

use crate::Position;
use crate::intersection::Contact;
use crate::orientation::sweep_order;
use crate::segment_graph::SegmentGraph;
use crate::sweep::SweepResult;

/// Returns the holes that disconnect the interior of their polygon.
///
/// Rings and the points where they touch are the vertices of a graph, joined in the order of the document. A hole that
/// closes a cycle of this graph encloses a part of the interior.
pub(crate) fn holes_disconnecting_interior(graph: &SegmentGraph, swept: &SweepResult) -> Vec<u32> {
    let contact = |contact: &Contact| {
        // −180 and 180 are one meridian.
        let [x, y] = contact.at;
        (graph.ring(contact.ring()).part, [if x == -180.0 { 180.0 } else { x }, y], contact.ring())
    };
    let mut contacts: Vec<(u32, Position, u32)> = swept.contacts.iter().map(contact).collect();
    contacts.sort_unstable_by(|one, other| {
        one.0.cmp(&other.0).then(sweep_order(&one.1, &other.1)).then(one.2.cmp(&other.2))
    });
    contacts.dedup();
    let mut touches: Vec<(u32, usize)> = Vec::new();
    let mut point = graph.rings.len();
    for touching in contacts.chunk_by(|one, other| (one.0, one.1) == (other.0, other.1)) {
        if touching.len() > 1 {
            touches.extend(touching.iter().map(|(_, _, ring)| (*ring, point)));
            point += 1;
        }
    }
    touches.sort_unstable();
    let mut joined = UnionFind { parents: (0..point).collect() };
    let mut holes: Vec<_> =
        touches.into_iter().filter_map(|(ring, point)| (!joined.union(ring as usize, point)).then_some(ring)).collect();
    holes.dedup();
    holes
}

/// Disjoint sets (union-find).
struct UnionFind {
    parents: Vec<usize>,
}

impl UnionFind {
    /// Joins the sets of two elements. Returns whether they were disjoint.
    fn union(&mut self, one: usize, other: usize) -> bool {
        let (one, other) = (self.find(one), self.find(other));
        self.set(one, other);
        one != other
    }

    /// Returns the root of an element's set.
    fn find(&mut self, mut element: usize) -> usize {
        while let Some(parent) = self.parents.get(element).copied().filter(|parent| *parent != element) {
            // Path halving.
            let grandparent = self.parents.get(parent).copied().unwrap_or_else(|| {
                never!("element {parent} of {} disjoint sets", self.parents.len());
                parent
            });
            self.set(element, grandparent);
            element = grandparent;
        }
        element
    }

    fn set(&mut self, element: usize, parent: usize) {
        match self.parents.get_mut(element) {
            Some(known) => *known = parent,
            None => never!("element {element} of {} disjoint sets", self.parents.len()),
        }
    }
}
