//! The sweep status: the segments that the sweep line meets, from south to north.
//!
//! It is a splay tree (Sleator and Tarjan, 1985), so n operations take O(n log n) steps whatever their order. A linked
//! list connects neighbours.

use never::never;

use crate::Position;
use crate::orientation::{Side, side};
use crate::segment_graph::NONE;

/// A segment in the tree.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Slot {
    pub segment: u32,
    /// Its endpoints in sweep order.
    pub start: Position,
    pub end: Position,
    /// The neighbouring slots.
    pub below: u32,
    pub above: u32,
    parent: u32,
    low_child: u32,
    high_child: u32,
}

/// The location of a position among the segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Location {
    /// On the segment in this slot.
    On(u32),
    /// Between two slots. Each is [`NONE`] at an end of the order.
    Between(u32, u32),
}

#[derive(Debug)]
pub(super) struct SweepStatus {
    slots: Vec<Slot>,
    free: Vec<u32>,
    root: u32,
    lowest: u32,
    pub orientation_tests: u64,
}

impl SweepStatus {
    pub(super) fn new() -> Self {
        Self { slots: Vec::new(), free: Vec::new(), root: NONE, lowest: NONE, orientation_tests: 0 }
    }

    pub(super) fn slot(&self, slot: u32) -> Option<&Slot> {
        self.slots.get(slot as usize)
    }

    pub(super) fn lowest(&self) -> u32 {
        self.lowest
    }

    /// Returns on which side of a line a position lies, and counts the test.
    pub(super) fn side(&mut self, from: Position, to: Position, position: Position) -> Side {
        self.orientation_tests += 1;
        side(from, to, position)
    }

    /// Returns whether the segment in a slot, if there is one, contains a position.
    pub(super) fn contains(&mut self, slot: u32, position: Position) -> bool {
        let Some(Slot { start, end, .. }) = self.slot(slot).copied() else { return false };
        self.side(start, end, position) == Side::On
    }

    /// Locates a position of the sweep line.
    pub(super) fn locate(&mut self, position: Position) -> Location {
        let (mut at, mut below, mut above, mut last) = (self.root, NONE, NONE, NONE);
        while let Some(Slot { start, end, low_child, high_child, .. }) = self.slot(at).copied() {
            last = at;
            match self.side(start, end, position) {
                Side::On => {
                    self.splay(at);
                    return Location::On(at);
                }
                Side::Left => (below, at) = (at, high_child),
                Side::Right => (above, at) = (at, low_child),
            }
        }
        self.splay(last);
        Location::Between(below, above)
    }

    /// Inserts a segment directly above the slot `below`, or as the lowest one.
    pub(super) fn insert(&mut self, below: u32, segment: u32, start: Position, end: Position) -> u32 {
        let above = self.slot(below).map_or(self.lowest, |slot| slot.above);
        let new = Slot { segment, start, end, below, above, parent: NONE, low_child: NONE, high_child: NONE };
        let slot = match self.free.pop() {
            Some(slot) => {
                self.change(slot, |old| *old = new);
                slot
            }
            None => {
                self.slots.push(new);
                u32::try_from(self.slots.len()).map_or(NONE, |slots| slots - 1)
            }
        };
        // Of two neighbours, one has no child on the side of the other.
        let parent = if self.slot(below).is_some_and(|below| below.high_child == NONE) {
            self.change(below, |below| below.high_child = slot);
            below
        } else {
            self.change(above, |above| above.low_child = slot);
            above
        };
        self.change(slot, |slot| slot.parent = parent);
        self.link(below, slot);
        self.link(slot, above);
        self.root = if parent == NONE { slot } else { self.root };
        self.splay(slot);
        slot
    }

    /// Replaces a segment by the one that starts at its end.
    pub(super) fn replace(&mut self, slot: u32, segment: u32, start: Position, end: Position) {
        self.change(slot, |slot| (slot.segment, slot.start, slot.end) = (segment, start, end));
    }

    pub(super) fn remove(&mut self, slot: u32) {
        self.splay(slot);
        let Some(Slot { below, above, low_child, high_child, .. }) = self.slot(slot).copied() else {
            never!("slot {slot} of {} is removed", self.slots.len());
            return;
        };
        self.change(low_child, |low| low.parent = NONE);
        self.change(high_child, |high| high.parent = NONE);
        self.root = if low_child == NONE { high_child } else { low_child };
        if low_child != NONE {
            // The slot below is the highest of the lower subtree, so as its root it has no high child.
            self.splay(below);
            self.change(below, |below| below.high_child = high_child);
            self.change(high_child, |high| high.parent = below);
        }
        self.link(below, above);
        self.free.push(slot);
    }

