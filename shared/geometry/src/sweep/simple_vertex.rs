//! The fast path of the sweep, for a vertex that no other segment touches.

use super::Sweep;
use super::status::{Location, Slot};
use crate::Position;
use crate::orientation::Side;
use crate::segment_graph::NONE;

impl Sweep<'_> {
    /// Handles a vertex that only its own two segments touch, as most are. Returns false, without a change, for any
    /// other vertex.
    pub(super) fn handle_simple_vertex(&mut self, at: Position, node: u32) -> bool {
        let node = self.graph.node(node);
        if node.incoming == NONE || node.outgoing == NONE {
            return false;
        }
        match (self.starts_at(node.incoming, at), self.starts_at(node.outgoing, at)) {
            (true, true) => self.handle_start_vertex(at, node.incoming, node.outgoing),
            (false, false) => self.handle_end_vertex(at, node.incoming, node.outgoing),
            (false, true) => self.handle_regular_vertex(at, node.incoming, node.outgoing),
            (true, false) => self.handle_regular_vertex(at, node.outgoing, node.incoming),
        }
    }

    /// Handles a vertex with one segment on each side of the sweep line.
    fn handle_regular_vertex(&mut self, at: Position, ending: u32, starting: u32) -> bool {
        let Some(Slot { below, above, .. }) = self.slot_of(ending) else { return false };
        if self.status.contains(below, at) || self.status.contains(above, at) {
            return false;
        }
        let slot = self.slot(ending);
        let [start, end] = self.graph.sweep_endpoints(starting);
        self.set_slot(ending, NONE);
        self.set_slot(starting, slot);
        self.status.replace(slot, starting, start, end);
        self.check_neighbours(starting);
        true
    }

    /// Handles a vertex with both segments to the east.
    fn handle_start_vertex(&mut self, at: Position, one: u32, other: u32) -> bool {
        let [one_end, other_end] = [one, other].map(|segment| self.graph.sweep_endpoints(segment)[1]);
        let (low, high) = match self.status.side(at, one_end, other_end) {
            Side::Left => (one, other),
            Side::Right => (other, one),
            Side::On => return false,
        };
        let Location::Between(below, _) = self.status.locate(at) else { return false };
        let slot = self.insert(below, low);
        self.insert(slot, high);
        self.record_below(low);
        self.check_neighbours(low);
        self.check_neighbours(high);
        true
    }

    /// Handles a vertex with both segments to the west.
    fn handle_end_vertex(&mut self, at: Position, one: u32, other: u32) -> bool {
        let (Some(first), Some(second)) = (self.slot_of(one), self.slot_of(other)) else { return false };
        let (below, above) = if first.above == self.slot(other) {
            (first.below, second.above)
        } else if second.above == self.slot(one) {
            (second.below, first.above)
        } else {
            return false;
        };
        if self.status.contains(below, at) || self.status.contains(above, at) {
            return false;
        }
        self.remove(one);
        self.remove(other);
        self.check_pair(below, above);
        true
    }
}
