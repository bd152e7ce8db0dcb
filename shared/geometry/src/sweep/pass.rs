//! The quick way past a node where only its own two segments are.

use super::Sweep;
use crate::Position;
use crate::orient::Side;
use crate::plane::NONE;
use crate::status::{Found, Slot};

impl Sweep<'_> {
    /// The sweep at a node where nothing else is: most are. Otherwise it changes nothing and says so.
    pub(super) fn pass(&mut self, at: Position, node: u32) -> bool {
        let node = self.plane.node(node);
        if node.into == NONE || node.out == NONE {
            return false;
        }
        let (into_begins, out_begins) = (self.begins(node.into, at), self.begins(node.out, at));
        match (into_begins, out_begins) {
            (true, true) => self.pass_west_end(at, node.into, node.out),
            (false, false) => self.pass_east_end(at, node.into, node.out),
            (false, true) => self.pass_on(at, node.into, node.out),
            (true, false) => self.pass_on(at, node.out, node.into),
        }
    }

    /// One segment ends and another goes on.
    fn pass_on(&mut self, at: Position, ending: u32, starting: u32) -> bool {
        let Some(Slot { below, above, .. }) = self.slot_of(ending) else { return false };
        if self.status.touches(below, at) || self.status.touches(above, at) {
            return false;
        }
        let slot = self.slot(ending);
        let [left, right] = self.plane.ends_in_order(starting);
        self.set_slot(ending, NONE);
        self.set_slot(starting, slot);
        self.status.replace(slot, starting, left, right);
        self.look_around(starting);
        true
    }

    fn pass_west_end(&mut self, at: Position, one: u32, other: u32) -> bool {
        let [one_ends, other_ends] = [one, other].map(|segment| self.plane.ends_in_order(segment)[1]);
        let turn = self.status.side(at, one_ends, other_ends);
        let (low, high) = match turn {
            Side::Left => (one, other),
            Side::Right => (other, one),
            Side::On => return false,
        };
        let Found::Between(below, _) = self.status.find(at) else { return false };
        let slot = self.insert(below, low);
        self.insert(slot, high);
        self.begin(low);
        self.look_around(low);
        self.look_around(high);
        true
    }

    fn pass_east_end(&mut self, at: Position, one: u32, other: u32) -> bool {
        let (Some(first), Some(second)) = (self.slot_of(one), self.slot_of(other)) else { return false };
        let (below, above) = if first.above == self.slot(other) {
            (first.below, second.above)
        } else if second.above == self.slot(one) {
            (second.below, first.above)
        } else {
            return false;
        };
        if self.status.touches(below, at) || self.status.touches(above, at) {
            return false;
        }
        self.remove(one);
        self.remove(other);
        self.look_between(below, above);
        true
    }
}