    /// Makes two slots neighbours.
    fn link(&mut self, below: u32, above: u32) {
        self.change(above, |slot| slot.below = below);
        if below == NONE {
            self.lowest = above;
        } else {
            self.change(below, |slot| slot.above = above);
        }
    }

    /// Changes a slot, unless it is [`NONE`].
    fn change(&mut self, slot: u32, change: impl FnOnce(&mut Slot)) {
        if let Some(slot) = self.slots.get_mut(slot as usize) {
            change(slot);
        }
    }

    /// Makes a slot the root, by rotations that halve the depth of the slots on its path.
    fn splay(&mut self, slot: u32) {
        while let Some(parent) = self.parent(slot) {
            if let Some(grandparent) = self.parent(parent) {
                let same_side = self.is_low_child(parent, slot) == self.is_low_child(grandparent, parent);
                self.rotate(if same_side { parent } else { slot });
            }
            self.rotate(slot);
        }
        if slot != NONE {
            self.root = slot;
        }
    }

    fn parent(&self, slot: u32) -> Option<u32> {
        self.slot(slot).map(|slot| slot.parent).filter(|parent| *parent != NONE)
    }

    fn is_low_child(&self, parent: u32, slot: u32) -> bool {
        self.slot(parent).is_some_and(|parent| parent.low_child == slot)
    }

    /// Rotates a slot above its parent.
    fn rotate(&mut self, slot: u32) {
        let node = self.slot(slot).copied();
        let Some((node, parent)) = node.and_then(|node| Some((node, self.slot(node.parent).copied()?))) else {
            never!("slot {slot} without a parent is rotated");
            return;
        };
        let (parent_slot, grandparent) = (node.parent, parent.parent);
        let inner_child = if parent.low_child == slot {
            self.change(parent_slot, |parent| parent.low_child = node.high_child);
            self.change(slot, |slot| slot.high_child = parent_slot);
            node.high_child
        } else {
            self.change(parent_slot, |parent| parent.high_child = node.low_child);
            self.change(slot, |slot| slot.low_child = parent_slot);
            node.low_child
        };
        self.change(inner_child, |inner| inner.parent = parent_slot);
        let was_low = self.is_low_child(grandparent, parent_slot);
        self.change(grandparent, |above| if was_low { above.low_child = slot } else { above.high_child = slot });
        self.change(parent_slot, |parent| parent.parent = slot);
        self.change(slot, |slot| slot.parent = grandparent);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn order(status: &SweepStatus) -> Vec<u32> {
        let mut at = status.lowest();
        std::iter::from_fn(|| {
            let slot = status.slot(at)?;
            at = slot.above;
            Some(slot.segment)
        })
        .collect()
    }

    fn level(height: u32) -> (Position, Position) {
        ([0.0, f64::from(height)], [1.0, f64::from(height)])
    }

    proptest! {
        #[test]
        fn status_keeps_segments_in_order(changes in prop::collection::vec((0_u32..40, any::<bool>()), 0..200)) {
            let mut status = SweepStatus::new();
            let mut expected = std::collections::BTreeMap::new();
            for (height, remove) in changes {
                match status.locate([0.5, f64::from(height)]) {
                    Location::On(slot) if remove => {
                        prop_assert_eq!(expected.remove(&height), Some(slot));
                        status.remove(slot);
                    }
                    Location::On(slot) => prop_assert_eq!(expected.get(&height), Some(&slot)),
                    Location::Between(below, above) => {
                        prop_assert_eq!(below, expected.range(..height).next_back().map_or(NONE, |(_, slot)| *slot));
                        prop_assert_eq!(above, expected.range(height..).next().map_or(NONE, |(_, slot)| *slot));
                        let (start, end) = level(height);
                        expected.insert(height, status.insert(below, height, start, end));
                    }
                }
                prop_assert_eq!(order(&status), expected.keys().copied().collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn insertions_in_any_order_take_n_log_n_orientation_tests() {
        let count = 100_000_u32;
        for stride in [1_u32, count - 1, 61_803] {
            let mut status = SweepStatus::new();
            for step in 0..count {
                let height = u32::try_from(u64::from(step) * u64::from(stride) % u64::from(count)).unwrap();
                let (start, end) = level(height);
                if let Location::Between(below, _) = status.locate(start) {
                    status.insert(below, height, start, end);
                }
            }
            assert!(status.orientation_tests < u64::from(count) * 3 * 17, "{stride}: {}", status.orientation_tests);
        }
    }
}
